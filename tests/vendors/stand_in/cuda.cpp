// libcuda.so.1 for tests, over the emulator: the functions that Isomer asks for, found by cuGetProcAddress
// alone, as an A100 (ISOMER_STAND_IN_CAPABILITY=90: an H100) with two devices.
#include "gpu/vendors/cuda/driver.hpp"

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "device.hpp"
#include "fault.hpp"

namespace isomer::gpu::cuda {

struct ContextObject {
  stand_in::Device device{"cuda", 48 << 10};
};

namespace {

using stand_in::Status;

constexpr int kDevices = 2;
constexpr Result kNotInitialized = 3, kInvalidDevice = 101, kInvalidContext = 201, kNotFound = 500,
                 kNotSupported = 801, kCaptureUnsupported = 900, kCaptureInvalidated = 901;
thread_local Context current = nullptr;
bool started = false;

ContextObject& context_of(int device) {
  static auto* const contexts = new ContextObject[kDevices];
  return contexts[device];
}

int capability() {
  const char* value = std::getenv("ISOMER_STAND_IN_CAPABILITY");
  return value == nullptr ? 80 : std::atoi(value);
}

/// Of a block: an A100's, or an H100's.
int shared_at_most() { return (capability() >= 90 ? 227 : 163) << 10; }

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
      return kLaunchFailed;
    case Status::capture:
      return kCaptureUnsupported;
  }
  return kUnknown;
}

/// Most calls need a current context.
template <class Call>
Result in_context(const Call& call) {
  if (!started) return kNotInitialized;
  return current == nullptr ? static_cast<Result>(kInvalidContext) : result_of(call(current->device));
}

stand_in::Stream* stream_of(StreamHandle stream) { return reinterpret_cast<stand_in::Stream*>(stream); }
stand_in::Event* event_of(EventHandle event) { return reinterpret_cast<stand_in::Event*>(event); }
stand_in::LoadedModule* module_of(ModuleHandle module) {
  return reinterpret_cast<stand_in::LoadedModule*>(module);
}
stand_in::Function* function_of(FunctionHandle function) {
  return reinterpret_cast<stand_in::Function*>(function);
}

Result init(unsigned) {
  if (stand_in::planted("no-device")) return kNoDevice;
  if (stand_in::planted("init-failed")) return kUnknown;
  started = true;
  return kSuccess;
}
Result driver_get_version(int* version) {
  *version = stand_in::planted("old-driver") ? 11040 : 13000;
  return kSuccess;
}
Result get_error_name(Result result, const char** name) {
  *name = result == kSuccess              ? "CUDA_SUCCESS"
          : result == kInvalidValue       ? "CUDA_ERROR_INVALID_VALUE"
          : result == kOutOfMemory        ? "CUDA_ERROR_OUT_OF_MEMORY"
          : result == kNotInitialized     ? "CUDA_ERROR_NOT_INITIALIZED"
          : result == kInvalidContext     ? "CUDA_ERROR_INVALID_CONTEXT"
          : result == kInvalidImage       ? "CUDA_ERROR_INVALID_IMAGE"
          : result == kNotFound           ? "CUDA_ERROR_NOT_FOUND"
          : result == kLaunchFailed       ? "CUDA_ERROR_LAUNCH_FAILED"
          : result == kCaptureUnsupported ? "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"
          : result == kCaptureInvalidated ? "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"
          : result == kUnknown            ? "CUDA_ERROR_UNKNOWN"
                                          : nullptr;
  return *name == nullptr ? static_cast<Result>(kInvalidValue) : static_cast<Result>(kSuccess);
}
Result get_error_string(Result, const char** text) {
  *text = "as planted";
  return kSuccess;
}
Result device_get_count(int* count) {
  if (!started) return kNotInitialized;
  *count = kDevices;
  return kSuccess;
}
Result device_get(DeviceHandle* handle, int device) {
  if (!started) return kNotInitialized;
  if (device < 0 || device >= kDevices) return kInvalidDevice;
  *handle = device;
  return kSuccess;
}
Result device_get_name(char* name, int bytes, DeviceHandle) {
  std::strncpy(name, "stand-in for an NVIDIA GPU", static_cast<std::size_t>(bytes));
  return kSuccess;
}
Result device_get_attribute(int* value, DeviceAttribute attribute, DeviceHandle) {
  switch (attribute) {
    case kMaxThreadsPerBlock:
      *value = 1024;
      return kSuccess;
    case kWarpSize:
      *value = 32;
      return kSuccess;
    case kMultiprocessorCount:
      *value = 4;
      return kSuccess;
    case kL2CacheSize:
      *value = 1 << 20;
      return kSuccess;
    case kMaxThreadsPerMultiprocessor:
      *value = 2048;
      return kSuccess;
    case kComputeCapabilityMajor:
      *value = capability() / 10;
      return kSuccess;
    case kComputeCapabilityMinor:
      *value = capability() % 10;
      return kSuccess;
    case kMaxSharedMemoryPerMultiprocessor:
      *value = shared_at_most() + (1 << 10);
      return kSuccess;
    case kMaxRegistersPerMultiprocessor:
      *value = 65536;
      return kSuccess;
    case kMaxSharedMemoryPerBlockOptin:
      *value = shared_at_most();
      return kSuccess;
  }
  return kInvalidValue;
}
Result device_total_memory(std::size_t* bytes, DeviceHandle) {
  *bytes = std::size_t{4} << 30;
  return kSuccess;
}
Result primary_context_retain(Context* context, DeviceHandle device) {
  if (stand_in::planted("context-out-of-memory")) return kOutOfMemory;
  *context = &context_of(device);
  return kSuccess;
}
Result context_get_current(Context* context) {
  if (!started) return kNotInitialized;
  *context = current;
  return kSuccess;
}
Result context_set_current(Context context) {
  current = context;
  return kSuccess;
}
Result memory_allocate(DevicePointer* data, std::size_t bytes) {
  void* made = nullptr;
  const Result result = in_context([&](auto& device) { return device.allocate(&made, bytes); });
  *data = reinterpret_cast<DevicePointer>(made);
  return result;
}
Result memory_free(DevicePointer data) {
  return in_context([&](auto& device) { return device.release(reinterpret_cast<void*>(data)); });
}
Result copy_async(DevicePointer to, DevicePointer from, std::size_t bytes, StreamHandle stream) {
  return in_context([&](auto& device) {
    return device.copy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes,
                       stream_of(stream));
  });
}
Result fill_async(DevicePointer to, unsigned char value, std::size_t bytes, StreamHandle stream) {
  return in_context([&](auto& device) {
    return device.fill(reinterpret_cast<void*>(to), value, bytes, stream_of(stream));
  });
}
Result stream_create(StreamHandle* stream, unsigned) {
  return in_context(
      [&](auto& device) { return device.make_stream(reinterpret_cast<stand_in::Stream**>(stream)); });
}
Result stream_destroy(StreamHandle stream) {
  return in_context([&](auto& device) { return device.release_stream(stream_of(stream)); });
}
Result stream_synchronize(StreamHandle stream) {
  return in_context([&](auto& device) { return device.wait_for(stream_of(stream)); });
}
Result stream_is_capturing(StreamHandle stream, CaptureStatus* status) {
  if (current == nullptr) return kInvalidContext;
  *status = static_cast<CaptureStatus>(stream == nullptr ? stand_in::Capture::none
                                                         : stream_of(stream)->capture.load());
  return kSuccess;
}
Result event_create(EventHandle* event, unsigned) {
  *event = reinterpret_cast<EventHandle>(new stand_in::Event);
  return kSuccess;
}
Result event_destroy(EventHandle event) {
  delete event_of(event);
  return kSuccess;
}
Result event_record(EventHandle event, StreamHandle) {
  return in_context([&](auto& device) { return device.record(event_of(event)); });
}
Result event_synchronize(EventHandle) {
  return in_context([&](auto& device) { return device.wait_for(nullptr); });
}
Result event_elapsed_time(float* milliseconds, EventHandle first, EventHandle second) {
  *milliseconds =
      static_cast<float>(1e3 * stand_in::Device::seconds_between(*event_of(first), *event_of(second)));
  return kSuccess;
}
Result module_load_data(ModuleHandle* module, const void* image) {
  return in_context(
      [&](auto& device) { return device.load(reinterpret_cast<stand_in::LoadedModule**>(module), image); });
}
Result module_unload(ModuleHandle module) {
  return in_context([&](auto& device) { return device.unload(module_of(module)); });
}
Result module_get_function(FunctionHandle* function, ModuleHandle module, const char* kernel) {
  return in_context([&](auto& device) {
    return device.find(reinterpret_cast<stand_in::Function**>(function), module_of(module), kernel);
  });
}
Result function_get_attribute(int* value, FunctionAttribute attribute, FunctionHandle) {
  if (attribute != kSharedSizeBytes) return kInvalidValue;
  *value = 0;
  return kSuccess;
}
Result function_set_attribute(FunctionHandle function, FunctionAttribute attribute, int value) {
  if (attribute == kNonPortableClusterSizeAllowed) return capability() >= 90 ? kSuccess : kInvalidValue;
  if (attribute != kMaxDynamicSharedSizeBytes || value > shared_at_most()) return kInvalidValue;
  function_of(function)->dynamic_shared = value;
  return kSuccess;
}
Result launch_kernel_ex(const LaunchConfig* config, FunctionHandle function, void** parameters, void**) {
  for (unsigned i = 0; i < config->attribute_count; ++i) {
    const LaunchAttribute& attribute = config->attributes[i];
    const auto& cluster = attribute.value.cluster;
    if (capability() < 90 && attribute.id == kClusterDimension) return kInvalidValue;
    if (attribute.id == kClusterDimension &&
        (config->grid_x % cluster.x != 0 || config->grid_y % cluster.y != 0 ||
         config->grid_z % cluster.z != 0))
      return kInvalidValue;
  }
  return in_context([&](auto& device) {
    return device.launch(function_of(function),
                         {{config->grid_x, config->grid_y, config->grid_z},
                          {config->block_x, config->block_y, config->block_z},
                          config->shared_bytes},
                         parameters, stream_of(config->stream));
  });
}
/// Refuses what the driver's documentation refuses; what it makes is what it was given, as a test reads it.
Result tensor_map_encode_tiled(TensorMapObject* map, TensorMapType type, unsigned rank, void* data,
                               const std::uint64_t* sizes, const std::uint64_t* strides,
                               const std::uint32_t* box, const std::uint32_t* steps,
                               TensorMapInterleave interleave, TensorMapSwizzle swizzle,
                               TensorMapPromotion promotion, TensorMapFill fill) {
  if (current == nullptr) return kInvalidContext;
  if (capability() < 90) return kNotSupported;
  if (reinterpret_cast<std::uintptr_t>(map) % 64 != 0 || reinterpret_cast<std::uintptr_t>(data) % 16 != 0 ||
      rank < 1 || rank > 5)
    return kInvalidValue;
  const std::uint64_t element = type == kMapU8 ? 1 : type == kMapF32 ? 4 : 2;
  const std::uint64_t span[] = {UINT64_MAX, 32, 64, 128};
  if (box[0] * element % 16 != 0 || box[0] * element > span[swizzle]) return kInvalidValue;
  *map = {};
  map->opaque[0] = reinterpret_cast<std::uintptr_t>(data);
  map->opaque[1] = static_cast<std::uint64_t>(type) | rank << 8 | interleave << 16 | swizzle << 24 |
                   static_cast<std::uint64_t>(promotion) << 32 | static_cast<std::uint64_t>(fill) << 40;
  for (unsigned d = 0; d < rank; ++d) {
    if (sizes[d] < 1 || sizes[d] > std::uint64_t{1} << 32 || box[d] < 1 || box[d] > 256 || steps[d] != 1)
      return kInvalidValue;
    if (d > 0 && (strides[d - 1] % 16 != 0 || strides[d - 1] >= std::uint64_t{1} << 40)) return kInvalidValue;
    map->opaque[2 + d] = sizes[d];
    if (d > 0) map->opaque[6 + d] = strides[d - 1];
    map->opaque[11 + d] = box[d];
  }
  return kSuccess;
}

}  // namespace
}  // namespace isomer::gpu::cuda

#define API extern "C" __attribute__((visibility("default")))

API int cuGetProcAddress_v2(const char* symbol, void** function, int version, std::uint64_t, int* status) {
  using namespace isomer::gpu::cuda;
  struct Entry {
    const char* symbol;
    int since;
    void* function;
  };
#define ISOMER_ENTRY(name, symbol, since, parameters) \
  {#symbol, since, reinterpret_cast<void*>(static_cast<Result(*) parameters>(&name))},
  static const Entry entries[] = {ISOMER_CUDA_FUNCTIONS(ISOMER_ENTRY)};
#undef ISOMER_ENTRY
  *function = nullptr;
  *status = 1;  // no such symbol
  if (isomer::stand_in::value_of("no-function") == symbol) return kSuccess;
  for (const Entry& entry : entries)
    if (std::string_view(entry.symbol) == symbol) {
      *status = version < entry.since ? 2 : 0;
      if (*status == 0) *function = entry.function;
    }
  return kSuccess;
}

API int cuDriverGetVersion(int* version) { return isomer::gpu::cuda::driver_get_version(version); }

API int isomer_stand_in_begin_capture(void* stream) {
  return static_cast<int>(
      isomer::stand_in::Device::begin_capture(static_cast<isomer::stand_in::Stream*>(stream)));
}

API int isomer_stand_in_end_capture(void* stream) {
  return isomer::stand_in::Device::end_capture(static_cast<isomer::stand_in::Stream*>(stream));
}
