#include "lab/judge/sampled.hpp"

#include "oracle/expected.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace isomer::lab {
namespace {

bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// What an element is of which nobody has written anything, as it is read: of memory that is lent for a
/// result what a call is made with, of an argument what it had before.
class Unwritten {
 public:
  explicit Unwritten(const Replayed::Output& output) : dtype_(output.want.dtype) {
    if (output.before.defined()) before_ = oracle::elements(output.before);
  }
  bool operator()(std::size_t i, double value) const {
    if (i < before_.size() && is_same(value, before_[i])) return true;
    if (is_float(dtype_)) return std::isnan(value);
    return dtype_ == DType::u8 ? value == 255 : value == -1;
  }

 private:
  DType dtype_;
  std::vector<double> before_;
};

}  // namespace

bool may_be_right(const Replayed& call, const CallOutcome& sampled) {
  if (!sampled.answer.ok()) return false;
  for (std::size_t t = 0; t < call.outputs.size(); ++t) {
    const std::vector<double>& got = sampled.got[t];
    if (got.empty() && sampled.wrong[t] > 0) return false;
    const std::vector<double> want = oracle::elements(call.outputs[t].want);
    const Unwritten is_unwritten(call.outputs[t]);
    std::size_t unwritten = 0;
    for (std::size_t i = 0; i < got.size(); ++i)
      unwritten += is_unwritten(i, got[i]) && !is_same(got[i], want[i]);
    if (sampled.wrong[t] > unwritten) return false;
  }
  return true;
}

std::uint32_t blocks_that_tell(const Approach& approach, const Replayed& call) {
  constexpr std::uint32_t kFew[] = {1, 2, 6, 20};
  constexpr double kWorthIt = 0.7;  // of the time that all take
  Approach sampled = approach;
  sampled.settings.watch = false;
  const CallOutcome whole = replay_once(sampled, call);
  if (!whole.answer.ok() || whole.answer.launches != 1) return 0;
  for (const std::uint32_t blocks : kFew) {
    sampled.settings.blocks = blocks;
    const CallOutcome few = replay_once(sampled, call);
    if (!few.answer.ok() || few.answer.worked_seconds > kWorthIt * whole.answer.worked_seconds) return 0;
    for (std::size_t t = 0; t < call.outputs.size(); ++t) {
      if (few.got[t].size() != whole.got[t].size()) return 0;
      const Unwritten is_unwritten(call.outputs[t]);
      for (std::size_t i = 0; i < few.got[t].size(); ++i)
        if (!is_unwritten(i, few.got[t][i]) && !is_same(few.got[t][i], whole.got[t][i])) return 0;
    }
    if (!may_be_right(call, few)) return blocks;
  }
  return 0;
}

}  // namespace isomer::lab
