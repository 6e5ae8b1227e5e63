#include "lab/ask/recorded/binding.hpp"
#include "lab/ask/recorded/likely_sizes.hpp"
#include "lab/ask/recorded/round_axis.hpp"
#include "lab/ask/recorded/tried_sizes.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <set>

namespace isomer::lab {
namespace {

using What = Passing::What;

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

/// `spent`: seconds that were searched for sizes before, and now.
SizesBy searched(Approach& approach, const std::vector<Replayed>& calls, const std::vector<int>& unsure,
                 std::vector<Form>& others, double& spent) {
  // Ways of passing them, however many numbers there are; where one is likely, the others are of few tries.
  constexpr int kMostTried = 400, kMostBesideLikely = 200;
  constexpr std::size_t kMostLikely = 60;
  const std::vector<const Replayed*> tried = by_size(calls);
  double best = -INFINITY;
  // What never ends with one number rarely ends with another, and each such call takes seconds.
  constexpr int kMostEndless = 2;
  constexpr double kSecondsOfSearch = 20, kSecondsBesideLikely = 5;  // wrong sizes make large launches
  // Of all searches for one candidate; each has some of its own.
  constexpr double kSecondsOfAll = 24, kLeastSeconds = 2;
  const double left = std::max(kSecondsOfAll - spent, kLeastSeconds);
  int attempts = 0, endless = 0;
  bool right = false, alone = true, in_order = false;
  std::optional<Form> likely;
  OtherWays known(calls);
  const auto begin = std::chrono::steady_clock::now();
  const auto attempt = [&](const Form& form) {
    const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (right || endless == kMostEndless ||
        passed > std::min(left, likely && in_order ? kSecondsBesideLikely : kSecondsOfSearch) ||
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
  struct Spent {
    std::chrono::steady_clock::time_point begin;
    double& seconds;
    ~Spent() { seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); }
  } const add_spent{begin, spent};
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
  std::optional<Form> best_open, filled, by_axis;
  if (const std::optional<Form> form = in_order_round_axis(approach.form, calls.front(), unsure)) {
    const Tried now = attempt(*form);
    if (right) return SizesBy::right_answer;
    if (now.keeps && now.fills && !now.got.empty()) by_axis = form;
  }
  for (const LikelySizes& way : ways) {
    const Tried now = attempt(way.form);
    if (right) return SizesBy::right_answer;
    // The likeliest of all is it where it keeps to its memory, whatever a fault leaves of the results.
    // Of many numbers the order of the dimensions alone decides too little.
    constexpr std::size_t kMany = 5;
    const bool likeliest = &way == &ways.front() && way.against == 0 && decided && unsure.size() < kMany;
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
  const std::vector<Passing> options = sizes_of_calls(calls);
  const auto at = [&](std::size_t i) { return static_cast<std::size_t>(unsure[i]); };
  // One after the other first, each beside the best of what was tried.
  for (int round = 0; round < 2 && unsure.size() > 1; ++round)
    for (std::size_t i = 0; i < unsure.size(); ++i)
      for (const Passing& option : options) {
        Form form = approach.form;
        form.passings[at(i)] = option;
        attempt(form);
      }
  if (right) return SizesBy::right_answer;
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
  if (!likely) likely = by_axis ? by_axis : filled;
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
    if (passing.what != What::size || passing.role < 0 || passing.dim < 0) continue;
    const auto role = static_cast<std::size_t>(passing.role);
    const int first = calls.front().values[role].tensor.rank;
    const bool last = passing.dim == first - 1;
    for (const Replayed& each : calls)
      if (each.values[role].is_tensor() && each.values[role].tensor.rank != first) {
        of_this_rank(passing, first, each.values[role].tensor.rank);
        if (passing.what == What::size && last) passing.dim = -1;
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
                   const std::vector<int>& alike, bool by_initials, std::vector<Form>& tried, double& spent) {
  if (unsure.empty()) return SizesBy::callers;
  of_all_ranks(approach.form, calls);
  if (alike.empty()) return searched(approach, calls, unsure, tried, spent);
  std::vector<int> rest;
  for (const int each : unsure)
    if (std::find(alike.begin(), alike.end(), each) == alike.end()) rest.push_back(each);
  const Approach by_names = approach;
  if (rest.empty()) {
    const Tried now = tried_with(approach, approach.form, by_size(calls));
    if (now.right) return SizesBy::right_answer;
    // A name that is like the label's may still count more: rows that are all its leading dimensions.
    if (unsure.size() <= 2 || by_initials)
      if (const SizesBy by = searched(approach, calls, unsure, tried, spent);
          by == SizesBy::right_answer || (by == SizesBy::likelihood && !now.fills))
        return by;
    approach = by_names;
    if (now.keeps) return SizesBy::likelihood;
    if (now.spoils && take_likeliest(approach, calls, unsure)) return SizesBy::likelihood;
  } else {
    const SizesBy by = searched(approach, calls, rest, tried, spent);
    if (by == SizesBy::right_answer || (by == SizesBy::likelihood && !by_initials)) return by;
    if (by == SizesBy::likelihood) {
      const Form likely = approach.form;
      approach = by_names;
      if (searched(approach, calls, unsure, tried, spent) == SizesBy::right_answer)
        return SizesBy::right_answer;
      approach.form = likely;
      return by;
    }
  }
  approach = by_names;
  const SizesBy by = searched(approach, calls, unsure, tried, spent);
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
    // What the label computes has another place among the values of other calls.
    if (form.passings[at].what == What::computed) {
      const auto place = static_cast<std::size_t>(form.passings[at].computed);
      settled.push_back(
          {form.entry->parameters[at].name, first.values[place].name, "", form.passings[at], 0, {}, false});
      continue;
    }
    const auto of = [&](const Passing& passing) {
      const int rank =
          passing.role < 0 ? 0 : first.values[static_cast<std::size_t>(passing.role)].tensor.rank;
      return SettledSize{form.entry->parameters[at].name,
                         name(passing.role),
                         name(passing.less_role),
                         passing,
                         rank,
                         {},
                         false};
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
  if (other.what == What::computed) {
    const auto found =
        std::find_if(first.values.begin() + static_cast<std::ptrdiff_t>(first.roles.size()),
                     first.values.end(), [&](const Value& value) { return value.name == settled.tensor; });
    if (found == first.values.end() || found->kind != Value::Kind::integer) return false;
    other.computed = static_cast<int>(found - first.values.begin());
    passing = other;
    return true;
  }
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
  // A tensor that the other calls had not, as offsets of sequences, may say one of them.
  const Form by_others = form;
  count = 0;
  for (const auto& [at, size] : places)
    for (const Passing& option : now.right ? std::vector<Passing>() : sizes_of_calls(calls)) {
      Form other = by_others;
      other.passings[at] = option;
      if (now.right || count == kMostTried || !known.insert(numbers_passed(other, calls)).second) continue;
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
      for (const Passing& option : sizes_of_calls(all)) {
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
