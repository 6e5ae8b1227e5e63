// PyTorch extensions on the emulated device: its tensors are CPU tensors, so what a source asks of a GPU
// (streams, guards, properties) answers for the one device there is. The rewriter turns `is_cuda()` and
// `kCUDA` in the user's text into their CPU twins. Tensors come from the guarded, poisoned memory that
// kernels are watched in.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/util/Exception.h>
#include <c10/util/Optional.h>

#include "abi.h"

namespace at {
/// at::checkSameGPU of two tensors: there is one device.
template <class... Checked>
void isomer_same_device(const Checked&...) {}
}  // namespace at

namespace isomer::emulator {

class TensorAllocator final : public c10::Allocator {
 public:
#if defined(ISOMER_EMULATOR_TORCH_COPYING_ALLOCATOR)  // PyTorch 2.2 and later
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
  c10::DataPtr allocate(std::size_t bytes) override{
#else
  c10::DataPtr allocate(std::size_t bytes) const override {
#endif
      void* p = nullptr;
  const int failed = isomer_emulator_malloc(&p, bytes, 2);
  TORCH_CHECK(failed == 0, "the emulated device has no ", bytes, " bytes left");
  return {p, p, &TensorAllocator::release, c10::Device(c10::DeviceType::CPU)};
} c10::DeleterFnPtr raw_deleter() const override {
  return &TensorAllocator::release;
}

/// In place from the moment that the first module with tensors is loaded.
static bool install() {
  static TensorAllocator allocator;
  c10::SetCPUAllocator(&allocator, 100);
  return true;
}

private:
static void release(void* p) { isomer_emulator_free(p); }
};  // namespace isomer::emulator

inline const bool tensor_allocator_installed = TensorAllocator::install();

/// What at::cuda and c10::hip call a stream. The current one is the caller's, which is not the default one.
template <class Handle>
class TensorStream {
 public:
  TensorStream() = default;  // the default stream
  explicit TensorStream(void* handle) : handle_(static_cast<Handle>(handle)) {}
  explicit TensorStream(c10::Stream stream)
      : handle_(reinterpret_cast<Handle>(static_cast<std::intptr_t>(stream.id()))) {}
  static TensorStream current() { return TensorStream(isomer_emulator_current_stream()); }
  /// As from PyTorch's pool, whose streams do not wait for the default one.
  static TensorStream pooled() {
    void* handle = nullptr;
    isomer_emulator_stream(&handle, 3);
    return TensorStream(handle);
  }
  static void set_current(TensorStream stream) { isomer_emulator_set_current_stream(stream.handle_); }
  Handle stream() const { return handle_; }
  operator Handle() const { return handle_; }
  c10::Stream unwrap() const { return c10::Stream(c10::Stream::UNSAFE, device(), id()); }
  operator c10::Stream() const { return unwrap(); }
  c10::Device device() const { return c10::Device(c10::DeviceType::CPU); }
  c10::DeviceIndex device_index() const { return 0; }
  c10::StreamId id() const { return static_cast<c10::StreamId>(reinterpret_cast<std::intptr_t>(handle_)); }
  bool query() const {
    synchronize();
    return true;
  }
  void synchronize() const { isomer_emulator_order(OrderStep::host_waits, handle_, nullptr, nullptr); }
  friend bool operator==(TensorStream a, TensorStream b) { return a.handle_ == b.handle_; }
  friend bool operator!=(TensorStream a, TensorStream b) { return a.handle_ != b.handle_; }

 private:
  Handle handle_ = nullptr;
};

/// What at::cuda and at::hip call an event.
template <class Handle, class Event>
class TensorEvent {
 public:
  using Stream = TensorStream<Handle>;
  TensorEvent() { isomer_emulator_event(&event_, 0); }
  explicit TensorEvent(unsigned) : TensorEvent() {}
  TensorEvent(const TensorEvent&) = delete;
  TensorEvent& operator=(const TensorEvent&) = delete;
  ~TensorEvent() { isomer_emulator_event(&event_, 1); }
  operator Event() const { return static_cast<Event>(event_); }
  Event event() const { return static_cast<Event>(event_); }
  bool isCreated() const { return true; }
  void record() { record(Stream::current()); }
  void record(const Stream& stream) {
    isomer_emulator_order(OrderStep::record, stream.stream(), nullptr, event_);
    isomer_emulator_event(&event_, 2);
    recorded_ = true;
  }
  void recordOnce(const Stream& stream) {
    if (!recorded_) record(stream);
  }
  void block(const Stream& stream) {
    if (recorded_) isomer_emulator_order(OrderStep::stream_waits, stream.stream(), nullptr, event_);
  }
  void synchronize() const {
    if (recorded_) isomer_emulator_order(OrderStep::host_waits_event, event_, nullptr, nullptr);
  }
  bool query() const {
    synchronize();
    return true;
  }
  float elapsed_time(const TensorEvent& other) const {
    float milliseconds = 0;
    isomer_emulator_event_elapsed(&milliseconds, event_, other.event_);
    return milliseconds;
  }

 private:
  void* event_ = nullptr;
  bool recorded_ = false;
};

class TensorGuard {
 public:
  TensorGuard() = default;
  explicit TensorGuard(c10::Device) {}
  explicit TensorGuard(c10::optional<c10::Device>) {}
  explicit TensorGuard(c10::DeviceIndex) {}
  TensorGuard(const TensorGuard&) = delete;
  TensorGuard& operator=(const TensorGuard&) = delete;
  void set_device(c10::Device) {}
  void reset_device(c10::Device) {}
  void set_index(c10::DeviceIndex) {}
  c10::Device original_device() const { return c10::Device(c10::DeviceType::CPU); }
  c10::Device current_device() const { return c10::Device(c10::DeviceType::CPU); }
};

template <class Handle>
class TensorStreamGuard {
 public:
  explicit TensorStreamGuard(c10::Stream stream) : TensorStreamGuard(TensorStream<Handle>(stream)) {}
  explicit TensorStreamGuard(TensorStream<Handle> stream)
      : original_(TensorStream<Handle>::current()), current_(stream) {
    TensorStream<Handle>::set_current(stream);
  }
  TensorStreamGuard(const TensorStreamGuard&) = delete;
  TensorStreamGuard& operator=(const TensorStreamGuard&) = delete;
  ~TensorStreamGuard() { TensorStream<Handle>::set_current(original_); }
  TensorStream<Handle> original_stream() const { return original_; }
  TensorStream<Handle> current_stream() const { return current_; }

 private:
  TensorStream<Handle> original_, current_;
};

}  // namespace isomer::emulator

// PyTorch declares it for device compilers only.
#if !defined(__CUDACC__) && !defined(__HIPCC__)
namespace at {
template <typename T>
struct RestrictPtrTraits {
  using PtrType = T* __restrict__;
};
}  // namespace at
#endif
