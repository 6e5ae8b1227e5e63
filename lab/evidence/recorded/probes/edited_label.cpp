#include "lab/evidence/recorded/probes/edited_label.hpp"

#include "lab/text/pattern.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace isomer::lab {
namespace {

/// Edits that give one answer: more than these tell nothing apart.
constexpr std::size_t kAlike = 12;
/// An edit makes another answer where it is so many times the tolerance away from the right one.
constexpr double kAway = 8;

/// An element that the edits were asked for.
struct Sampled {
  std::size_t place;  ///< among an edit's answers
  double want, got, bound, rtol;
  std::size_t call;
};

/// Those of the calls that the candidate has answered.
std::vector<Sampled> sampled_elements(const AnsweredGroup& group, const Recording& recording) {
  const auto& [approach, calls, outcomes] = group;
  std::vector<Sampled> list;
  std::size_t place = 0;
  for (const EditedReference::Call& call : recording.edited.calls) {
    const auto replayed = std::find_if(calls.begin(), calls.end(), [&](const Replayed& each) {
      return each.call == &recording.calls[call.call];
    });
    for (const EditedReference::Output& output : call.outputs) {
      const std::size_t first = place;
      place += output.at.size();
      if (replayed == calls.end()) continue;
      const CallOutcome& outcome = outcomes[static_cast<std::size_t>(replayed - calls.begin())];
      if (!outcome.answer.ok() || lost(outcome)) continue;
      for (std::size_t t = 0; t < replayed->outputs.size(); ++t) {
        const Replayed::Output& its = replayed->outputs[t];
        const int index = output.returned ? its.returned : its.returned < 0 ? its.role : -1;
        if (index != static_cast<int>(output.index) || outcome.got[t].empty()) continue;
        const double rtol = rtol_for(approach, its);
        const std::vector<double> want = oracle::elements(its.want),
                                  bounds = bounds_of(its.want, want, rtol, approach.atol);
        for (std::size_t i = 0; i < output.at.size(); ++i) {
          const auto at = static_cast<std::size_t>(output.at[i]);
          if (at >= want.size() || (at < its.open.size() && its.open[at] != 0)) continue;
          list.push_back({first + i, want[at], outcome.got[t][at], bounds[at],
                          rtol > 0 ? rtol : rtol_of(its.want.dtype), call.call});
        }
      }
    }
  }
  return list;
}

/// The edit gives all that the candidate gives, and not what the label does.
bool gives(const EditedReference::Edit& edit, const std::vector<Sampled>& sampled) {
  bool other = false;
  for (const Sampled& each : sampled) {
    const double value = edit.answers[each.place];
    const double bound =
        std::isfinite(value) ? std::max(each.bound, each.rtol * std::fabs(value)) : each.bound;
    if (!is_close(value, each.got, bound)) return false;
    other = other || !is_close(each.want, value, kAway * each.bound);
  }
  return other;
}

}  // namespace

Finding of_edited_label(const AnsweredGroup& group, const Recording& recording, const std::string& label,
                        const std::vector<AnsweredGroup>* others) {
  Finding finding;
  // An edit that changes no number of the label's is no fault of who is right.
  if (recording.edited.edits.empty() || group.right()) return finding;
  std::vector<Sampled> sampled = sampled_elements(group, recording);
  if (sampled.empty()) return finding;
  // One wrong value everywhere, or none, is what much else gives, too.
  const bool several = std::any_of(sampled.begin(), sampled.end(), [&](const Sampled& each) {
    return !same_value(each.got, sampled.front().got);
  });
  if (!several) return finding;
  if (others != nullptr)
    for (const AnsweredGroup& other : *others) {
      if (other.calls.front().call == group.calls.front().call) continue;
      const std::vector<Sampled> its = sampled_elements(other, recording);
      sampled.insert(sampled.end(), its.begin(), its.end());
    }
  std::vector<const EditedReference::Edit*> list;
  for (const EditedReference::Edit& edit : recording.edited.edits)
    if (gives(edit, sampled)) list.push_back(&edit);
  if (list.empty() || list.size() > kAlike) return finding;
  const EditedReference::Edit& edit = *list.front();
  finding.code = code_named(edit.code).value_or(Code::wrong_expression);
  finding.strength = Strength::consistent;
  std::size_t asked = 1;
  for (std::size_t i = 1; i < sampled.size(); ++i) asked += sampled[i].call != sampled[i - 1].call;
  finding.evidence = fmt::format(
      "the answers are what the label gives with '{}' in place of '{}' in its line {} ({} compared, with {} "
      "edits of it)",
      edit.becomes, edit.was, edit.line, asked == 1 ? "one call was" : fmt::format("{} calls were", asked),
      recording.edited.edits.size());
  for (const EditedReference::Edit* other : list)
    finding.also_fit.push_back(code_named(other->code).value_or(Code::wrong_expression));
  if (list.size() > 1)
    finding.evidence += fmt::format("; they are so too with '{}' for '{}' in line {}", list[1]->becomes,
                                    list[1]->was, list[1]->line);
  finding.fix = fmt::format("compute '{}' as line {} of {} does, not '{}'", edit.was, edit.line,
                            label.empty() ? "the label" : label, edit.becomes);
  finding.decides = true;
  static const Pattern name("[A-Za-z_]\\w*");
  if (finding.code == Code::ignores_argument && name.is(edit.was)) finding.argument = edit.was;
  return finding;
}

}  // namespace isomer::lab
