#pragma once

#include <isomer/queue.hpp>

#include "gpu/vendors.hpp"

#include <cstring>
#include <span>
#include <vector>

namespace isomer {

/// Memory of an emulated device, exactly as large as what it holds.
template <class T>
class Buffer {
 public:
  Buffer(Device device, std::span<const T> values)
      : device_(device), count_(values.size()), vendor_(*gpu::find_vendor(DeviceType::emulated)) {
    data_ = vendor_.allocate(device.index, values.size_bytes());
    std::memcpy(data_, values.data(), values.size_bytes());
  }
  Buffer(Device device, const std::vector<T>& values) : Buffer(device, std::span<const T>(values)) {}
  ~Buffer() { vendor_.release(device_.index, data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  Tensor tensor(DType dtype, std::initializer_list<std::int64_t> shape) const {
    return Tensor(data_, dtype, shape, device_);
  }
  std::vector<T> values() const {
    const T* first = static_cast<const T*>(data_);
    return {first, first + count_};
  }

 private:
  Device device_;
  std::size_t count_;
  gpu::Vendor& vendor_;
  void* data_;
};

}  // namespace isomer
