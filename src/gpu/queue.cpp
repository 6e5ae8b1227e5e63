#include "core/sentence.hpp"
#include "gpu/binary.hpp"
#include "gpu/queue_state.hpp"
#include "gpu/vendors.hpp"

#include <algorithm>

namespace isomer {
namespace gpu {
namespace {

class DevicePool : public core::WorkspacePool {
 public:
  DevicePool(Vendor& vendor, int device) : vendor_(vendor), device_(device) {}
  ~DevicePool() override { release_all(); }
  void belongs_to(Stream stream) { stream_ = stream; }

 private:
  bool capturing() override { return vendor_.capturing(device_, stream_); }
  void* allocate(std::size_t bytes) override {
    if (capturing())
      core::fail(
          ErrorCode::device, vendor_.name(), ": a workspace of ", bytes,
          " bytes cannot be allocated while a graph is being captured; prepare the call before the capture");
    return vendor_.allocate(device_, bytes);
  }
  void release(void* data) noexcept override { vendor_.release(device_, data); }

  Vendor& vendor_;
  int device_;
  Stream stream_ = nullptr;
};

}  // namespace

QueueState::QueueState(Vendor& vendor, int device, QueueOptions options, Stream stream)
    : State(Device{vendor.device_type(), device}, std::move(options)),
      vendor_(vendor),
      facts_(vendor.facts(device)),
      kernels_(Kernels::of(vendor, device)),
      stream_(stream),
      owned_(stream == nullptr) {
  check_settings();
  auto workspace = std::make_shared<DevicePool>(vendor, device);
  if (owned_) stream_ = vendor.make_stream(device);
  workspace->belongs_to(stream_);
  pool = std::move(workspace);
}

QueueState::~QueueState() {
  pool.reset();
  for (const Zeroed& block : zeroed_) vendor_.release(device.index, block.data);
  if (owned_) vendor_.release_stream(device.index, stream_);
}

template <class Function>
void QueueState::watched(Function&& function) const {
  try {
    function();
  } catch (...) {
    const std::lock_guard lock(zeroed_mutex_);
    spoiled_ = true;
    throw;
  }
}

void QueueState::launch(const Launch& launch) const {
  watched([&] { vendor_.launch(device.index, stream_, launch); });
}

void QueueState::synchronize() const {
  watched([&] { vendor_.synchronize(device.index, stream_); });
}

void* QueueState::zeroed(std::size_t bytes) const {
  const std::lock_guard lock(zeroed_mutex_);
  if (spoiled_) {
    // A graph would zero it whenever it is run, and not now.
    if (vendor_.capturing(device.index, stream_))
      core::fail(ErrorCode::device, vendor_.name(),
                 ": the scratch cannot be zeroed after a failed launch while a graph is being captured; "
                 "prepare the call before the capture");
    for (const Zeroed& block : zeroed_) vendor_.fill(device.index, stream_, block.data, 0, block.bytes);
    spoiled_ = false;
  }
  if (!zeroed_.empty() && zeroed_.back().bytes >= bytes) return zeroed_.back().data;
  if (vendor_.capturing(device.index, stream_))
    core::fail(
        ErrorCode::device, vendor_.name(), ": a scratch of ", bytes,
        " bytes cannot be allocated while a graph is being captured; prepare the call before the capture");
  const std::size_t least = zeroed_.empty() ? 4096 : 2 * zeroed_.back().bytes, made = std::max(bytes, least);
  void* data = vendor_.allocate(device.index, made);
  if (data == nullptr)
    core::fail(ErrorCode::out_of_memory, "queue: no memory for a scratch of ", made,
               " bytes; free some, or make the call smaller");
  zeroed_.push_back({data, made});
  vendor_.fill(device.index, stream_, data, 0, made);
  return data;
}

void QueueState::fetch(void* host, const void* from, std::size_t bytes) const {
  if (vendor_.capturing(device.index, stream_))
    core::fail(ErrorCode::device, vendor_.name(),
               ": device data cannot be read and validated while a graph is being captured; capture from a "
               "queue that is not checked");
  vendor_.copy(device.index, stream_, host, from, bytes, Vendor::Copy::to_host);
}

}  // namespace gpu

Queue Queue::on(Device device, QueueOptions options, void* stream) {
  if (device.type == DeviceType::cpu) {
    if (stream != nullptr)
      core::fail(ErrorCode::bad_argument, "queue: stream is given, and the CPU has none");
    if (device.index != 0)
      core::fail(ErrorCode::device, "queue: a cpu of index 0 expected, got index ", device.index);
    return cpu(std::move(options));
  }
  gpu::Vendor* vendor = gpu::find_vendor(device.type);
  if (vendor == nullptr)
    core::fail(ErrorCode::device, "queue: ", to_string(device), ": this program does not link the emulator");
  if (const std::string reason = vendor->unavailable(); !reason.empty())
    core::fail(ErrorCode::device, "queue: ", to_string(device), ": ", reason);
  if (device.index < 0 || device.index >= vendor->devices())
    core::fail(ErrorCode::device, "queue: a device from ", vendor->name(), ":0 to ", vendor->name(), ":",
               vendor->devices() - 1, " expected, got ", to_string(device));
  return core::QueueAccess::make(
      std::make_shared<gpu::QueueState>(*vendor, device.index, std::move(options), stream));
}

Queue Queue::best(QueueOptions options) {
  for (gpu::Vendor* vendor : gpu::vendors())
    if (vendor->device_type() != DeviceType::emulated && vendor->unavailable().empty())
      return on(Device{vendor->device_type(), 0}, std::move(options));
  return cpu(std::move(options));
}

}  // namespace isomer
