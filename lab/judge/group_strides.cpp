// Strides that the source says of a tensor which nothing is called: `y_stride_n`, where neither pointer nor
// label has a y.
#include "lab/ask/names/alike.hpp"
#include "lab/judge/group_replay.hpp"

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

}  // namespace

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
