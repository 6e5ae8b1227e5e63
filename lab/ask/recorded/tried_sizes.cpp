#include "lab/ask/recorded/tried_sizes.hpp"

#include "lab/ask/passed_values.hpp"
#include "lab/ask/recorded/likely_sizes.hpp"
#include "oracle/expected.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace isomer::lab {
namespace {

using What = Passing::What;

std::int64_t ratio_in(const Passing& passing, const Replayed& replayed) {
  const Tensor& one = replayed.values[static_cast<std::size_t>(passing.role)].tensor;
  const Tensor& other = replayed.values[static_cast<std::size_t>(passing.less_role)].tensor;
  if (passing.dim >= one.rank || passing.less_dim >= other.rank) return 1;
  return one.size(passing.dim) / std::max<std::int64_t>(other.size(passing.less_dim), 1);
}

std::int64_t inner_of(const Tensor& tensor, int dim) {
  std::int64_t product = 1;
  for (int d = dim; d < tensor.rank; ++d) product *= tensor.size(d);
  return product;
}

/// The number that is passed so in a call.
std::int64_t number_of(const Passing& passing, const Replayed& replayed) {
  if (passing.what == What::computed)
    return replayed.values[static_cast<std::size_t>(passing.computed)].integer;
  const Tensor& tensor = replayed.values[static_cast<std::size_t>(passing.role)].tensor;
  const std::int64_t last = tensor.rank > 0 ? std::max<std::int64_t>(tensor.size(-1), 1) : 1;
  return passing.what == What::elements ? tensor.numel()
         : passing.what == What::rows   ? tensor.numel() / last
         : passing.what == What::inner  ? inner_of(tensor, passing.dim)
         : passing.what == What::ratio  ? ratio_in(passing, replayed)
         : passing.dim < tensor.rank
             ? tensor.size(passing.dim) * (passing.with == 0 ? 1 : tensor.size(passing.with)) - passing.less
             : 1;
}

/// How near an answer comes, 0 to 1: what has a fault is right nowhere, and yet near with the right sizes.
double nearness(const Tensor& want, const std::vector<double>& got) {
  const std::vector<double> elements = oracle::elements(want);
  double squares = 0, near = 0;
  for (const double each : elements) squares += std::isfinite(each) ? each * each : 0;
  if (got.size() != elements.size() || squares == 0) return 0;
  const double typical = std::sqrt(squares / static_cast<double>(elements.size()));
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double off = std::fabs(got[i] - elements[i]) / typical;
    if (off < 1) near += 1 - off;
  }
  return near / static_cast<double>(elements.size());
}

}  // namespace

std::vector<Passing> sizes_of_calls(const std::vector<Replayed>& calls) {
  std::vector<Passing> options;
  std::set<std::vector<std::int64_t>> known;
  const auto add = [&](const Passing& passing) {
    std::vector<std::int64_t> numbers;
    for (const Replayed& replayed : calls) numbers.push_back(number_of(passing, replayed));
    if (known.insert(numbers).second) options.push_back(passing);
  };
  for (std::size_t r = 0; r < calls.front().roles.size(); ++r) {
    const Value& value = calls.front().values[r];
    if (!value.is_tensor()) continue;
    Passing passing;
    passing.role = static_cast<int>(r);
    passing.what = What::elements;
    add(passing);
    passing.what = What::rows;
    add(passing);
    passing.what = What::size;
    for (passing.dim = 0; passing.dim < value.tensor.rank; ++passing.dim) add(passing);
    // Of calls that have more dimensions than others the last ones are the same.
    int least = value.tensor.rank;
    for (const Replayed& each : calls) least = std::min(least, each.values[r].tensor.rank);
    for (passing.dim = -1; passing.dim >= -least; --passing.dim) add(passing);
    passing.what = What::inner;
    for (passing.dim = 1; passing.dim + 1 < value.tensor.rank; ++passing.dim) add(passing);
    if (value.tensor.rank == 4 && least == 4) add(planes_of(static_cast<int>(r)));
    if (!are_offsets(calls, r)) continue;
    passing.what = What::size;
    passing.dim = 0;
    passing.less = 1;
    add(passing);
  }
  for (const Passing& passing : ratios_of_sizes(calls)) add(passing);
  // What the label computes from them, as the root of one.
  for (std::size_t place = calls.front().roles.size(); place < calls.front().values.size(); ++place) {
    if (!std::all_of(calls.begin(), calls.end(), [&](const Replayed& call) {
          return place < call.values.size() && call.values[place].kind == Value::Kind::integer &&
                 call.values[place].integer > 0;
        }))
      continue;
    Passing passing;
    passing.what = What::computed;
    passing.computed = static_cast<int>(place);
    add(passing);
  }
  return options;
}

Passing planes_of(int role) {
  Passing passing;
  passing.what = What::size;
  passing.role = role;
  passing.dim = 0;
  passing.with = -3;
  return passing;
}

std::vector<Passing> simple_sizes(const Replayed& call) {
  std::vector<Passing> list;
  for (std::size_t r = 0; r < call.roles.size(); ++r) {
    if (!call.values[r].is_tensor()) continue;
    Passing passing;
    passing.role = static_cast<int>(r);
    passing.what = What::size;
    for (passing.dim = 0; passing.dim < call.values[r].tensor.rank; ++passing.dim) list.push_back(passing);
    passing.what = What::elements;
    list.push_back(passing);
    passing.what = What::rows;
    list.push_back(passing);
  }
  return list;
}

std::vector<const Replayed*> by_size(const std::vector<Replayed>& calls) {
  constexpr std::size_t kTried = 4;  // recorded calls that say what a number is
  std::vector<const Replayed*> list;
  for (std::size_t i = 0; i < calls.size() && i < kTried; ++i) list.push_back(&calls[i]);
  const auto elements = [](const Replayed* replayed) {
    std::int64_t sum = 0;
    for (const Value& value : replayed->values)
      if (value.is_tensor()) sum += value.tensor.numel();
    return sum;
  };
  std::stable_sort(list.begin(), list.end(),
                   [&](const Replayed* a, const Replayed* b) { return elements(a) < elements(b); });
  return list;
}

Tried tried_with(const Approach& approach, const Form& form, const std::vector<const Replayed*>& calls) {
  Approach other = approach;
  other.form = form;
  other.settings.timeout_seconds = std::min(other.settings.timeout_seconds, 5.0);
  Tried tried;
  double& sum = tried.score;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const CallOutcome outcome = replay_once(other, with_poison(*calls[i]));
    if (!outcome.answer.ok()) sum -= 4;
    tried.keeps = tried.keeps && outcome.answer.ok();
    tried.right = tried.right && outcome.right();
    tried.ends = outcome.answer.end != Answer::End::timed_out && outcome.answer.end != Answer::End::too_large;
    if (lost(outcome)) break;
    std::size_t written = 0, changing = 0;
    double near = 0;
    for (std::size_t t = 0; t < outcome.got.size(); ++t) {
      const Tensor& before = calls[i]->outputs[t].before;
      const std::vector<double> old = before.defined() ? oracle::elements(before) : std::vector<double>();
      const std::vector<double> want = oracle::elements(calls[i]->outputs[t].want);
      // What the original leaves as it was, as most of a cache, need not be filled.
      for (std::size_t e = 0; e < outcome.got[t].size(); ++e) {
        if (e < old.size() && e < want.size() && want[e] == old[e]) continue;
        ++changing;
        written += e < old.size() ? outcome.got[t][e] != old[e]
                                  : !std::isnan(outcome.got[t][e]) && outcome.got[t][e] != -1;
      }
      near += nearness(calls[i]->outputs[t].want, outcome.got[t]);
    }
    sum += outcome.share();
    if (changing > 0) sum += 0.5 * static_cast<double>(written) / static_cast<double>(changing);
    tried.fills = tried.fills && 10 * written >= 9 * changing;
    if (!outcome.got.empty()) sum += 0.5 * near / static_cast<double>(outcome.got.size());
    for (const Seen& seen : outcome.answer.seen)
      tried.spoils = tried.spoils || seen.kind == "out-of-bounds-write";
    for (const Seen& seen : outcome.answer.seen)
      if (seen.kind.starts_with("out-of-bounds")) {
        // What is right everywhere has the sizes, and strays with them.
        sum -= outcome.right() && outcome.elements > 1 ? 0.2 : 2;
        tried.keeps = tried.right = false;
        break;
      }
    tried.got.push_back(outcome.got);
    // Once astray it is not followed through the larger calls.
    if (sum < 0) {
      sum -= 4 * static_cast<double>(calls.size() - i);
      tried.keeps = false;
      break;
    }
  }
  return tried;
}

std::vector<std::int64_t> numbers_passed(const Form& form, const std::vector<Replayed>& calls) {
  std::vector<std::int64_t> numbers;
  for (const Replayed& replayed : calls)
    for (const Value& value : passed(form, replayed.values))
      if (value.kind == Value::Kind::integer) numbers.push_back(value.integer);
  return numbers;
}

}  // namespace isomer::lab
