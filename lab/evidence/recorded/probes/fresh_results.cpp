#include "lab/evidence/recorded/probes/probes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace isomer::lab {

void probe_fresh_results(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                         std::vector<Finding>& findings) {
  constexpr int kFill = 0xff;  // NaN, or −1
  if (!outcome.right() || outcome.elements == 0) return;
  Replayed other = replayed;
  bool any = false;
  for (std::size_t r = replayed.call->before.size(); r < other.values.size(); ++r) {
    Value& value = other.values[r];
    if (!value.is_tensor() || value.tensor.empty() || !approach.form.takes(static_cast<int>(r))) continue;
    value = deep_copy(value);
    std::memset(value.storage.get(), kFill, value.storage_bytes);
    any = true;
  }
  if (!any) return;
  const CallOutcome after = replay_once(approach, other);
  if (!after.answer.ok()) return;
  for (std::size_t t = 0; t < replayed.outputs.size(); ++t) {
    if (after.wrong[t] == 0 || after.got[t].size() != outcome.got[t].size()) continue;
    const double fill = replayed.outputs[t].want.dtype == DType::u8 ? 255 : -1;
    std::size_t changed = 0, kept = 0;
    for (std::size_t i = 0; i < after.got[t].size(); ++i) {
      if (same_value(after.got[t][i], outcome.got[t][i])) continue;
      ++changed;
      kept += !is_float(replayed.outputs[t].want.dtype) && after.got[t][i] == fill;
    }
    if (changed == 0) continue;
    Finding finding;
    const bool unwritten = 2 * kept >= changed;
    finding.code = unwritten ? Code::unwritten_output : Code::uninitialised_read;
    finding.argument = replayed.outputs[t].name;
    finding.evidence = fmt::format(
        "'{}': the answer is right only if the memory for {}, which the original does not clear, holds 0 "
        "before "
        "the call: filled otherwise, {} of {} elements are others",
        replayed.line, finding.argument, changed, after.got[t].size());
    finding.fix = unwritten
                      ? "write every element of the output"
                      : "set the output to 0 before anything is added to it, or store instead of adding";
    add_once(findings, std::move(finding));
  }
}

}  // namespace isomer::lab
