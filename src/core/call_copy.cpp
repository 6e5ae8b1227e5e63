#include "core/call_copy.hpp"

#include <cstring>

namespace isomer::core {

CallCopy::CallCopy(const Call& call) : args_(call.args_bytes), call_(call) {
  std::memcpy(args_.data(), call.args_struct, args_.size());
  call_.args_struct = args_.data();
  for (int i = 0; i < call.count; ++i) {
    // Every tensor of a call is a member of its args struct.
    const auto offset =
        reinterpret_cast<const std::byte*>(&call.tensor(i)) - static_cast<const std::byte*>(call.args_struct);
    call_.tensors[static_cast<std::size_t>(i)] = reinterpret_cast<Tensor*>(args_.data() + offset);
  }
}

}  // namespace isomer::core
