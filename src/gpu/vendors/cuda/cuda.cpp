#include "core/sentence.hpp"
#include "gpu/vendors.hpp"
#include "gpu/vendors/cuda/driver.hpp"
#include "gpu/vendors/cuda/nvrtc.hpp"
#include "gpu/vendors/driver_vendor.hpp"

#include <cstring>

namespace isomer::gpu {
namespace {

using namespace cuda;

struct Interface {
  using Library = Driver;
  using Result = cuda::Result;
  using Current = Context;
  using ModuleHandle = cuda::ModuleHandle;
  using StreamHandle = cuda::StreamHandle;
  using EventHandle = cuda::EventHandle;
  using CaptureStatus = cuda::CaptureStatus;
  static constexpr Result kGood = kSuccess;
  static constexpr CaptureStatus kNoCapture = kCaptureNone;
  static constexpr unsigned kNonBlocking = kStreamNonBlocking, kTimed = kEventDefault;
  static constexpr const char *kVendor = "cuda", *kRuntime = "CUDA", *kPrefix = "cu";
  static constexpr const char *kStreamCreate = "StreamCreate", *kEventCreate = "EventCreate";
  static constexpr const char *kGetWord = "CtxGetCurrent", *kSetWord = "CtxSetCurrent";
  static Meaning meaning(Result result) { return meaning_of(result); }
  static constexpr auto kCount = &Driver::device_get_count;
  static constexpr auto kGet = &Driver::context_get_current;
  static constexpr auto kSet = &Driver::context_set_current;
};

/// A place's current is the device's primary context, made on first use and kept.
class CudaVendor : public DriverVendor<Interface> {
 public:
  DeviceType device_type() const override { return DeviceType::cuda; }

  std::string compiler_unavailable() override { return nvrtc().unavailable(); }
  Image compile(const Translation& translation) override { return cuda::compile(translation); }

  Function function(int device, Module module, const std::string& kernel) override {
    const OnThread here(*this, device);
    FunctionHandle function = nullptr;
    must("ModuleGetFunction",
         driver().module_get_function(&function, static_cast<ModuleHandle>(module), kernel.c_str()));
    int fixed = 0;
    must("FuncGetAttribute", driver().function_get_attribute(&fixed, kSharedSizeBytes, function));
    const int most = static_cast<int>(facts(device).shared_per_block) - fixed;
    must("FuncSetAttribute", driver().function_set_attribute(function, kMaxDynamicSharedSizeBytes, most));
    if (facts(device).has.clusters)
      must("FuncSetAttribute", driver().function_set_attribute(function, kNonPortableClusterSizeAllowed, 1));
    return function;
  }

  void* allocate(int device, std::size_t bytes) override {
    const OnThread here(*this, device);
    DevicePointer data = 0;
    const Result result = driver().memory_allocate(&data, bytes);
    if (result == kOutOfMemory) return nullptr;
    must("MemAlloc", result);
    return reinterpret_cast<void*>(data);
  }

  void release(int device, void* data) noexcept override {
    quietly(device, [&] { return driver().memory_free(reinterpret_cast<DevicePointer>(data)); });
  }

  void copy(int device, Stream stream, void* to, const void* from, std::size_t bytes, Copy kind) override {
    const OnThread here(*this, device);
    if (bytes > 0)
      must("MemcpyAsync",
           driver().copy_async(reinterpret_cast<DevicePointer>(to), reinterpret_cast<DevicePointer>(from),
                               bytes, static_cast<StreamHandle>(stream)));
    if (kind == Copy::to_host)
      must("StreamSynchronize", driver().stream_synchronize(static_cast<StreamHandle>(stream)));
  }

  void fill(int device, Stream stream, void* to, std::uint8_t value, std::size_t bytes) override {
    const OnThread here(*this, device);
    if (bytes > 0)
      must("MemsetD8Async", driver().fill_async(reinterpret_cast<DevicePointer>(to), value, bytes,
                                                static_cast<StreamHandle>(stream)));
  }

  void encode(int device, const TensorMap& map, const void* address, device::TensorMap& into) override;
  void launch(int device, Stream stream, const Launch& launch) override;

 private:
  const Driver& driver() const { return library(); }
  void open(Place& place, int device) override;
};

void CudaVendor::open(Place& place, int device) {
  DeviceHandle handle = 0;
  must("DeviceGet", driver().device_get(&handle, device));
  const auto attribute = [&](DeviceAttribute which) {
    int value = 0;
    must("DeviceGetAttribute", driver().device_get_attribute(&value, which, handle));
    return value;
  };
  char text[256] = {};
  must("DeviceGetName", driver().device_get_name(text, sizeof text, handle));
  std::size_t memory = 0;
  must("DeviceTotalMem", driver().device_total_memory(&memory, handle));
  const int capability = attribute(kComputeCapabilityMajor) * 10 + attribute(kComputeCapabilityMinor);
  Facts& facts = place.facts;
  facts.name = text;
  // From 9.0 on the code that uses all of a chip is for that chip alone.
  facts.architecture = core::say("sm_", capability, capability >= 90 ? "a" : "");
  facts.has = nvidia_capabilities(capability);
  facts.warp_size = attribute(kWarpSize);
  facts.multiprocessors = attribute(kMultiprocessorCount);
  facts.threads_per_block = attribute(kMaxThreadsPerBlock);
  facts.threads_per_multiprocessor = attribute(kMaxThreadsPerMultiprocessor);
  facts.registers_per_multiprocessor = attribute(kMaxRegistersPerMultiprocessor);
  facts.shared_per_block = attribute(kMaxSharedMemoryPerBlockOptin);
  facts.shared_per_multiprocessor = attribute(kMaxSharedMemoryPerMultiprocessor);
  facts.l2_bytes = attribute(kL2CacheSize);
  facts.memory_bytes = static_cast<std::int64_t>(memory);
  must("DevicePrimaryCtxRetain", driver().primary_context_retain(&place.current, handle));
}

void CudaVendor::encode(int device, const TensorMap& map, const void* address, device::TensorMap& into) {
  if (const std::string fault = tensor_map_fault(map, address); !fault.empty())
    core::fail(ErrorCode::unsupported, "cuda: a tensor map ", fault);
  const std::uint32_t steps[5] = {1, 1, 1, 1, 1};
  const TensorMapType type = map.element == DType::f16    ? kMapF16
                             : map.element == DType::bf16 ? kMapBf16
                             : map.element == DType::f32  ? kMapF32
                                                          : kMapU8;
  const TensorMapSwizzle swizzle = map.swizzle_bytes == 128  ? kSwizzle128
                                   : map.swizzle_bytes == 64 ? kSwizzle64
                                   : map.swizzle_bytes == 32 ? kSwizzle32
                                                             : kSwizzleNone;
  const TensorMapPromotion promotion = map.promotion_bytes == 256   ? kPromotion256
                                       : map.promotion_bytes == 128 ? kPromotion128
                                       : map.promotion_bytes == 64  ? kPromotion64
                                                                    : kPromotionNone;
  const OnThread here(*this, device);  // the driver asks for a context
  TensorMapObject encoded;
  must("TensorMapEncodeTiled", driver().tensor_map_encode_tiled(
                                   &encoded, type, static_cast<unsigned>(map.rank),
                                   const_cast<void*>(address), map.size.data(), map.stride_bytes.data() + 1,
                                   map.box.data(), steps, kInterleaveNone, swizzle, promotion, kFillZero));
  static_assert(sizeof encoded == sizeof into);
  std::memcpy(&into, &encoded, sizeof encoded);
}

void CudaVendor::launch(int device, Stream stream, const Launch& launch) {
  const OnThread here(*this, device);
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
  must(launch,
       driver().launch_kernel_ex(&config, static_cast<FunctionHandle>(launch.function), parameters, nullptr));
}

}  // namespace

std::unique_ptr<Vendor> make_cuda() { return std::make_unique<CudaVendor>(); }

}  // namespace isomer::gpu
