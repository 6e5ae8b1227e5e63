#include "core/sentence.hpp"
#include "gpu/vendors.hpp"
#include "gpu/vendors/forks.hpp"
#include "gpu/vendors/hip/hiprtc.hpp"
#include "gpu/vendors/hip/runtime.hpp"
#include "gpu/vendors/switched.hpp"

#include <array>
#include <mutex>

namespace isomer::gpu {
namespace {

using namespace hip;

/// A device whose facts have been read, at its first use.
struct Place {
  std::once_flag once;
  Facts facts;
};

class HipVendor : public Vendor {
 public:
  std::string_view name() const override { return "hip"; }
  DeviceType device_type() const override { return DeviceType::hip; }

  std::string unavailable() override {
    if (!runtime().unavailable.empty()) return runtime().unavailable;
    return forks() == runtime().forks ? "" : kForked;
  }

  int devices() override {
    int count = 0;
    if (unavailable().empty()) static_cast<void>(runtime().get_device_count(&count));
    return count;
  }

  const Facts& facts(int device) override { return place(device).facts; }

  std::string compiler_unavailable() override { return hiprtc().unavailable(); }
  Image compile(const Translation& translation) override { return hip::compile(translation); }

  Module load(int device, const Image& image) override {
    const Current current(*this, device);
    ModuleHandle module = nullptr;
    must("hipModuleLoadData", runtime().module_load_data(&module, image.bytes.data()));
    return module;
  }

  void unload(int device, Module module) noexcept override {
    quietly(device, [&] { return runtime().module_unload(static_cast<ModuleHandle>(module)); });
  }

  Function function(int device, Module module, const std::string& kernel) override {
    const Current current(*this, device);
    FunctionHandle function = nullptr;
    // A kernel may use all of the local data share as it is; there is nothing to opt into.
    must("hipModuleGetFunction",
         runtime().module_get_function(&function, static_cast<ModuleHandle>(module), kernel.c_str()));
    return function;
  }

  void* allocate(int device, std::size_t bytes) override {
    const Current current(*this, device);
    void* data = nullptr;
    const Result result = runtime().memory_allocate(&data, bytes);
    if (result == kOutOfMemory) return nullptr;
    must("hipMalloc", result);
    return data;
  }

  void release(int device, void* data) noexcept override {
    quietly(device, [&] { return runtime().memory_free(data); });
  }

  void copy(int device, Stream stream, void* to, const void* from, std::size_t bytes, Copy kind) override {
    const Current current(*this, device);
    const CopyKind direction = kind == Copy::to_device ? kHostToDevice
                               : kind == Copy::to_host ? kDeviceToHost
                                                       : kDeviceToDevice;
    if (bytes > 0)
      must("hipMemcpyAsync",
           runtime().copy_async(to, from, bytes, direction, static_cast<StreamHandle>(stream)));
    if (kind == Copy::to_host)
      must("hipStreamSynchronize", runtime().stream_synchronize(static_cast<StreamHandle>(stream)));
  }

  void fill(int device, Stream stream, void* to, std::uint8_t value, std::size_t bytes) override {
    const Current current(*this, device);
    if (bytes > 0)
      must("hipMemsetAsync", runtime().fill_async(to, value, bytes, static_cast<StreamHandle>(stream)));
  }

  Stream make_stream(int device) override {
    const Current current(*this, device);
    StreamHandle stream = nullptr;
    must("hipStreamCreateWithFlags", runtime().stream_create(&stream, kStreamNonBlocking));
    return stream;
  }

  void release_stream(int device, Stream stream) noexcept override {
    quietly(device, [&] { return runtime().stream_destroy(static_cast<StreamHandle>(stream)); });
  }

  void synchronize(int device, Stream stream) override {
    const Current current(*this, device);
    must("hipStreamSynchronize", runtime().stream_synchronize(static_cast<StreamHandle>(stream)));
  }

  bool capturing(int device, Stream stream) override {
    const Current current(*this, device);
    CaptureStatus status = kCaptureNone;
    // An invalidated capture may answer with an error: nothing may be loaded there either.
    return runtime().stream_is_capturing(static_cast<StreamHandle>(stream), &status) != kSuccess ||
           status != kCaptureNone;
  }

  Event make_event(int device) override {
    const Current current(*this, device);
    EventHandle event = nullptr;
    must("hipEventCreateWithFlags", runtime().event_create(&event, kEventDefault));
    return event;
  }

  void release_event(int device, Event event) noexcept override {
    quietly(device, [&] { return runtime().event_destroy(static_cast<EventHandle>(event)); });
  }

  void record(int device, Stream stream, Event event) override {
    const Current current(*this, device);
    must("hipEventRecord",
         runtime().event_record(static_cast<EventHandle>(event), static_cast<StreamHandle>(stream)));
  }

  double seconds_between(int device, Event first, Event second) override {
    const Current current(*this, device);
    must("hipEventSynchronize", runtime().event_synchronize(static_cast<EventHandle>(second)));
    float milliseconds = 0;
    must("hipEventElapsedTime", runtime().event_elapsed_time(&milliseconds, static_cast<EventHandle>(first),
                                                             static_cast<EventHandle>(second)));
    return milliseconds * 1e-3;
  }

  void encode(const TensorMap&, void*) override {
    core::fail(ErrorCode::unsupported, "hip: there are no tensor maps on AMD GPUs");
  }
  void launch(int device, Stream stream, const Launch& launch) override;

 private:
  static constexpr const char* kForked =
      "this process was forked after HIP had been initialised, which HIP does not survive; start a new "
      "process, or fork before the first GPU call";

  /// The device current on this thread, and afterwards whatever was.
  class Current : Switched<int, Result> {
   public:
    Current(HipVendor& vendor, int device)
        : Switched(
              vendor.runtime().get_device, vendor.runtime().set_device, vendor.ready(device),
              [&](Result result, bool set) { vendor.must(set ? "hipSetDevice" : "hipGetDevice", result); }) {}
  };

  const Runtime& runtime() const { return Runtime::get(); }

  void must(const char* call, Result result) const {
    if (result != kSuccess) fail_call("hip", call, meaning_of(result), name_of(runtime(), result));
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
    ready(device);
    if (device < 0 || device >= kMostDevices)
      core::fail(ErrorCode::device, "hip: at most ", kMostDevices, " devices are used, got hip:", device);
    Place& found = places_[static_cast<std::size_t>(device)];
    std::call_once(found.once, [&] { read(found.facts, device); });
    return found;
  }

  /// The device, if this process can use one.
  int ready(int device) {
    if (const std::string reason = unavailable(); !reason.empty())
      core::fail(ErrorCode::device, "hip: ", reason);
    return device;
  }

  void read(Facts& facts, int device) const;

  static constexpr int kMostDevices = 64;
  std::array<Place, kMostDevices> places_;
};

void HipVendor::read(Facts& facts, int device) const {
  DeviceHandle handle = 0;
  must("hipDeviceGet", runtime().device_get(&handle, device));
  const auto attribute = [&](DeviceAttribute which) {
    int value = 0;
    must("hipDeviceGetAttribute", runtime().device_get_attribute(&value, which, device));
    return value;
  };
  /// Not every release answers it.
  const auto attribute_or = [&](DeviceAttribute which, int otherwise) {
    int value = 0;
    const bool known = runtime().device_get_attribute(&value, which, device) == kSuccess && value > 0;
    return known ? value : otherwise;
  };
  char text[256] = {};
  must("hipDeviceGetName", runtime().device_get_name(text, sizeof text, handle));
  std::size_t memory = 0;
  must("hipDeviceTotalMem", runtime().device_total_memory(&memory, handle));
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
  const Current current(*this, device);
  if (launch.cluster != Dim3{1, 1, 1})
    core::fail(ErrorCode::unsupported, "hip: ", launch.kernel,
               " is launched in clusters, which AMD GPUs do not have");
  // Programmatic dependent launch is not there either; without it the kernel waits for the one before.
  void* parameters[] = {const_cast<void*>(launch.parameters)};
  const Result result =
      runtime().launch_kernel(static_cast<FunctionHandle>(launch.function), launch.grid[0], launch.grid[1],
                              launch.grid[2], launch.block[0], launch.block[1], launch.block[2],
                              launch.shared_bytes, static_cast<StreamHandle>(stream), parameters, nullptr);
  if (result != kSuccess) fail_launch("hip", launch, meaning_of(result), name_of(runtime(), result));
}

}  // namespace

std::unique_ptr<Vendor> make_hip() { return std::make_unique<HipVendor>(); }

}  // namespace isomer::gpu
