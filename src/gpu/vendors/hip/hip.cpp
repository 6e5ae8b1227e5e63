#include "core/sentence.hpp"
#include "gpu/vendors.hpp"
#include "gpu/vendors/driver_vendor.hpp"
#include "gpu/vendors/hip/hiprtc.hpp"
#include "gpu/vendors/hip/runtime.hpp"

namespace isomer::gpu {
namespace {

using namespace hip;

struct Interface {
  using Library = Runtime;
  using Result = hip::Result;
  using Current = int;
  using ModuleHandle = hip::ModuleHandle;
  using StreamHandle = hip::StreamHandle;
  using EventHandle = hip::EventHandle;
  using CaptureStatus = hip::CaptureStatus;
  static constexpr Result kGood = kSuccess;
  static constexpr CaptureStatus kNoCapture = kCaptureNone;
  static constexpr unsigned kNonBlocking = kStreamNonBlocking, kTimed = kEventDefault;
  static constexpr const char *kVendor = "hip", *kRuntime = "HIP", *kPrefix = "hip";
  static constexpr const char *kStreamCreate = "StreamCreateWithFlags",
                              *kEventCreate = "EventCreateWithFlags";
  static constexpr const char *kGetWord = "GetDevice", *kSetWord = "SetDevice";
  static Meaning meaning(Result result) { return meaning_of(result); }
  static constexpr auto kCount = &Runtime::get_device_count;
  static constexpr auto kGet = &Runtime::get_device;
  static constexpr auto kSet = &Runtime::set_device;
};

/// A place's current is the device's number.
class HipVendor : public DriverVendor<Interface> {
 public:
  DeviceType device_type() const override { return DeviceType::hip; }

  std::string compiler_unavailable() override { return hiprtc().unavailable(); }
  Image compile(const Translation& translation) override { return hip::compile(translation); }

  Function function(int device, Module module, const std::string& kernel) override {
    const OnThread here(*this, device);
    FunctionHandle function = nullptr;
    // A kernel may use all of the local data share as it is; there is nothing to opt into.
    must("ModuleGetFunction",
         runtime().module_get_function(&function, static_cast<ModuleHandle>(module), kernel.c_str()));
    return function;
  }

  void* allocate(int device, std::size_t bytes) override {
    const OnThread here(*this, device);
    void* data = nullptr;
    const Result result = runtime().memory_allocate(&data, bytes);
    if (result == kOutOfMemory) return nullptr;
    must("Malloc", result);
    return data;
  }

  void release(int device, void* data) noexcept override {
    quietly(device, [&] { return runtime().memory_free(data); });
  }

  void copy(int device, Stream stream, void* to, const void* from, std::size_t bytes, Copy kind) override {
    const OnThread here(*this, device);
    const CopyKind direction = kind == Copy::to_device ? kHostToDevice
                               : kind == Copy::to_host ? kDeviceToHost
                                                       : kDeviceToDevice;
    if (bytes > 0)
      must("MemcpyAsync",
           runtime().copy_async(to, from, bytes, direction, static_cast<StreamHandle>(stream)));
    if (kind == Copy::to_host)
      must("StreamSynchronize", runtime().stream_synchronize(static_cast<StreamHandle>(stream)));
  }

  void fill(int device, Stream stream, void* to, std::uint8_t value, std::size_t bytes) override {
    const OnThread here(*this, device);
    if (bytes > 0)
      must("MemsetAsync", runtime().fill_async(to, value, bytes, static_cast<StreamHandle>(stream)));
  }

  void encode(int, const TensorMap&, const void*, device::TensorMap&) override {
    core::fail(ErrorCode::unsupported, "hip: there are no tensor maps on AMD GPUs");
  }
  void launch(int device, Stream stream, const Launch& launch) override;

 private:
  const Runtime& runtime() const { return library(); }
  void open(Place& place, int device) override;
};

void HipVendor::open(Place& place, int device) {
  place.current = device;
  Facts& facts = place.facts;
  DeviceHandle handle = 0;
  must("DeviceGet", runtime().device_get(&handle, device));
  const auto attribute = [&](DeviceAttribute which) {
    int value = 0;
    must("DeviceGetAttribute", runtime().device_get_attribute(&value, which, device));
    return value;
  };
  /// Not every release answers it.
  const auto attribute_or = [&](DeviceAttribute which, int otherwise) {
    int value = 0;
    const bool known = runtime().device_get_attribute(&value, which, device) == kSuccess && value > 0;
    return known ? value : otherwise;
  };
  char text[256] = {};
  must("DeviceGetName", runtime().device_get_name(text, sizeof text, handle));
  std::size_t memory = 0;
  must("DeviceTotalMem", runtime().device_total_memory(&memory, handle));
  facts.name = text;
  facts.architecture = runtime().architecture(device);
  if (facts.architecture.empty())
    core::fail(ErrorCode::device, "hip: ", runtime().architecture_name.function,
               " does not name the architecture of hip:", device, " (", facts.name,
               ") where it is expected; take another release of ROCm");
  facts.warp_size = attribute(kWarpSize);
  facts.multiprocessors = attribute(kMultiprocessorCount);
  facts.threads_per_block = attribute(kMaxThreadsPerBlock);
  facts.threads_per_multiprocessor = attribute(kMaxThreadsPerMultiprocessor);
  facts.registers_per_multiprocessor =
      attribute_or(kMaxRegistersPerMultiprocessor, facts.registers_per_multiprocessor);
  facts.shared_per_block = attribute(kMaxSharedMemoryPerBlock);
  facts.shared_per_multiprocessor =
      attribute_or(kMaxSharedMemoryPerMultiprocessor, static_cast<int>(facts.shared_per_block));
  facts.l2_bytes = attribute_or(kL2CacheSize, 0);
  facts.memory_bytes = static_cast<std::int64_t>(memory);
}

void HipVendor::launch(int device, Stream stream, const Launch& launch) {
  const OnThread here(*this, device);
  if (launch.cluster != Dim3{1, 1, 1})
    core::fail(ErrorCode::unsupported, "hip: ", launch.kernel,
               " is launched in clusters, which AMD GPUs do not have");
  // Programmatic dependent launch is not there either; without it the kernel waits for the one before.
  void* parameters[] = {const_cast<void*>(launch.parameters)};
  must(launch,
       runtime().launch_kernel(static_cast<FunctionHandle>(launch.function), launch.grid[0], launch.grid[1],
                               launch.grid[2], launch.block[0], launch.block[1], launch.block[2],
                               launch.shared_bytes, static_cast<StreamHandle>(stream), parameters, nullptr));
}

}  // namespace

std::unique_ptr<Vendor> make_hip() { return std::make_unique<HipVendor>(); }

}  // namespace isomer::gpu
