#include "core/sentence.hpp"
#include "gpu/vendors.hpp"
#include "gpu/vendors/cuda/driver.hpp"
#include "gpu/vendors/cuda/nvrtc.hpp"
#include "gpu/vendors/forks.hpp"
#include "gpu/vendors/switched.hpp"

#include <array>
#include <cstring>
#include <mutex>

namespace isomer::gpu {
namespace {

using namespace cuda;

/// A device's primary context, made on first use and kept.
struct Place {
  std::once_flag once;
  Context context = nullptr;
  int capability = 0;  ///< 90 for 9.0
  Facts facts;
};

class CudaVendor : public Vendor {
 public:
  std::string_view name() const override { return "cuda"; }
  DeviceType device_type() const override { return DeviceType::cuda; }

  std::string unavailable() override {
    if (!driver().unavailable.empty()) return driver().unavailable;
    return forks() == driver().forks ? "" : kForked;
  }

  int devices() override {
    int count = 0;
    if (unavailable().empty()) driver().device_get_count(&count);
    return count;
  }

  const Facts& facts(int device) override { return place(device).facts; }

  std::string compiler_unavailable() override { return nvrtc().unavailable(); }
  Image compile(const Translation& translation) override { return cuda::compile(translation); }

  Module load(int device, const Image& image) override {
    const Current current(*this, device);
    ModuleHandle module = nullptr;
    must("cuModuleLoadData", driver().module_load_data(&module, image.bytes.data()));
    return module;
  }

  void unload(int device, Module module) noexcept override {
    quietly(device, [&] { return driver().module_unload(static_cast<ModuleHandle>(module)); });
  }

  Function function(int device, Module module, const std::string& kernel) override {
    const Current current(*this, device);
    FunctionHandle function = nullptr;
    must("cuModuleGetFunction",
         driver().module_get_function(&function, static_cast<ModuleHandle>(module), kernel.c_str()));
    int fixed = 0;
    must("cuFuncGetAttribute", driver().function_get_attribute(&fixed, kSharedSizeBytes, function));
    const int most = static_cast<int>(place(device).facts.shared_per_block) - fixed;
    must("cuFuncSetAttribute", driver().function_set_attribute(function, kMaxDynamicSharedSizeBytes, most));
    if (place(device).capability >= 90)
      must("cuFuncSetAttribute",
           driver().function_set_attribute(function, kNonPortableClusterSizeAllowed, 1));
    return function;
  }

  void* allocate(int device, std::size_t bytes) override {
    const Current current(*this, device);
    DevicePointer data = 0;
    const Result result = driver().memory_allocate(&data, bytes);
    if (result == kOutOfMemory) return nullptr;
    must("cuMemAlloc", result);
    return reinterpret_cast<void*>(data);
  }

  void release(int device, void* data) noexcept override {
    quietly(device, [&] { return driver().memory_free(reinterpret_cast<DevicePointer>(data)); });
  }

  void copy(int device, Stream stream, void* to, const void* from, std::size_t bytes, Copy kind) override {
    const Current current(*this, device);
    if (bytes > 0)
      must("cuMemcpyAsync",
           driver().copy_async(reinterpret_cast<DevicePointer>(to), reinterpret_cast<DevicePointer>(from),
                               bytes, static_cast<StreamHandle>(stream)));
    if (kind == Copy::to_host)
      must("cuStreamSynchronize", driver().stream_synchronize(static_cast<StreamHandle>(stream)));
  }

  void fill(int device, Stream stream, void* to, std::uint8_t value, std::size_t bytes) override {
    const Current current(*this, device);
    if (bytes > 0)
      must("cuMemsetD8Async", driver().fill_async(reinterpret_cast<DevicePointer>(to), value, bytes,
                                                  static_cast<StreamHandle>(stream)));
  }

  Stream make_stream(int device) override {
    const Current current(*this, device);
    StreamHandle stream = nullptr;
    must("cuStreamCreate", driver().stream_create(&stream, kStreamNonBlocking));
    return stream;
  }

  void release_stream(int device, Stream stream) noexcept override {
    quietly(device, [&] { return driver().stream_destroy(static_cast<StreamHandle>(stream)); });
  }

  void synchronize(int device, Stream stream) override {
    const Current current(*this, device);
    must("cuStreamSynchronize", driver().stream_synchronize(static_cast<StreamHandle>(stream)));
  }

  bool capturing(int device, Stream stream) override {
    const Current current(*this, device);
    CaptureStatus status = kCaptureNone;
    // An invalidated capture answers with an error: nothing may be loaded there either.
    return driver().stream_is_capturing(static_cast<StreamHandle>(stream), &status) != kSuccess ||
           status != kCaptureNone;
  }

  Event make_event(int device) override {
    const Current current(*this, device);
    EventHandle event = nullptr;
    must("cuEventCreate", driver().event_create(&event, kEventDefault));
    return event;
  }

  void release_event(int device, Event event) noexcept override {
    quietly(device, [&] { return driver().event_destroy(static_cast<EventHandle>(event)); });
  }

  void record(int device, Stream stream, Event event) override {
    const Current current(*this, device);
    must("cuEventRecord",
         driver().event_record(static_cast<EventHandle>(event), static_cast<StreamHandle>(stream)));
  }

  double seconds_between(int device, Event first, Event second) override {
    const Current current(*this, device);
    must("cuEventSynchronize", driver().event_synchronize(static_cast<EventHandle>(second)));
    float milliseconds = 0;
    must("cuEventElapsedTime", driver().event_elapsed_time(&milliseconds, static_cast<EventHandle>(first),
                                                           static_cast<EventHandle>(second)));
    return milliseconds * 1e-3;
  }

  void encode(const TensorMap& map, void* into) override;
  void launch(int device, Stream stream, const Launch& launch) override;

 private:
  static constexpr const char* kForked =
      "this process was forked after CUDA had been initialised, which CUDA does not survive; start a new "
      "process, or fork before the first GPU call";

  /// The device's context current on this thread, and afterwards whatever was.
  class Current : Switched<Context, Result> {
   public:
    Current(CudaVendor& vendor, int device)
        : Switched(vendor.driver().context_get_current, vendor.driver().context_set_current,
                   vendor.place(device).context, [&](Result result, bool set) {
                     vendor.must(set ? "cuCtxSetCurrent" : "cuCtxGetCurrent", result);
                   }) {}
  };

  const Driver& driver() const { return Driver::get(); }

  void must(const char* call, Result result) const {
    if (result != kSuccess) fail_call("cuda", call, meaning_of(result), name_of(driver(), result));
  }

  /// For what gives something back: a device that is lost has nothing left to take.
  template <class Call>
  void quietly(int device, const Call& call) noexcept {
    try {
      const Current current(*this, device);
      static_cast<void>(call());
    } catch (const Error&) {
    }
  }

  Place& place(int device) {
    if (const std::string reason = unavailable(); !reason.empty())
      core::fail(ErrorCode::device, "cuda: ", reason);
    if (device < 0 || device >= kMostDevices)
      core::fail(ErrorCode::device, "cuda: at most ", kMostDevices, " devices are used, got cuda:", device);
    Place& found = places_[static_cast<std::size_t>(device)];
    std::call_once(found.once, [&] { open(found, device); });
    return found;
  }

  void open(Place& place, int device);

  static constexpr int kMostDevices = 64;
  std::array<Place, kMostDevices> places_;
};

void CudaVendor::open(Place& place, int device) {
  DeviceHandle handle = 0;
  must("cuDeviceGet", driver().device_get(&handle, device));
  const auto attribute = [&](DeviceAttribute which) {
    int value = 0;
    must("cuDeviceGetAttribute", driver().device_get_attribute(&value, which, handle));
    return value;
  };
  char text[256] = {};
  must("cuDeviceGetName", driver().device_get_name(text, sizeof text, handle));
  std::size_t memory = 0;
  must("cuDeviceTotalMem", driver().device_total_memory(&memory, handle));
  const int capability = attribute(kComputeCapabilityMajor) * 10 + attribute(kComputeCapabilityMinor);
  place.capability = capability;
  Facts& facts = place.facts;
  facts.name = text;
  // From 9.0 on the code that uses all of a chip is for that chip alone.
  facts.architecture = core::say("sm_", capability, capability >= 90 ? "a" : "");
  facts.warp_size = attribute(kWarpSize);
  facts.multiprocessors = attribute(kMultiprocessorCount);
  facts.threads_per_block = attribute(kMaxThreadsPerBlock);
  facts.threads_per_multiprocessor = attribute(kMaxThreadsPerMultiprocessor);
  facts.registers_per_multiprocessor = attribute(kMaxRegistersPerMultiprocessor);
  facts.shared_per_block = attribute(kMaxSharedMemoryPerBlockOptin);
  facts.shared_per_multiprocessor = attribute(kMaxSharedMemoryPerMultiprocessor);
  facts.l2_bytes = attribute(kL2CacheSize);
  facts.memory_bytes = static_cast<std::int64_t>(memory);
  must("cuDevicePrimaryCtxRetain", driver().primary_context_retain(&place.context, handle));
}

void CudaVendor::encode(const TensorMap& map, void* into) {
  const auto refuse = [](const auto&... reason) {
    core::fail(ErrorCode::unsupported, "cuda: a tensor map ", reason...);
  };
  const std::int64_t element = size_of(map.element);
  if (reinterpret_cast<std::uintptr_t>(map.data) % 16 != 0)
    refuse("needs an address that is a multiple of 16 bytes");
  for (int i = 1; i < map.rank; ++i)
    if (map.stride_bytes[static_cast<std::size_t>(i)] % 16 != 0)
      refuse("needs strides that are multiples of 16 bytes, got ",
             map.stride_bytes[static_cast<std::size_t>(i)]);
  const std::uint32_t steps[5] = {1, 1, 1, 1, 1};
  const TensorMapType type = element == 1                 ? kMapU8
                             : map.element == DType::f16  ? kMapF16
                             : map.element == DType::bf16 ? kMapBf16
                                                          : kMapF32;
  const TensorMapSwizzle swizzle = map.swizzle_bytes == 128  ? kSwizzle128
                                   : map.swizzle_bytes == 64 ? kSwizzle64
                                   : map.swizzle_bytes == 32 ? kSwizzle32
                                                             : kSwizzleNone;
  TensorMapObject encoded;
  must("cuTensorMapEncodeTiled",
       driver().tensor_map_encode_tiled(&encoded, type, static_cast<unsigned>(map.rank),
                                        const_cast<void*>(map.data), map.size.data(),
                                        map.stride_bytes.data() + 1, map.box.data(), steps, kInterleaveNone,
                                        swizzle, kPromotion256, kFillZero));
  std::memcpy(into, &encoded, sizeof encoded);
}

void CudaVendor::launch(int device, Stream stream, const Launch& launch) {
  const Current current(*this, device);
  LaunchAttribute attributes[2] = {};
  unsigned count = 0;
  if (launch.cluster != Dim3{1, 1, 1}) {
    attributes[count].id = kClusterDimension;
    attributes[count++].value.cluster = {launch.cluster[0], launch.cluster[1], launch.cluster[2]};
  }
  if (launch.overlap_previous) {
    attributes[count].id = kProgrammaticStreamSerialization;
    attributes[count++].value.programmatic_stream_serialization = 1;
  }
  const LaunchConfig config = {launch.grid[0],      launch.grid[1],
                               launch.grid[2],      launch.block[0],
                               launch.block[1],     launch.block[2],
                               launch.shared_bytes, static_cast<StreamHandle>(stream),
                               attributes,          count};
  void* parameters[] = {const_cast<void*>(launch.parameters)};
  const Result result =
      driver().launch_kernel_ex(&config, static_cast<FunctionHandle>(launch.function), parameters, nullptr);
  if (result != kSuccess) fail_launch("cuda", launch, meaning_of(result), name_of(driver(), result));
}

}  // namespace

std::unique_ptr<Vendor> make_cuda() { return std::make_unique<CudaVendor>(); }

}  // namespace isomer::gpu
