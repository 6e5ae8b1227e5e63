#include "device.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include "fault.hpp"

#ifdef ISOMER_STAND_IN_EMULATOR
#include <isomer/emulator/module.hpp>
#endif

namespace isomer::stand_in {
namespace {

std::mutex capture_mutex;
std::set<Stream*> captured;

void* new_memory(std::size_t bytes) {
#ifdef ISOMER_STAND_IN_EMULATOR
  return emulator::device_allocate(bytes);
#else
  return std::aligned_alloc(256, (bytes + 255) / 256 * 256);
#endif
}

void free_memory(void* data) {
#ifdef ISOMER_STAND_IN_EMULATOR
  emulator::device_free(data);
#else
  std::free(data);
#endif
}

}  // namespace

Status Device::usable() const {
  const int lost = number_of("lost-device");
  return lost > 0 && launches_.load() >= lost ? Status::lost : Status::ok;
}

Status Device::outside_capture() {
  const std::lock_guard lock(capture_mutex);
  for (Stream* stream : captured) stream->capture = Capture::invalidated;
  return captured.empty() ? Status::ok : Status::capture;
}

Status Device::allocate(void** data, std::size_t bytes) {
  if (const Status status = usable(); status != Status::ok) return status;
  if (const Status status = outside_capture(); status != Status::ok) return status;
  if (bytes == 0) return Status::invalid;
  const int full = number_of("out-of-memory");
  if (++allocations_ >= full && full > 0) return Status::memory;
  *data = new_memory(bytes);
  if (*data == nullptr) return Status::memory;
  const std::lock_guard lock(mutex_);
  blocks_[*data] = bytes;
  return Status::ok;
}

Status Device::release(void* data) {
  if (const Status status = usable(); status != Status::ok) return status;
  if (const Status status = outside_capture(); status != Status::ok) return status;
  {
    const std::lock_guard lock(mutex_);
    if (blocks_.erase(data) == 0) return Status::invalid;
  }
  free_memory(data);
  return Status::ok;
}

Status Device::copy(void* to, const void* from, std::size_t bytes, Stream* stream) {
  if (const Status status = usable(); status != Status::ok) return status;
  if (stream != nullptr && stream->capture != Capture::none) return outside_capture();
  std::memcpy(to, from, bytes);
  return Status::ok;
}

Status Device::fill(void* to, int value, std::size_t bytes, Stream* stream) {
  if (const Status status = usable(); status != Status::ok) return status;
  if (stream != nullptr && stream->capture != Capture::none) return outside_capture();
  std::memset(to, value, bytes);
  return Status::ok;
}

Status Device::load(LoadedModule** module, const void* bytes) {
  if (const Status status = usable(); status != Status::ok) return status;
  if (const Status status = outside_capture(); status != Status::ok) return status;
  if (planted("module-out-of-memory")) return Status::memory;
  if (++loads_ <= number_of("refused-image")) return Status::image;
  const std::optional<Image> image = Image::parse(bytes, kind_);
  if (!image) return Status::image;
  auto loaded = std::make_unique<LoadedModule>();
  loaded->image = *image;
  std::string complaint;
  if (executes()) {
    loaded->code = image->build(complaint);
    if (!loaded->code) return Status::image;
  }
  *module = loaded.release();
  return Status::ok;
}

Status Device::unload(LoadedModule* module) {
  if (const Status status = outside_capture(); status != Status::ok) return status;
  delete module;
  return Status::ok;
}

Status Device::find(Function** function, LoadedModule* module, const char* kernel) {
  if (const Status status = usable(); status != Status::ok) return status;
  auto found = std::make_unique<Function>(Function{module, kernel, {}, shared_without_opt_in_});
#ifdef ISOMER_STAND_IN_EMULATOR
  if (module->code) try {
      found->parameter_bytes = module->code->parameter_bytes(kernel);
    } catch (const emulator::Error&) {
      return Status::not_found;
    }
#endif
  const std::lock_guard lock(module->mutex);
  *function = found.get();
  module->functions.push_back(std::move(found));
  return Status::ok;
}

Status Device::launch(Function* function, const Geometry& geometry, void** parameters, Stream* stream) {
  ++launches_;
  if (const Status status = usable(); status != Status::ok) return status;
  for (int i = 0; i < 3; ++i)
    if (geometry.grid[i] == 0 || geometry.block[i] == 0) return Status::invalid;
  if (geometry.grid[1] > 65535 || geometry.grid[2] > 65535 || geometry.grid[0] > 2147483647u)
    return Status::invalid;
  if (geometry.block[0] * geometry.block[1] * geometry.block[2] > 1024) return Status::invalid;
  if (geometry.shared_bytes > static_cast<unsigned>(function->dynamic_shared)) return Status::invalid;
  if (stream != nullptr && stream->capture != Capture::none) {
    if (stream->capture == Capture::invalidated) return Status::capture;
    ++stream->captured_launches;
    return Status::ok;
  }
#ifdef ISOMER_STAND_IN_EMULATOR
  if (!function->module->code) return Status::ok;
  std::vector<emulator::Argument> arguments;
  for (std::size_t i = 0; i < function->parameter_bytes.size(); ++i) {
    emulator::Argument argument;
    const auto* bytes = static_cast<const std::byte*>(parameters[i]);
    argument.bits.assign(bytes, bytes + function->parameter_bytes[i]);
    arguments.push_back(std::move(argument));
  }
  const emulator::RunResult result = function->module->code->launch_here(
      function->kernel, {geometry.grid, geometry.block, geometry.shared_bytes}, arguments);
  if (!result.ok()) {
    std::fprintf(stderr, "stand-in: %s: %s\n", function->kernel.c_str(),
                 !result.refusals.empty() ? result.refusals.front().text.c_str() : result.failure.c_str());
    return Status::lost;
  }
#endif
  return Status::ok;
}

Status Device::make_stream(Stream** stream) {
  if (const Status status = usable(); status != Status::ok) return status;
  *stream = new Stream;
  return Status::ok;
}

Status Device::release_stream(Stream* stream) {
  const std::lock_guard lock(capture_mutex);
  captured.erase(stream);
  delete stream;
  return Status::ok;
}

Status Device::wait_for(Stream* stream) {
  if (const Status status = usable(); status != Status::ok) return status;
  return stream != nullptr && stream->capture != Capture::none ? outside_capture() : Status::ok;
}

Status Device::record(Event* event) {
  if (const Status status = usable(); status != Status::ok) return status;
  event->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  return Status::ok;
}

double Device::seconds_between(const Event& first, const Event& second) {
  return second.seconds - first.seconds;
}

Status Device::begin_capture(Stream* stream) {
  const std::lock_guard lock(capture_mutex);
  stream->capture = Capture::active;
  stream->captured_launches = 0;
  captured.insert(stream);
  return Status::ok;
}

int Device::end_capture(Stream* stream) {
  const std::lock_guard lock(capture_mutex);
  captured.erase(stream);
  const bool whole = stream->capture.exchange(Capture::none) == Capture::active;
  return whole ? stream->captured_launches.load() : -1;
}

}  // namespace isomer::stand_in
