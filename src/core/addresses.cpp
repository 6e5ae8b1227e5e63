#include "core/addresses.hpp"

namespace isomer::core {
namespace {

bool same_layout(const Tensor& a, const Tensor& b) {
  if (a.dtype != b.dtype || a.rank != b.rank) return false;
  for (int i = 0; i < a.rank; ++i)
    if (a.size(i) != b.size(i) || (a.size(i) > 1 && a.stride(i) != b.stride(i))) return false;
  return true;
}

}  // namespace

Addresses::Addresses(const Call& call) {
  const std::vector<Arg>& args = call.contract->args;
  for (int i = 0; i < call.count; ++i) {
    const Tensor& t = call.tensor(i);
    if (!t.defined() || t.empty()) continue;
    const std::int64_t element = size_of(t.dtype);
    Reach reach{i, static_cast<std::uintptr_t>(element - 1), 0, element};
    for (int d = 0; d < t.rank; ++d)
      (t.stride(d) > 0 ? reach.high : reach.low) += (t.size(d) - 1) * t.stride(d) * element;
    reaches_.push_back(reach);
  }
  for (std::size_t a = 0; a < reaches_.size(); ++a)
    for (std::size_t b = a + 1; b < reaches_.size(); ++b) {
      const auto i = static_cast<std::size_t>(reaches_[a].tensor),
                 j = static_cast<std::size_t>(reaches_[b].tensor);
      const Tensor &first = *call.tensors[i], &second = *call.tensors[j];
      if ((role_in(call, i) == Role::in && role_in(call, j) == Role::in) || first.device != second.device)
        continue;
      const bool allowed = (role_in(call, i) != Role::in && args[i].may_alias == args[j].name) ||
                           (role_in(call, j) != Role::in && args[j].may_alias == args[i].name);
      pairs_.push_back({static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b),
                        allowed && same_layout(first, second)});
    }
}

void Addresses::check(const Call& call, Device device) const {
  std::array<std::uintptr_t, Call::kMaxArgs> low, high;
  for (std::size_t i = 0; i < reaches_.size(); ++i) {
    const Reach& reach = reaches_[i];
    const auto address = reinterpret_cast<std::uintptr_t>(call.tensor(reach.tensor).data);
    if (address == 0 || (address & reach.misaligned) != 0) return check_addresses(call, device);
    low[i] = address + static_cast<std::uintptr_t>(reach.low);
    high[i] = address + static_cast<std::uintptr_t>(reach.high);
  }
  for (const Pair& pair : pairs_) {
    if (high[pair.first] <= low[pair.second] || high[pair.second] <= low[pair.first]) continue;
    if (pair.may_be_same &&
        call.tensor(reaches_[pair.first].tensor).data == call.tensor(reaches_[pair.second].tensor).data)
      continue;
    // Strided views may lie between each other's elements: the exact answer, and its sentence.
    return check_addresses(call, device);
  }
}

}  // namespace isomer::core
