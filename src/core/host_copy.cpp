#include "core/host_copy.hpp"

#include "core/queue_state.hpp"

namespace isomer::core {

HostCopy::HostCopy(const Queue& queue, const Call& call) : copy_(call) {
  for (int i = 0; i < call.count; ++i) {
    Tensor& tensor = copy_.tensor(i);
    const bool integers = tensor.dtype == DType::i32 || tensor.dtype == DType::i64;
    if (!tensor.defined() || tensor.empty() || !integers || tensor.device.type == DeviceType::cpu) continue;
    std::int64_t span = 1;
    for (int d = 0; d < tensor.rank; ++d) span += (tensor.size(d) - 1) * tensor.stride(d);
    content_.emplace_back(static_cast<std::size_t>(span * size_of(tensor.dtype)));
    QueueAccess::state(queue).fetch(content_.back().data(), tensor.data, content_.back().size());
    tensor.data = content_.back().data();
    tensor.device = Device{};
  }
}

}  // namespace isomer::core
