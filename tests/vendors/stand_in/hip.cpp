// libamdhip64.so for tests, over the emulator with 64 lanes: the functions that Isomer asks for, as an MI250X
// with two devices.
#include "gpu/vendors/hip/runtime.hpp"

#include <cstring>

#include "device.hpp"
#include "fault.hpp"

using namespace isomer::gpu::hip;
namespace stand_in = isomer::stand_in;
using stand_in::Status;

namespace {

constexpr int kDevices = 2;
constexpr Result kNotInitialized = static_cast<Result>(3), kNotFound = static_cast<Result>(500),
                 kCaptureUnsupported = static_cast<Result>(900);
thread_local int current = 0;
bool started = false;

stand_in::Device& device() {
  static auto* const devices =
      new stand_in::Device[kDevices]{stand_in::Device("hip", 64 << 10), stand_in::Device("hip", 64 << 10)};
  return devices[current];
}

Result result_of(Status status) {
  switch (status) {
    case Status::ok:
      return kSuccess;
    case Status::invalid:
      return kInvalidValue;
    case Status::memory:
      return kOutOfMemory;
    case Status::image:
      return kInvalidImage;
    case Status::not_found:
      return kNotFound;
    case Status::lost:
      return kLaunchFailure;
    case Status::capture:
      return kCaptureUnsupported;
  }
  return kUnknown;
}

template <class Call>
Result run(const Call& call) {
  return started ? result_of(call(device())) : kNotInitialized;
}

stand_in::Stream* stream_of(StreamHandle stream) { return reinterpret_cast<stand_in::Stream*>(stream); }
stand_in::Event* event_of(EventHandle event) { return reinterpret_cast<stand_in::Event*>(event); }
stand_in::LoadedModule* module_of(ModuleHandle module) {
  return reinterpret_cast<stand_in::LoadedModule*>(module);
}
stand_in::Function* function_of(FunctionHandle function) {
  return reinterpret_cast<stand_in::Function*>(function);
}

}  // namespace

#define API extern "C" __attribute__((visibility("default")))

API Result hipInit(unsigned) {
  if (stand_in::planted("no-device")) return kInvalidDevice;
  if (stand_in::planted("init-failed")) return kUnknown;
  started = true;
  return kSuccess;
}
API Result hipRuntimeGetVersion(int* version) {
  *version = stand_in::planted("old-driver") ? 40321300 : 60142131;
  return kSuccess;
}
API const char* hipGetErrorName(Result result) {
  switch (static_cast<int>(result)) {
    case kSuccess:
      return "hipSuccess";
    case kInvalidValue:
      return "hipErrorInvalidValue";
    case kOutOfMemory:
      return "hipErrorOutOfMemory";
    case kInvalidDevice:
      return "hipErrorInvalidDevice";
    case kInvalidImage:
      return "hipErrorInvalidImage";
    case kLaunchFailure:
      return "hipErrorLaunchFailure";
    case kNotFound:
      return "hipErrorNotFound";
    case kCaptureUnsupported:
      return "hipErrorStreamCaptureUnsupported";
    case kUnknown:
      return "hipErrorUnknown";
  }
  return "hipErrorNotInitialized";
}
API const char* hipGetErrorString(Result) { return "as planted"; }
API Result hipGetDeviceCount(int* count) {
  *count = kDevices;
  return started ? kSuccess : kNotInitialized;
}
API Result hipDeviceGet(DeviceHandle* handle, int index) {
  if (index < 0 || index >= kDevices) return kInvalidDevice;
  *handle = index;
  return kSuccess;
}
API Result hipDeviceGetName(char* name, int bytes, DeviceHandle) {
  std::strncpy(name, "stand-in for an AMD GPU", static_cast<std::size_t>(bytes));
  return kSuccess;
}
API Result hipDeviceGetAttribute(int* value, DeviceAttribute attribute, int) {
  switch (attribute) {
    case kL2CacheSize:
      *value = 1 << 20;
      return kSuccess;
    case kMaxThreadsPerBlock:
      *value = 1024;
      return kSuccess;
    case kMaxThreadsPerMultiprocessor:
      *value = 2048;
      return kSuccess;
    case kMultiprocessorCount:
      *value = 4;
      return kSuccess;
    case kMaxRegistersPerMultiprocessor:
      return kInvalidValue;  // as releases that do not know it
    case kMaxSharedMemoryPerBlock:
      *value = 64 << 10;
      return kSuccess;
    case kWarpSize:
      *value = 64;
      return kSuccess;
    case kMaxSharedMemoryPerMultiprocessor:
      *value = 64 << 10;
      return kSuccess;
  }
  return kInvalidValue;
}
API Result hipGetDevicePropertiesR0600(void* properties, int) {
  std::memset(properties, 0x5a, kArchitectureNames[0].struct_bytes);
  std::strcpy(static_cast<char*>(properties) + kArchitectureNames[0].offset,
              stand_in::planted("nameless-architecture") ? "" : "gfx90a:sramecc+:xnack-");
  return kSuccess;
}
API Result hipDeviceTotalMem(std::size_t* bytes, DeviceHandle) {
  *bytes = std::size_t{4} << 30;
  return kSuccess;
}
API Result hipGetDevice(int* index) {
  *index = current;
  return started ? kSuccess : kNotInitialized;
}
API Result hipSetDevice(int index) {
  if (index < 0 || index >= kDevices) return kInvalidDevice;
  current = index;
  return kSuccess;
}
API Result hipMalloc(void** data, std::size_t bytes) {
  return run([&](auto& on) { return on.allocate(data, bytes); });
}
API Result hipFree(void* data) {
  return run([&](auto& on) { return on.release(data); });
}
API Result hipMemcpyAsync(void* to, const void* from, std::size_t bytes, CopyKind kind, StreamHandle stream) {
  if (kind < kHostToDevice || kind > kDeviceToDevice) return kInvalidValue;
  return run([&](auto& on) { return on.copy(to, from, bytes, stream_of(stream)); });
}
API Result hipMemsetAsync(void* to, int value, std::size_t bytes, StreamHandle stream) {
  return run([&](auto& on) { return on.fill(to, value, bytes, stream_of(stream)); });
}
API Result hipStreamCreateWithFlags(StreamHandle* stream, unsigned) {
  return run([&](auto& on) { return on.make_stream(reinterpret_cast<stand_in::Stream**>(stream)); });
}
API Result hipStreamDestroy(StreamHandle stream) {
  return run([&](auto& on) { return on.release_stream(stream_of(stream)); });
}
API Result hipStreamSynchronize(StreamHandle stream) {
  return run([&](auto& on) { return on.wait_for(stream_of(stream)); });
}
API Result hipStreamIsCapturing(StreamHandle stream, CaptureStatus* status) {
  *status = static_cast<CaptureStatus>(stream == nullptr ? stand_in::Capture::none
                                                         : stream_of(stream)->capture.load());
  return kSuccess;
}
API Result hipEventCreateWithFlags(EventHandle* event, unsigned) {
  *event = reinterpret_cast<EventHandle>(new stand_in::Event);
  return kSuccess;
}
API Result hipEventDestroy(EventHandle event) {
  delete event_of(event);
  return kSuccess;
}
API Result hipEventRecord(EventHandle event, StreamHandle) {
  return run([&](auto& on) { return on.record(event_of(event)); });
}
API Result hipEventSynchronize(EventHandle) {
  return run([&](auto& on) { return on.wait_for(nullptr); });
}
API Result hipEventElapsedTime(float* milliseconds, EventHandle first, EventHandle second) {
  *milliseconds =
      static_cast<float>(1e3 * stand_in::Device::seconds_between(*event_of(first), *event_of(second)));
  return kSuccess;
}
API Result hipModuleLoadData(ModuleHandle* module, const void* image) {
  return run([&](auto& on) { return on.load(reinterpret_cast<stand_in::LoadedModule**>(module), image); });
}
API Result hipModuleUnload(ModuleHandle module) {
  return run([&](auto& on) { return on.unload(module_of(module)); });
}
API Result hipModuleGetFunction(FunctionHandle* function, ModuleHandle module, const char* kernel) {
  return run([&](auto& on) {
    return on.find(reinterpret_cast<stand_in::Function**>(function), module_of(module), kernel);
  });
}
API Result hipModuleLaunchKernel(FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                 StreamHandle stream, void** parameters, void**) {
  // HIP counts the threads of a whole dimension in 32 bits.
  if (std::uint64_t{grid_x} * block_x >> 32 != 0) return kInvalidValue;
  return run([&](auto& on) {
    return on.launch(function_of(function),
                     {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes}, parameters,
                     stream_of(stream));
  });
}

API int isomer_stand_in_begin_capture(void* stream) {
  return static_cast<int>(stand_in::Device::begin_capture(static_cast<stand_in::Stream*>(stream)));
}

API int isomer_stand_in_end_capture(void* stream) {
  return stand_in::Device::end_capture(static_cast<stand_in::Stream*>(stream));
}
