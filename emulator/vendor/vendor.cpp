#include "vendor/vendor.hpp"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string_view>

#include "core/sentence.hpp"
#include "gpu/vendors.hpp"
#include "isomer/emulator/module.hpp"
#include "isomer/emulator/tensor_map.hpp"
#include "vendor/source_tree.hpp"

namespace isomer::emulator {
namespace {

using core::fail;

constexpr int kLanes[] = {32, 64};

std::string_view watch_setting() {
  const char* text = std::getenv("ISOMER_EMULATED_WATCH");
  return text == nullptr || *text == '\0' ? "1" : text;
}

/// What is wrong with ISOMER_EMULATED_WATCH, as a sentence; empty where nothing is.
std::string wrong_watch_setting() {
  const std::string_view value = watch_setting();
  if (value == "0" || value == "1") return {};
  return core::say("ISOMER_EMULATED_WATCH expects 0 or 1, got '", value, "'");
}

bool watched() {
  if (const std::string wrong = wrong_watch_setting(); !wrong.empty()) fail(ErrorCode::bad_argument, wrong);
  return watch_setting() == "1";
}

class EmulatedVendor : public gpu::Vendor {
 public:
  EmulatedVendor() {
    for (int i = 0; i < 2; ++i) {
      facts_[i].name = core::say("emulated GPU with ", kLanes[i], " lanes");
      facts_[i].architecture = core::say("emulated-", kLanes[i]);
      // Fragments and warpgroups have warps of 32 lanes.
      facts_[i].has.mma = facts_[i].has.fp8_mma = facts_[i].has.bulk_copy = facts_[i].has.wgmma =
          facts_[i].has.clusters = kLanes[i] == 32;
      facts_[i].warp_size = kLanes[i];
      facts_[i].multiprocessors = 4;
      facts_[i].shared_per_block = facts_[i].shared_per_multiprocessor = i == 0 ? 227 << 10 : 64 << 10;
      facts_[i].l2_bytes = 1 << 20;
      facts_[i].memory_bytes = std::int64_t{4} << 30;
    }
  }

  std::string_view name() const override { return "emulated"; }
  DeviceType device_type() const override { return DeviceType::emulated; }
  std::string unavailable() override {
    std::string wrong = wrong_watch_setting();
    return wrong.empty() ? Module::lack_of_compiler({}) : wrong;
  }
  int devices() override { return 2; }
  const gpu::Facts& facts(int device) override { return facts_[device]; }

  std::string compiler_unavailable() override { return Module::lack_of_compiler({}); }
  bool cacheable() const override { return false; }
  gpu::Image compile(const gpu::Translation& translation) override;

  gpu::Module load(int, const gpu::Image& image) override {
    std::size_t index = 0;
    std::memcpy(&index, image.bytes.data(), sizeof index);
    const std::lock_guard lock(mutex_);
    return &modules_[index];
  }
  void unload(int, gpu::Module) noexcept override {}
  gpu::Function function(int, gpu::Module module, const std::string& kernel) override {
    const std::lock_guard lock(mutex_);
    functions_.push_back({static_cast<Module*>(module), kernel});
    return &functions_.back();
  }

  void* allocate(int, std::size_t bytes) override { return device_allocate(bytes); }
  void release(int, void* data) noexcept override { device_free(data); }
  void copy(int, gpu::Stream, void* to, const void* from, std::size_t bytes, Copy) override {
    std::memcpy(to, from, bytes);
  }
  void fill(int, gpu::Stream, void* to, std::uint8_t value, std::size_t bytes) override {
    std::memset(to, value, bytes);
  }

  // A launch has ended when its call returns: a stream is nothing but a name.
  gpu::Stream make_stream(int) override { return new char; }
  void release_stream(int, gpu::Stream stream) noexcept override { delete static_cast<char*>(stream); }
  void synchronize(int, gpu::Stream) override {}
  bool capturing(int, gpu::Stream) override { return false; }

  using Clock = std::chrono::steady_clock;
  gpu::Event make_event(int) override { return new Clock::time_point; }
  void release_event(int, gpu::Event event) noexcept override {
    delete static_cast<Clock::time_point*>(event);
  }
  void record(int, gpu::Stream, gpu::Event event) override {
    *static_cast<Clock::time_point*>(event) = Clock::now();
  }
  double seconds_between(int, gpu::Event first, gpu::Event second) override {
    return std::chrono::duration<double>(*static_cast<Clock::time_point*>(second) -
                                         *static_cast<Clock::time_point*>(first))
        .count();
  }

  void encode(int device, const gpu::TensorMap& map, const void* address, device::TensorMap& into) override;
  void launch(int device, gpu::Stream, const gpu::Launch& launch) override;

 private:
  struct Function {
    Module* module;
    std::string kernel;
  };

  gpu::Facts facts_[2];
  std::mutex mutex_;
  // What a launch refers to never moves.
  std::deque<Module> modules_;
  std::deque<Function> functions_;
};

gpu::Image EmulatedVendor::compile(const gpu::Translation& translation) {
  static const SourceTree tree;
  BuildOptions options;
  options.sources = {tree.path() / translation.source};
  options.lanes = translation.architecture == facts_[0].architecture ? kLanes[0] : kLanes[1];
  options.watch = watched();
  options.include_directories = {tree.path().string()};
  options.definitions = translation.definitions;
  options.definitions.push_back("ISOMER_EMULATED");
  options.definitions.push_back(core::say("ISOMER_LANES=", options.lanes));
  try {
    Module module = Module::build(options);
    const std::lock_guard lock(mutex_);
    const std::size_t index = modules_.size();
    modules_.push_back(std::move(module));
    gpu::Image image;
    image.bytes.resize(sizeof index);
    std::memcpy(image.bytes.data(), &index, sizeof index);
    image.compiler = "the host's compiler";
    return image;
  } catch (const emulator::Error& error) {
    fail(ErrorCode::internal, "emulated: compiling ", translation.source, ": ", error.what());
  }
}

void EmulatedVendor::encode(int, const gpu::TensorMap& map, const void* address, device::TensorMap& into) {
  if (const std::string fault = gpu::tensor_map_fault(map, address); !fault.empty())
    fail(ErrorCode::unsupported, "emulated: a tensor map ", fault);
  TensorMapDescription description;
  description.data = address;
  description.element_bytes = static_cast<unsigned>(size_of(map.element));
  description.rank = map.rank;
  description.size = map.size;
  description.stride_bytes = map.stride_bytes;
  description.box = map.box;
  description.swizzle_bytes = map.swizzle_bytes;
  if (const std::string fault = encode_tensor_map(description, &into); !fault.empty())
    fail(ErrorCode::unsupported, "emulated: a tensor map: ", fault);
}

void EmulatedVendor::launch(int, gpu::Stream, const gpu::Launch& launch) {
  const auto& function = *static_cast<Function*>(launch.function);
  Argument parameters;
  const auto* bytes = static_cast<const std::byte*>(launch.parameters);
  parameters.bits.assign(bytes, bytes + launch.parameter_bytes);
  const RunResult result = function.module->launch_here(function.kernel,
                                                        {.grid = launch.grid,
                                                         .block = launch.block,
                                                         .shared_bytes = launch.shared_bytes,
                                                         .cluster = launch.cluster[0]},
                                                        {parameters});
  if (result.ok()) return;
  const std::string& said = !result.reports.empty()    ? result.reports.front().text
                            : !result.refusals.empty() ? result.refusals.front().text
                            : !result.failure.empty()  ? result.failure
                                                       : result.not_finished;
  fail(ErrorCode::device, "emulated: ", launch.kernel, ": ", said);
}

}  // namespace

void register_vendor() { gpu::register_vendor(std::make_unique<EmulatedVendor>()); }

}  // namespace isomer::emulator
