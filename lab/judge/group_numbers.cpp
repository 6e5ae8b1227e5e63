// What whole numbers of the candidate's are that the label's names do not say: sizes, flags, and strides of a
// tensor which nothing is called, `y_stride_n` where neither pointer nor label has a y.
#include "lab/ask/names/alike.hpp"
#include "lab/ask/recorded/tried_sizes.hpp"
#include "lab/judge/group_replay.hpp"
#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <algorithm>
#include <set>

namespace isomer::lab {
namespace {

/// Whether the names of a tensor's strides say that tensor.
bool are_named(const Form& form, int role, const Port::Role& of) {
  std::string pointer;
  for (std::size_t p = 0; p < form.passings.size(); ++p)
    if (form.passings[p].what == Passing::What::role && form.passings[p].role == role)
      pointer = form.entry->parameters[p].name;
  const std::vector<std::string> own = words_of_tensor(of.name), its = words_of_tensor(pointer);
  for (std::size_t p = 0; p < form.passings.size(); ++p) {
    if (form.passings[p].what != Passing::What::stride || form.passings[p].role != role) continue;
    for (const std::string& word : words_of_tensor(form.entry->parameters[p].name)) {
      const auto is = [&](const std::string& each) { return are_one_word(each, word); };
      if (std::any_of(own.begin(), own.end(), is) || std::any_of(its.begin(), its.end(), is)) return true;
    }
  }
  return false;
}

Form with_strides_of(Form form, int role, int other) {
  for (Passing& passing : form.passings) {
    if (passing.what == Passing::What::stride && passing.role == role) passing.role = other;
    if (passing.what == Passing::What::role && (passing.role == role || passing.role == other))
      passing.compact = passing.role == role;
  }
  return form;
}

Passing flag_of(bool set) {
  Passing passing;
  passing.what = Passing::What::constant;
  passing.constant = set ? 1 : 0;
  return passing;
}

/// Passes 0 to whole numbers that are called like a flag, which are no sizes. They are left out of `unsure`.
std::vector<int> take_flags(Form& form, std::vector<int>& unsure) {
  static const Pattern flag(
      "(?:is|use|has|do|with|apply|enable|no|add|return|store|save)_\\w+|\\w+_(?:flag|is_\\w+)|flag|backward|"
      "forward|inverse|reversed?|causal|transposed?|conj(?:ugate)?|interleaved|training|in_?place|affine|"
      "exclusive|inclusive|symmetric|normali[sz]ed?|accumulate|upper|lower|signed|descending|ascending|"
      "varlen");
  std::vector<int> flags;
  for (const int each : unsure)
    if (flag.is(lower_case(form.entry->parameters[static_cast<std::size_t>(each)].name)))
      flags.push_back(each);
  for (const int each : flags) {
    form.passings[static_cast<std::size_t>(each)] = flag_of(false);
    std::erase(unsure, each);
  }
  return flags;
}

}  // namespace

void GroupReplay::find_sizes_of(const Bound& bound, const std::vector<Replayed>& calls) {
  std::vector<int> unsure = take_computed(approach_.form, calls, bound.unsure);
  const std::vector<int> flags = take_flags(approach_.form, unsure);
  find_sizes_of(bound, calls, unsure);
  if (flags.empty() || sizes_by_ == SizesBy::right_answer) return;
  // What no name of the label's explains may be 1, where that is right.
  const GroupReplay without = *this;
  for (const int each : flags) {
    approach_.form.passings[static_cast<std::size_t>(each)] = flag_of(true);
    settled_ = without.settled_;
    if (unsure.empty())
      sizes_by_ = tried_with(approach_, approach_.form, by_size(calls)).right ? SizesBy::right_answer
                                                                              : without.sizes_by_;
    else
      find_sizes_of(bound, calls, unsure);
    if (sizes_by_ == SizesBy::right_answer) return;
    take_back(without);
  }
  sizes_by_ = SizesBy::guess;
}

void GroupReplay::find_sizes_of(const Bound& bound, const std::vector<Replayed>& calls,
                                const std::vector<int>& unsure) {
  bool right = false;
  if (!settled_.empty() && !unsure.empty() && take_settled(approach_, calls, unsure, settled_, right)) {
    sizes_by_ = right ? SizesBy::right_answer : SizesBy::likelihood;
  } else {
    std::vector<int> alike = bound.alike, others;
    for (const int each : unsure)
      if (std::find(alike.begin(), alike.end(), each) == alike.end()) others.push_back(each);
    const std::vector<int> initials = take_initials(approach_.form, calls, others);
    alike.insert(alike.end(), initials.begin(), initials.end());
    sizes_by_ =
        find_sizes(approach_, calls, unsure, alike, !initials.empty(), other_sizes_, *request_.searched);
  }
  unsure_ = unsure;
  if (sizes_by_ != SizesBy::guess && !unsure.empty()) {
    settled_ = settled_sizes(approach_.form, calls, unsure);
    for (SettledSize& each : settled_) each.by_right_answer = sizes_by_ == SizesBy::right_answer;
  }
}

void GroupReplay::try_other_strides(const std::vector<Replayed>& calls) {
  const auto right = [](const CallOutcome& each) { return each.right(); };
  if (std::all_of(outcomes_.begin(), outcomes_.end(), right)) return;
  const Replayed& first = calls.front();
  std::set<int> strided, passed_as_they_are;
  for (const Passing& passing : approach_.form.passings) {
    if (passing.what == Passing::What::stride) strided.insert(passing.role);
    if (passing.what == Passing::What::role &&
        first.values[static_cast<std::size_t>(passing.role)].is_tensor())
      passed_as_they_are.insert(passing.role);
  }
  for (const int role : strided) {
    const auto at = static_cast<std::size_t>(role);
    if (are_named(approach_.form, role, first.roles[at])) continue;
    for (const int other : passed_as_they_are) {
      if (strided.count(other) > 0 ||
          first.values[static_cast<std::size_t>(other)].tensor.rank != first.values[at].tensor.rank)
        continue;
      Approach way = approach_;
      way.form = with_strides_of(approach_.form, role, other);
      std::vector<CallOutcome> outcomes;
      for (const Replayed& each : calls) {
        outcomes.push_back(replay_once(way, each));
        if (!outcomes.back().right()) break;
      }
      if (outcomes.size() < calls.size() || !std::all_of(outcomes.begin(), outcomes.end(), right)) continue;
      approach_ = std::move(way);
      outcomes_ = std::move(outcomes);
      return;
    }
  }
}

}  // namespace isomer::lab
