#include "lab/ask/passed_values.hpp"
#include "lab/ask/recorded/binding.hpp"
#include "lab/ask/recorded/likely_sizes.hpp"
#include "oracle/expected.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>

namespace isomer::lab {
namespace {

using What = Passing::What;
constexpr std::size_t kTried = 4;  ///< recorded calls that say what a number is

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
  const Tensor& tensor = replayed.values[static_cast<std::size_t>(passing.role)].tensor;
  const std::int64_t last = tensor.rank > 0 ? std::max<std::int64_t>(tensor.size(-1), 1) : 1;
  return passing.what == What::elements ? tensor.numel()
         : passing.what == What::rows   ? tensor.numel() / last
         : passing.what == What::inner  ? inner_of(tensor, passing.dim)
         : passing.what == What::ratio  ? ratio_in(passing, replayed)
         : passing.dim < tensor.rank    ? tensor.size(passing.dim) - passing.less
                                        : 1;
}

/// Element counts, rows and sizes of the tensors; of those that are the same in every call one.
std::vector<Passing> sizes(const std::vector<Replayed>& calls) {
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
    if (!are_offsets(calls, r)) continue;
    passing.what = What::size;
    passing.dim = 0;
    passing.less = 1;
    add(passing);
  }
  for (const Passing& passing : ratios_of_sizes(calls)) add(passing);
  return options;
}

/// The first of the calls, small ones before large ones: most guesses go astray in the first.
std::vector<const Replayed*> by_size(const std::vector<Replayed>& calls) {
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

/// What a way to pass sizes comes to.
struct Tried {
  double score = 0;
  bool keeps = true;    ///< each call is answered and stays in its buffers
  bool fills = true;    ///< and fills its results
  bool spoils = false;  ///< what is not the call's is written
  bool right = true;    ///< and its answers are right
  bool ends = true;     ///< false: a call of it does not
  std::vector<std::vector<std::vector<double>>> got;
};

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

/// The whole numbers that a form passes, call by call.
std::vector<std::int64_t> numbers_passed(const Form& form, const std::vector<Replayed>& calls) {
  std::vector<std::int64_t> numbers;
  for (const Replayed& replayed : calls)
    for (const Value& value : passed(form, replayed.values))
      if (value.kind == Value::Kind::integer) numbers.push_back(value.integer);
  return numbers;
}

/// The tensors' sizes and element counts, however many of them are the same number.
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

/// Ways to pass sizes that may be meant though no answer is right with them.
class OtherWays {
 public:
  explicit OtherWays(const std::vector<Replayed>& calls) : calls_(calls) {}

  void add(const Form& form, double score) {
    if (known_.insert(numbers_passed(form, calls_)).second) list_.emplace_back(score, form);
  }

  /// Those that were added first, which are the likeliest, and the nearest of the others.
  std::vector<Form> best() && {
    constexpr std::size_t kFirst = 3, kMost = 4;
    if (list_.size() > kFirst)
      std::stable_sort(list_.begin() + kFirst, list_.end(),
                       [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<Form> forms;
    for (std::size_t i = 0; i < list_.size() && i < kMost; ++i) forms.push_back(std::move(list_[i].second));
    return forms;
  }

 private:
  const std::vector<Replayed>& calls_;
  std::set<std::vector<std::int64_t>> known_;
  std::vector<std::pair<double, Form>> list_;
};

SizesBy searched(Approach& approach, const std::vector<Replayed>& calls, const std::vector<int>& unsure,
                 std::vector<Form>& others) {
  // Ways of passing them, however many numbers there are; where one is likely, the others are of few tries.
  constexpr int kMostTried = 400, kMostBesideLikely = 100;
  constexpr std::size_t kMostLikely = 60;
  const std::vector<const Replayed*> tried = by_size(calls);
  double best = -INFINITY;
  // What never ends with one number rarely ends with another, and each such call takes seconds.
  constexpr int kMostEndless = 2;
  constexpr double kSecondsOfSearch = 20, kSecondsBesideLikely = 5;  // wrong sizes make large launches
  int attempts = 0, endless = 0;
  bool right = false, alone = true, in_order = false;
  std::optional<Form> likely;
  OtherWays known(calls);
  const auto begin = std::chrono::steady_clock::now();
  const auto attempt = [&](const Form& form) {
    const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (right || endless == kMostEndless ||
        passed > (likely && in_order ? kSecondsBesideLikely : kSecondsOfSearch) ||
        attempts++ >= (likely && in_order ? kMostBesideLikely : kMostTried))
      return Tried();
    Tried now = tried_with(approach, form, tried);
    right = now.right;
    endless += !now.ends;
    if (right) now.score = INFINITY;
    known.add(form, now.score);
    if (now.score > best) {
      best = now.score;
      approach.form = form;
    }
    return now;
  };
  // The likely ways first. Of a faulty candidate none is right, and an unlikely one may be nearer by chance.
  std::vector<LikelySizes> ways = likely_sizes(approach.form, calls, unsure);
  if (ways.size() > kMostLikely) ways.resize(kMostLikely);
  std::pair<int, std::vector<std::vector<std::vector<double>>>> first;
  // By names and order one is meant before all others.
  // A lone `n` that may be several of them is what fills the results.
  const bool open = unsure.size() == 1 && ways.size() > 1 && ways[1].against == 0;
  const bool decided =
      !ways.empty() && !open &&
      (ways.front().inverted == 0 || ways.size() == 1 ||
       std::pair(ways[0].against, ways[0].inverted) < std::pair(ways[1].against, ways[1].inverted));
  constexpr double kWhole = 100;
  double nearest_open = -INFINITY;
  const auto counts_a_result = [&](const Form& form) {
    const Passing& passing = form.passings[static_cast<std::size_t>(unsure.front())];
    return passing.what == What::elements &&
           std::any_of(calls.front().outputs.begin(), calls.front().outputs.end(),
                       [&](const Replayed::Output& each) { return each.role == passing.role; });
  };
  std::optional<Form> best_open, filled;
  for (const LikelySizes& way : ways) {
    const Tried now = attempt(way.form);
    if (right) return SizesBy::right_answer;
    // The likeliest of all is it where it keeps to its memory, whatever a fault leaves of the results.
    const bool likeliest = &way == &ways.front() && way.against == 0 && decided;
    // All elements of a result are what is meant where they are written, and nothing else, whatever is read.
    const bool whole = now.fills && !now.spoils && !now.got.empty() && counts_a_result(way.form);
    if (open && way.against == 0 && (now.keeps || whole) && now.score + (whole ? kWhole : 0) > nearest_open) {
      nearest_open = now.score + (whole ? kWhole : 0);
      best_open = way.form;
    }
    if (!filled && way.against == 0 && now.fills && !now.spoils && !now.got.empty()) filled = way.form;
    if (!now.keeps || now.got.empty() || (!now.fills && !likeliest)) continue;
    if (!likely) {
      likely = way.form;
      first = {way.against, now.got};
      // One number alone has no order.
      in_order = (way.inverted == 0 && unsure.size() > 1) || likeliest;
    } else if (!in_order && way.against == first.first && now.got != first.second) {
      alone = false;  // neither names nor their order say which of the two is meant, and they differ
    }
  }
  const std::vector<Passing> options = sizes(calls);
  const auto at = [&](std::size_t i) { return static_cast<std::size_t>(unsure[i]); };
  if (unsure.size() <= 2) {
    for (const Passing& one : options)
      for (const Passing& second : unsure.size() > 1 ? options : std::vector<Passing>{one}) {
        Form form = approach.form;
        form.passings[at(0)] = one;
        if (unsure.size() > 1) form.passings[at(1)] = second;
        attempt(form);
      }
  } else {
    for (int round = 0; round < 3; ++round)
      for (std::size_t i = 0; i + 1 < unsure.size(); ++i)
        for (const Passing& one : options)
          for (const Passing& second : options) {
            Form form = approach.form;
            form.passings[at(i)] = one;
            form.passings[at(i + 1)] = second;
            attempt(form);
          }
  }
  if (right) return SizesBy::right_answer;
  if (endless == kMostEndless && !likely && decided) likely = ways.front().form;
  if (best_open && (!likely || nearest_open > kWhole / 2)) likely = best_open;
  // What writes its results and nothing else may read astray by its own fault.
  if (!likely) likely = filled;
  others = std::move(known).best();
  if (!likely) return SizesBy::guess;
  approach.form = *likely;
  return alone ? SizesBy::likelihood : SizesBy::guess;
}

/// A size of a tensor that has more dimensions now, or less: the last one stays that, and the first of two is
/// what the others make together.
void of_this_rank(Passing& passing, int then, int now) {
  if (then == now || then < 1 || passing.what != Passing::What::size) return;
  if (passing.dim == then - 1 || passing.dim == -1)
    passing.dim = now - 1;
  else if (passing.dim == 0 && then == 2)
    passing.what = Passing::What::rows;
}

/// Sizes that were read off the first call, as they are in calls that have more dimensions.
void of_all_ranks(Form& form, const std::vector<Replayed>& calls) {
  for (Passing& passing : form.passings) {
    if (passing.what != What::size || passing.role < 0) continue;
    const auto role = static_cast<std::size_t>(passing.role);
    const int first = calls.front().values[role].tensor.rank;
    for (const Replayed& each : calls)
      if (each.values[role].is_tensor() && each.values[role].tensor.rank != first) {
        of_this_rank(passing, first, each.values[role].tensor.rank);
        if (passing.what == What::size && passing.dim == each.values[role].tensor.rank - 1) passing.dim = -1;
        break;
      }
  }
}

/// The one way that nothing speaks against, where it writes nothing astray.
bool take_likeliest(Approach& approach, const std::vector<Replayed>& calls, const std::vector<int>& unsure) {
  const std::vector<LikelySizes> ways = likely_sizes(approach.form, calls, unsure);
  if (ways.empty() || ways.front().against > 0 || (ways.size() > 1 && ways[1].against == 0)) return false;
  const Tried now = tried_with(approach, ways.front().form, by_size(calls));
  if (now.spoils || now.got.empty()) return false;
  approach.form = ways.front().form;
  return true;
}

}  // namespace

SizesBy find_sizes(Approach& approach, const std::vector<Replayed>& calls, const std::vector<int>& unsure,
                   const std::vector<int>& alike, bool by_initials, std::vector<Form>& tried) {
  if (unsure.empty()) return SizesBy::callers;
  of_all_ranks(approach.form, calls);
  if (alike.empty()) return searched(approach, calls, unsure, tried);
  std::vector<int> rest;
  for (const int each : unsure)
    if (std::find(alike.begin(), alike.end(), each) == alike.end()) rest.push_back(each);
  const Approach by_names = approach;
  if (rest.empty()) {
    const Tried now = tried_with(approach, approach.form, by_size(calls));
    if (now.right) return SizesBy::right_answer;
    // A name that is like the label's may still count more: rows that are all its leading dimensions.
    if (unsure.size() <= 2 || by_initials)
      if (const SizesBy by = searched(approach, calls, unsure, tried);
          by == SizesBy::right_answer || (by == SizesBy::likelihood && !now.fills))
        return by;
    approach = by_names;
    if (now.keeps) return SizesBy::likelihood;
    if (now.spoils && take_likeliest(approach, calls, unsure)) return SizesBy::likelihood;
  } else {
    const SizesBy by = searched(approach, calls, rest, tried);
    if (by == SizesBy::right_answer || (by == SizesBy::likelihood && !by_initials)) return by;
    if (by == SizesBy::likelihood) {
      const Form likely = approach.form;
      approach = by_names;
      if (searched(approach, calls, unsure, tried) == SizesBy::right_answer) return SizesBy::right_answer;
      approach.form = likely;
      return by;
    }
  }
  approach = by_names;
  const SizesBy by = searched(approach, calls, unsure, tried);
  if (by == SizesBy::right_answer || !rest.empty()) return by;
  // What strays with the sizes that all names say strays by its own fault.
  approach = by_names;
  return SizesBy::likelihood;
}

std::vector<SettledSize> settled_sizes(const Form& form, const std::vector<Replayed>& calls,
                                       const std::vector<int>& unsure) {
  std::vector<SettledSize> settled;
  const Replayed& first = calls.front();
  const auto name = [&](int role) {
    return role < 0 ? std::string() : first.roles[static_cast<std::size_t>(role)].name;
  };
  for (const int each : unsure) {
    const auto at = static_cast<std::size_t>(each);
    if (at >= form.passings.size() || at >= form.entry->parameters.size()) continue;
    const auto of = [&](const Passing& passing) {
      const int rank =
          passing.role < 0 ? 0 : first.values[static_cast<std::size_t>(passing.role)].tensor.rank;
      return SettledSize{
          form.entry->parameters[at].name, name(passing.role), name(passing.less_role), passing, rank, {}};
    };
    settled.push_back(of(form.passings[at]));
    const std::vector<std::int64_t> numbers = numbers_passed(form, calls);
    for (const Passing& passing : simple_sizes(first)) {
      Form other = form;
      other.passings[at] = passing;
      if (numbers_passed(other, calls) == numbers) settled.back().also.push_back(of(passing));
    }
  }
  return settled;
}

namespace {

/// The size as the calls have it whose roles these are; false where they have none of that name.
bool is_passed_as(Passing& passing, const SettledSize& settled, const Replayed& first) {
  const auto role_of = [&](const std::string& name) {
    const auto found = std::find_if(first.roles.begin(), first.roles.end(),
                                    [&](const Port::Role& role) { return role.name == name; });
    return found == first.roles.end() ? -1 : static_cast<int>(found - first.roles.begin());
  };
  Passing other = settled.passing;
  other.role = role_of(settled.tensor);
  if (other.role < 0 || !first.values[static_cast<std::size_t>(other.role)].is_tensor()) return false;
  if (!settled.other_tensor.empty() && (other.less_role = role_of(settled.other_tensor)) < 0) return false;
  of_this_rank(other, settled.rank, first.values[static_cast<std::size_t>(other.role)].tensor.rank);
  passing = other;
  return true;
}

}  // namespace

bool take_settled(Approach& approach, const std::vector<Replayed>& calls, const std::vector<int>& unsure,
                  const std::vector<SettledSize>& settled, bool& right) {
  constexpr int kMostTried = 24;
  Form form = approach.form;
  std::vector<std::pair<std::size_t, const SettledSize*>> places;
  for (const int each : unsure) {
    const auto at = static_cast<std::size_t>(each);
    const auto found = std::find_if(settled.begin(), settled.end(), [&](const SettledSize& size) {
      return at < form.entry->parameters.size() && size.parameter == form.entry->parameters[at].name;
    });
    if (found == settled.end() || at >= form.passings.size() ||
        !is_passed_as(form.passings[at], *found, calls.front()))
      return false;
    places.emplace_back(at, &*found);
  }
  const std::vector<const Replayed*> tried = by_size(calls);
  Tried now = tried_with(approach, form, tried);
  std::set<std::vector<std::int64_t>> known = {numbers_passed(form, calls)};
  int count = 0;
  for (const auto& [at, size] : places)
    for (const SettledSize& also : size->also) {
      Form other = form;
      if (now.right || count == kMostTried || !is_passed_as(other.passings[at], also, calls.front()) ||
          !known.insert(numbers_passed(other, calls)).second)
        continue;
      ++count;
      if (const Tried with = tried_with(approach, other, tried); with.right) {
        now = with;
        form = std::move(other);
      }
    }
  if (!now.keeps) return false;
  right = now.right;
  approach.form = std::move(form);
  return true;
}

std::vector<Form> same_in_all_but(const Form& form, const std::vector<Replayed>& calls,
                                  const Replayed& larger, const std::vector<int>& unsure) {
  constexpr std::size_t kMost = 24;
  std::vector<Replayed> all = calls;
  all.push_back(larger);
  const std::vector<std::int64_t> as_passed = numbers_passed(form, calls);
  std::vector<Form> forms = {form};
  std::set<std::vector<std::int64_t>> known = {numbers_passed(form, all)};
  for (const int each : unsure)
    for (std::size_t i = 0, count = forms.size(); i < count; ++i)
      for (const Passing& option : sizes(all)) {
        Form other = forms[i];
        other.passings[static_cast<std::size_t>(each)] = option;
        if (forms.size() <= kMost && numbers_passed(other, calls) == as_passed &&
            known.insert(numbers_passed(other, all)).second)
          forms.push_back(std::move(other));
      }
  forms.erase(forms.begin());
  return forms;
}

}  // namespace isomer::lab
