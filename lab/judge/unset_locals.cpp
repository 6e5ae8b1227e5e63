#include "lab/judge/unset_locals.hpp"

#include "lab/evidence/probes/probes.hpp"
#include "lab/text/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

namespace isomer::lab {
namespace {

bool same_bits(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](const auto& one, const auto& other) {
           return one.size() == other.size() &&
                  (one.empty() || std::memcmp(one.data(), other.data(), one.size() * sizeof(double)) == 0);
         });
}

Finding read_before_set(std::string evidence) {
  Finding finding;
  finding.code = Code::uninitialised_read;
  finding.evidence = std::move(evidence);
  finding.fix =
      "give the variable its first value where it is declared: 0 for a sum, -INFINITY for a maximum";
  finding.decides = true;
  return finding;
}

}  // namespace

Form in_build(const Candidate& build, const Form& form) {
  Form other = form;
  for (const Entry& entry : build.entries())
    if (entry.name == form.entry->name && entry.form == form.entry->form &&
        entry.overload == form.entry->overload)
      other.entry = &entry;
  return other;
}

int line_of_unset_sum(const std::string& source) {
  static const std::string type =
      "\\b(?:float|double|int|unsigned|long|half|__half|__nv_bfloat16|float2|float4|T|scalar_t|acc_t|"
      "accscalar_t)";
  static const Pattern declared(type + "\\s+((?:\\w+(?:\\[\\w+\\])*\\s*,\\s*)*\\w+(?:\\[\\w+\\])*)\\s*;");
  static const Pattern name("[A-Za-z_]\\w*");
  for (const Match& match : declared.all(source)) {
    const std::string names = match[1];
    for (const Match& each : name.all(names)) {
      const std::string variable = each[0];
      // What is done with it first, but for another declaration of that name: it grows, or is given a value.
      const Pattern use("(" + type + "\\s+)?\\b" + variable +
                        "\\b((?:\\[[^\\]]*\\])*\\s*(?:[-+*]=|=[^=;][^;]*;)?)");
      const Pattern again("^[^=]*(?:[-+*]=|=[^;]*\\b" + variable + "\\b)");
      std::optional<Match> first = use.find(source, match.end());
      while (first && first->has(1)) first = use.find(source, first->end());
      if (!first || !again.found_in((*first)[2])) continue;
      const std::string_view before = match.before();
      return static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
    }
  }
  return 0;
}

std::shared_ptr<const Candidate> with_set_locals(const FilledLocals& filled, const Approach& approach,
                                                 const std::vector<Replayed>& calls,
                                                 const std::vector<CallOutcome>& outcomes, Finding& finding) {
  const std::shared_ptr<const Candidate> pattern = filled(Locals::pattern);
  if (pattern == nullptr) return nullptr;
  const auto asked_of = [&](const Candidate& build) {
    Approach other = approach;
    other.candidate = &build;
    other.form = in_build(build, approach.form);
    return other;
  };
  std::size_t other = 0, right = 0;
  std::string line;
  const Approach of_pattern = asked_of(*pattern);
  std::vector<bool> differs;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const CallOutcome now = replay_once(of_pattern, calls[i]);
    differs.push_back(now.answer.end != outcomes[i].answer.end || !same_bits(now.got, outcomes[i].got));
  }
  if (std::find(differs.begin(), differs.end(), true) == differs.end()) return nullptr;
  std::shared_ptr<const Candidate> zero = filled(Locals::zero);
  if (zero == nullptr) return nullptr;
  const Approach of_zero = asked_of(*zero);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const CallOutcome pattern_now = replay_once(of_pattern, calls[i]), now = replay_once(of_zero, calls[i]);
    right += now.right();
    // What differs between two calls of one build does so for another reason.
    if (!differs[i] || same_bits(pattern_now.got, now.got)) continue;
    if (!same_bits(replay_once(of_zero, calls[i]).got, now.got)) return nullptr;
    if (other++ == 0) line = calls[i].line;
  }
  if (other == 0) return nullptr;
  finding = read_before_set(fmt::format(
      "'{}': the answer depends on what a local variable holds before anything has set it: where such "
      "variables begin as zeros it is another one than where they begin as a pattern of bits, and {} of {} "
      "calls "
      "are right with zeros",
      line, right, calls.size()));
  return zero;
}

std::shared_ptr<const Candidate> with_set_locals(const FilledLocals& filled, Called& called,
                                                 const Questions& questions, Numbers& numbers,
                                                 Finding& finding) {
  const std::shared_ptr<const Candidate> pattern = filled(Locals::pattern);
  if (pattern == nullptr || !called.trial.ok()) return nullptr;
  const auto asked = [&](const Candidate& build) {
    return try_call(build, in_build(build, called.form), *called.port, *called.given, questions.settings);
  };
  const Trial with_pattern = asked(*pattern);
  if (with_pattern.ok() && same_bits(with_pattern.outputs, called.trial.outputs)) return nullptr;
  std::shared_ptr<const Candidate> zero = filled(Locals::zero);
  if (zero == nullptr) return nullptr;
  const Trial with_zero = asked(*zero);
  if (!with_zero.ok() || !same_bits(with_zero.outputs, asked(*zero).outputs)) return nullptr;
  if (with_pattern.ok() && same_bits(with_pattern.outputs, with_zero.outputs)) return nullptr;
  const Form form = in_build(*zero, called.form);
  Questions same = questions;
  same.before = &numbers;
  Numbers of_zero = explain_numbers(*zero, form, *called.port, same);
  finding =
      read_before_set(fmt::format("the answer depends on what a local variable holds before anything has set "
                                  "it: in '{}' {} of {} elements "
                                  "are wrong, and {} where such variables begin as zeros",
                                  called.given->line, numbers.explanation.plain.wrong,
                                  numbers.explanation.plain.elements, of_zero.explanation.plain.wrong));
  numbers = std::move(of_zero);
  called.form = form;
  return zero;
}

}  // namespace isomer::lab
