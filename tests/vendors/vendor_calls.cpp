#include "vendor_calls.hpp"

#include "ops/sin/sin.hpp"

#include <cmath>

namespace isomer {

SinOnDevice::SinOnDevice(const StandIn& on, int index, int elements)
    : on_(on), index_(index), queue_(Queue::on({on.device, index})), x_(static_cast<std::size_t>(elements)) {
  for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = 0.25f * static_cast<float>(i);
  const std::size_t bytes = x_.size() * sizeof(float);
  for (Tensor* tensor : {&args_.x, &args_.y}) {
    void* data = (*on_).allocate(index_, bytes);
    if (data == nullptr) throw Error(ErrorCode::out_of_memory, "the test's own tensors");
    *tensor = Tensor(data, DType::f32, {elements}, {on.device, index_});
  }
  (*on_).copy(index_, queue_.stream(), args_.x.data, x_.data(), bytes, gpu::Vendor::Copy::to_device);
}

SinOnDevice::~SinOnDevice() {
  for (const Tensor* tensor : {&args_.x, &args_.y}) (*on_).release(index_, tensor->data);
}

std::string SinOnDevice::run() {
  const std::size_t bytes = x_.size() * sizeof(float);
  (*on_).fill(index_, queue_.stream(), args_.y.data, 0xff, bytes);
  sin(queue_, args_);
  queue_.synchronize();
  std::vector<float> y(x_.size());
  (*on_).copy(index_, queue_.stream(), y.data(), args_.y.data, bytes, gpu::Vendor::Copy::to_host);
  const char* execute = std::getenv("ISOMER_STAND_IN_EXECUTE");
#ifdef ISOMER_HAS_EMULATOR
  if (execute == nullptr || std::string(execute) != "0")
    for (std::size_t i = 0; i < y.size(); ++i)
      if (!(std::abs(y[i] - std::sin(x_[i])) < 1e-6f)) return "wrong at " + std::to_string(i);
#endif
  static_cast<void>(execute);
  return "done from " + binary().source;
}

int SinOnDevice::capture(const char* function) {
  void* driver = ::dlopen(on_.driver, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<int (*)(void*)>(::dlsym(driver, function))(queue_.stream());
}

}  // namespace isomer
