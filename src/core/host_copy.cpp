#include "core/host_copy.hpp"

#include "core/queue_state.hpp"

#include <algorithm>
#include <cstring>

namespace isomer::core {

HostCopy::HostCopy(const Queue& queue, const Call& call) : args_(call.args_bytes), copy_(call) {
  std::memcpy(args_.data(), call.args_struct, args_.size());
  copy_.args_struct = args_.data();
  for (int i = 0; i < call.count; ++i) {
    // Every tensor of a call is a member of its args struct.
    const auto offset =
        reinterpret_cast<const std::byte*>(&call.tensor(i)) - static_cast<const std::byte*>(call.args_struct);
    auto* tensor = reinterpret_cast<Tensor*>(args_.data() + offset);
    copy_.tensors[static_cast<std::size_t>(i)] = tensor;
    const bool integers = tensor->dtype == DType::i32 || tensor->dtype == DType::i64;
    if (!tensor->defined() || tensor->empty() || !integers || tensor->device.type == DeviceType::cpu)
      continue;
    std::int64_t span = 1;
    for (int d = 0; d < tensor->rank; ++d) span += (tensor->size(d) - 1) * tensor->stride(d);
    content_.emplace_back(static_cast<std::size_t>(span * size_of(tensor->dtype)));
    QueueAccess::state(queue).fetch(content_.back().data(), tensor->data, content_.back().size());
    tensor->data = content_.back().data();
    tensor->device = Device{};
  }
}

}  // namespace isomer::core
