#include "lab/ask/adapting/kinds.hpp"

#include <fmt/format.h>
#include "lab/ask/nearness.hpp"

#include <algorithm>

namespace isomer::lab {
namespace {

using What = Passing::What;

}  // namespace

void judge_kinds(const Candidate& candidate, const CallRequest& request, Called& called) {
  const bool first = std::any_of(called.form.passings.begin(), called.form.passings.end(),
                                 [](const Passing& passing) { return passing.what == What::first; });
  if (!first) return;
  called.judgeable = false;
  std::string right = fmt::format("if only its first element is passed, {:.0f} % of the answer is right",
                                  100 * share_right(*called.given, called.trial));
  for (const std::string& line : called.port->original->sizes) {
    try {
      const auto one = given_by_line(*called.port, line + "1", called.dtypes);
      const Trial trial = try_call(candidate, called.form, *called.port, *one, request.settings);
      if (!trial.ok() || share_right(*one, trial) < 0.98) continue;
      right += fmt::format(", and for '{}' all of it", one->line);
      break;
    } catch (const Error&) {  // the op does not take it
    }
  }
  for (Finding& finding : called.findings)
    if (finding.code == Code::argument_kind) finding.evidence += "; " + right;
}

void adapt_to_rank(const Candidate& candidate, const CallRequest& request, Called& called) {
  // Of a stranger's function the dimension is a guess, so that nothing may be left to another fault.
  const double enough = is_stranger(request, *called.form.entry) ? 1 : 0.98;
  const auto strays = [](const Trial& trial, const std::string& buffer) {
    return std::any_of(trial.answer.seen.begin(), trial.answer.seen.end(), [&](const Seen& seen) {
      return (seen.kind == "out-of-bounds-read" || seen.kind == "index-overflow") && seen.buffer == buffer;
    });
  };
  if (!called.trial.ok()) return;
  const Form& form = called.form;
  const double before = share_right(*called.given, called.trial);
  if (before > 0.9) return;  // it strays, and reads what it should
  for (std::size_t i = 0; i < form.passings.size(); ++i) {
    const Parameter& p = form.entry->parameters[i];
    if (form.passings[i].what != What::role || p.kind != Parameter::Kind::pointer) continue;
    const auto role = static_cast<std::size_t>(form.passings[i].role);
    const Value& value = called.given->values[role];
    if (called.port->roles[role].output || !value.is_tensor() || !strays(called.trial, p.name)) continue;
    // As long as any of the call's numbers says.
    for (std::size_t j = 0; j < form.passings.size(); ++j) {
      if (form.entry->parameters[j].kind != Parameter::Kind::integer) continue;
      for (int at = value.tensor.rank; at > 0; --at) {
        Form longer = form;
        longer.passings[i].inserted = at;
        longer.passings[i].longer = std::make_shared<const Passing>(form.passings[j]);
        Trial trial = try_call(candidate, longer, *called.port, *called.given, request.settings);
        if (!trial.ok() || strays(trial, p.name) || share_right(*called.given, trial) < enough) continue;
        Finding finding;
        finding.code = Code::rank_refused;
        finding.argument = p.name;
        finding.evidence = fmt::format(
            "{} is {}, and is read beyond its end ({:.0f} % of the answer is right); with an additional "
            "dimension of {}, as {}, it is not, and {:.0f} % is right: the candidate invents that dimension",
            p.name, value.tensor.describe(), 100 * before, form.entry->parameters[j].name,
            describe(passed(longer, called.given->values)[i]), 100 * share_right(*called.given, trial));
        for (const Seen& seen : called.trial.answer.seen)
          if (finding.location.line == 0 && seen.buffer == p.name) finding.location = seen.place;
        finding.fix = fmt::format("read {} with the {} dimensions that it has", p.name, value.tensor.rank);
        called.findings.push_back(std::move(finding));
        called.form = std::move(longer);
        called.trial = std::move(trial);
        return;
      }
    }
  }
}

}  // namespace isomer::lab
