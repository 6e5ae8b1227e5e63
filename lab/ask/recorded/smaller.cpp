#include "lab/ask/recorded/smaller.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace isomer::lab {
namespace {

/// "q f16[31, 6, 96] in place of f16[500, 6, 96]" of the first argument that is another size.
std::string difference(const Replayed& smaller, const std::vector<Replayed>& calls) {
  for (const Replayed& call : calls)
    for (std::size_t i = 0; i < std::min(smaller.call->before.size(), call.call->before.size()); ++i) {
      const Value &less = smaller.call->before[i], &whole = call.call->before[i];
      if (call.call->function == smaller.call->function && less.is_tensor() && whole.is_tensor() &&
          less.tensor.rank == whole.tensor.rank && less.tensor.numel() < whole.tensor.numel())
        return fmt::format("{} {} instead of {}", smaller.roles[i].name, less.tensor.describe(),
                           whole.tensor.describe());
    }
  return "smaller sizes";
}

}  // namespace

std::vector<Replayed> take_smaller(std::vector<Replayed>& asked, const std::vector<Replayed>& calls) {
  std::vector<Replayed> taken;
  for (Replayed& each : asked) {
    if (each.call->asked != "smaller") continue;
    each.line = fmt::format("{} with {}", each.call->function, difference(each, calls));
    taken.push_back(std::move(each));
  }
  std::erase_if(asked, [](const Replayed& each) { return each.call->asked == "smaller"; });
  return taken;
}

std::vector<Replayed> take_larger(std::vector<Replayed>& asked) {
  const auto first = std::stable_partition(asked.begin(), asked.end(),
                                           [](const Replayed& each) { return each.call->asked != "larger"; });
  std::vector<Replayed> taken(std::make_move_iterator(first), std::make_move_iterator(asked.end()));
  asked.erase(first, asked.end());
  return taken;
}

std::vector<Replayed> stood_for(std::vector<Replayed>& calls, const std::vector<Replayed>& smaller) {
  constexpr std::size_t kOften = 2;  // half of every size is a good deal less
  std::size_t most = 0;
  for (const Replayed& each : smaller) most = std::max(most, bytes_of(each));
  std::vector<Replayed> large, rest;
  for (Replayed& each : calls) (bytes_of(each) >= kOften * most ? large : rest).push_back(std::move(each));
  calls = std::move(rest);
  calls.insert(calls.begin(), smaller.begin(), smaller.end());
  return large;
}

}  // namespace isomer::lab
