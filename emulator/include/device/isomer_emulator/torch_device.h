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

namespace isomer::emulator {

class TensorAllocator final : public c10::Allocator {
 public:
#if defined(ISOMER_EMULATOR_TORCH_COPYING_ALLOCATOR)  // PyTorch 2.2 and later
  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }
  c10::DataPtr allocate(std::size_t bytes) override {
#else
  c10::DataPtr allocate(std::size_t bytes) const override {
#endif
    void* p = nullptr;
    const int failed = isomer_emulator_malloc(&p, bytes, 2);
    TORCH_CHECK(failed == 0, "the emulated device has no ", bytes, " bytes left");
    return {p, p, &TensorAllocator::release, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &TensorAllocator::release; }

  /// In place from the moment that the first module with tensors is loaded.
  static bool install() {
    static TensorAllocator allocator;
    c10::SetCPUAllocator(&allocator, 100);
    return true;
  }

 private:
  static void release(void* p) { isomer_emulator_free(p); }
};

inline const bool tensor_allocator_installed = TensorAllocator::install();

/// What at::cuda and c10::hip call a stream. There is one.
template <class Handle>
class TensorStream {
 public:
  TensorStream() = default;
  explicit TensorStream(c10::Stream) {}
  Handle stream() const { return nullptr; }
  operator Handle() const { return nullptr; }
  c10::Stream unwrap() const { return c10::Stream(c10::Stream::DEFAULT, device()); }
  operator c10::Stream() const { return unwrap(); }
  c10::Device device() const { return c10::Device(c10::DeviceType::CPU); }
  c10::DeviceIndex device_index() const { return 0; }
  c10::StreamId id() const { return 0; }
  bool query() const { return true; }
  void synchronize() const {}
  friend bool operator==(TensorStream, TensorStream) { return true; }
  friend bool operator!=(TensorStream, TensorStream) { return false; }
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
  explicit TensorStreamGuard(c10::Stream) {}
  explicit TensorStreamGuard(TensorStream<Handle>) {}
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
