#include "lab/launches/inject/hip/recorder.hpp"

#include "lab/binary/amd_kernels.hpp"
#include "lab/launches/inject/output.hpp"
#include "lab/launches/inject/recording.hpp"

#include <algorithm>

namespace isomer::inject {
namespace {

constexpr std::string_view kDescriptor = ".kd";
/// The runtime's own kernels, which copy and fill memory: never what a launch call names.
constexpr std::string_view kRuntimes = "__amd_rocclr_";

struct Current {
  bool inside = false;
  bool taken = false;             ///< the launch's one kernel has been seen
  std::uint64_t graph_nodes = 0;  ///< of the graph's kernels so far
  HipCall call;
};
thread_local Current current;

std::string_view without_descriptor(std::string_view name) {
  if (name.ends_with(kDescriptor)) name.remove_suffix(kDescriptor.size());
  return name;
}

/// Blocks that so many work-items make; the last may be in part.
std::uint32_t blocks(std::uint32_t work_items, std::uint32_t block) {
  return block == 0 ? 0 : work_items / block + (work_items % block != 0 ? 1 : 0);
}

}  // namespace

void HipRecorder::loaded(std::uint64_t code_object, std::span<const std::uint8_t> image) {
  Image read;
  read.words = "code object of " + std::to_string(image.size()) + " bytes";
  std::uint64_t hashed = 0;
  try {
    const lab::Bytes bytes(image, read.words);
    if (lab::is_elf(bytes))
      for (lab::AmdKernel& kernel : lab::amd_kernels(lab::read_elf(bytes))) {
        hashed += kernel.code_bytes;
        read.kernels[kernel.name] = {std::move(kernel.parameters), std::move(kernel.code_hash),
                                     kernel.vector_registers, kernel.scalar_registers};
      }
  } catch (const Error& error) {
    note(std::string("arguments and machine code of some kernels are unknown: ") + error.what());
  }
  const std::lock_guard lock(mutex_);
  hashed_bytes_ += hashed;
  images_[code_object] = std::move(read);
}

void HipRecorder::registered(const HipKernel& kernel) {
  auto known = std::make_shared<Known>();
  known->name = without_descriptor(kernel.name);
  known->group_bytes = kernel.group_bytes;
  known->private_bytes = kernel.private_bytes;
  known->vector_registers = kernel.vector_registers + kernel.accumulation_registers;
  known->scalar_registers = kernel.scalar_registers;
  const std::lock_guard lock(mutex_);
  if (const auto image = images_.find(kernel.code_object); image != images_.end()) {
    known->image = image->second.words;
    if (const auto code = image->second.kernels.find(known->name); code != image->second.kernels.end()) {
      known->layout = code->second.layout;
      known->layout_known = true;
      known->hash = code->second.hash;
      // The descriptor's counts are those that the hardware grants, in steps; the compiler's are exact.
      known->vector_registers = code->second.vector_registers;
      known->scalar_registers = code->second.scalar_registers;
    }
  }
  kernels_[kernel.id] = std::move(known);
}

void HipRecorder::named(const void* function, std::string_view name) {
  const std::lock_guard lock(mutex_);
  functions_[function] = without_descriptor(name);
}

void HipRecorder::entered(const HipCall& call) { current = {true, false, 0, call}; }

void HipRecorder::left() { current.inside = false; }

std::shared_ptr<const HipRecorder::Known> HipRecorder::kernel_of(std::uint64_t id) {
  std::shared_ptr<Known> known;
  {
    const std::lock_guard lock(mutex_);
    const auto found = kernels_.find(id);
    if (found == kernels_.end()) return nullptr;
    known = found->second;
    if (known->written) return known;
    known->written = true;
    // Under the lock, so that no other thread's launch of it comes before its line.
    Line line("kernel", id);
    line.text("name", known->name);
    if (!known->hash.empty()) line.text("code_hash", known->hash);
    if (!known->image.empty()) line.text("module", known->image);
    line.number("registers", known->vector_registers);
    line.number("scalar_registers", known->scalar_registers);
    line.number("shared_static", known->group_bytes).number("local_bytes", known->private_bytes);
    if (known->layout_known) line.raw(layout_json(known->layout));
    line.write();
  }
  return known;
}

/// Whether the call that this thread is in asks for that dispatch. A runtime launches kernels of its own
/// inside of it (copies, fills), and other arguments than its own would be read beyond their end.
bool HipRecorder::makes(const HipCall& call, const HipDispatch& dispatch, const Known& kernel) {
  if (call.graph || kernel.name.starts_with(kRuntimes)) return false;
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t work_items =
        call.grid_in_work_items ? call.grid[i] : std::uint64_t{call.grid[i]} * call.block[i];
    if (call.block[i] != dispatch.block[i] || work_items != dispatch.work_items[i]) return false;
  }
  const std::lock_guard lock(mutex_);
  const auto function = functions_.find(call.function);
  return function == functions_.end() || function->second == kernel.name;
}

std::uint64_t HipRecorder::stream_number(std::uint64_t handle) {
  if (handle == 0) return 0;
  const std::lock_guard lock(mutex_);
  return streams_.emplace(handle, streams_.size() + 1).first->second;
}

void HipRecorder::enqueued(const HipDispatch& dispatch, std::uint64_t thread) {
  const auto kernel = kernel_of(dispatch.kernel);
  Line line("launch", dispatch.id);
  line.yes("later").number("thread", thread);
  std::uint32_t grid[3];
  for (int i = 0; i < 3; ++i) grid[i] = blocks(dispatch.work_items[i], dispatch.block[i]);
  std::string text;
  if (kernel != nullptr) {
    text += ",\"kernel\":";
    append(text, dispatch.kernel);
  }
  append_triple(text, "grid", grid);
  append_triple(text, "block", dispatch.block);
  if (kernel != nullptr && dispatch.group_bytes >= kernel->group_bytes) {
    text += ",\"shared_dynamic\":";
    append(text, dispatch.group_bytes - kernel->group_bytes);
  }
  if (current.inside) {
    const HipCall& call = current.call;
    text += ",\"stream\":";
    append(text, stream_number(call.stream));
    if (call.graph) {
      // HIP tells no node: their order in the launch of their graph stands for one.
      text += ",\"graph_node\":";
      append(text, ++current.graph_nodes);
    } else if (kernel != nullptr && !current.taken && makes(call, dispatch, *kernel)) {
      current.taken = true;
      if (call.cooperative) text += ",\"cooperative\":true";
      if (kernel->layout_known) append_arguments(text, kernel->layout, call.parameters, call.extra);
    }
  }
  line.raw(text).write();
  const std::lock_guard lock(mutex_);
  ++recorded_;
}

void HipRecorder::completed(const HipDispatch& dispatch, std::uint64_t start, std::uint64_t end) {
  Line line("ran", dispatch.id);
  line.number("device", dispatch.device).number("local_bytes", dispatch.private_bytes);
  // Both 0: the device kept no times.
  if (end > start) line.number("start", start).number("duration", end - start);
  line.write();
}

}  // namespace isomer::inject
