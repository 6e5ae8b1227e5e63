#include "lab/evidence/recorded/probes/probes.hpp"

#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace isomer::lab {
namespace {

constexpr int kFill = 0xff;  // NaN, or −1

/// The call with other contents in the memory for what the label returns; of no line where it takes none.
Replayed with_filled_results(const Approach& approach, const Replayed& replayed) {
  Replayed other = replayed;
  bool any = false;
  for (std::size_t r = replayed.call->before.size(); r < replayed.roles.size(); ++r) {
    Value& value = other.values[r];
    if (!value.is_tensor() || value.tensor.empty() || !approach.form.takes(static_cast<int>(r))) continue;
    value = deep_copy(value);
    std::memset(value.storage.get(), kFill, value.storage_bytes);
    any = true;
  }
  if (!any) other.line.clear();
  return other;
}

bool is_filled(DType dtype, double element) {
  return is_float(dtype) ? std::isnan(element) : element == (dtype == DType::u8 ? 255 : -1);
}

}  // namespace

bool probe_unwritten_results(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                             std::vector<Finding>& findings) {
  if (!outcome.answer.ok() || outcome.right()) return false;
  for (std::size_t t = 0; t < replayed.outputs.size(); ++t) {
    const Tensor& before = replayed.outputs[t].before;
    if (outcome.wrong[t] == 0 || !before.defined()) continue;
    const std::vector<double> held = oracle::elements(before);
    // Its own numbers say so, too.
    if (std::equal(held.begin(), held.end(), outcome.got[t].begin(), outcome.got[t].end(), same_value))
      return true;
  }
  const Replayed other = with_filled_results(approach, replayed);
  if (other.line.empty()) return false;
  const CallOutcome after = replay_once(approach, other);
  bool nothing = false;
  for (std::size_t t = 0; after.answer.ok() && t < replayed.outputs.size(); ++t) {
    const Replayed::Output& output = replayed.outputs[t];
    const std::vector<double> want = oracle::elements(output.want), &got = outcome.got[t];
    if (outcome.wrong[t] == 0 || got.size() != want.size() || after.got[t].size() != want.size()) continue;
    const std::vector<double> bounds =
        bounds_of(output.want, want, rtol_for(approach, output), approach.atol);
    std::size_t kept = 0, wrong = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
      const bool unwritten = got[i] == 0 && is_filled(output.want.dtype, after.got[t][i]);
      kept += unwritten;
      if (is_close(want[i], got[i], bounds[i])) continue;
      ++wrong;
      // What is written and wrong has another cause.
      if (!unwritten) wrong = want.size() + 1;
    }
    if (wrong == 0 || wrong > want.size()) continue;
    Finding finding;
    finding.code = Code::unwritten_output;
    finding.argument = output.name;
    finding.evidence = fmt::format(
        "'{}': {} of {} elements of {} hold after the call what the memory held before it, and all "
        "that are wrong are among them",
        replayed.line, kept, want.size(), output.name);
    finding.fix = "write every element of the output";
    nothing = nothing || kept == want.size();
    add_once(findings, std::move(finding));
  }
  return nothing;
}

void probe_fresh_results(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                         std::vector<Finding>& findings) {
  if (!outcome.right() || outcome.elements == 0) return;
  const Replayed other = with_filled_results(approach, replayed);
  if (other.line.empty()) return;
  const CallOutcome after = replay_once(approach, other);
  if (!after.answer.ok()) return;
  for (std::size_t t = 0; t < replayed.outputs.size(); ++t) {
    if (after.wrong[t] == 0 || after.got[t].size() != outcome.got[t].size()) continue;
    std::size_t changed = 0, kept = 0;
    for (std::size_t i = 0; i < after.got[t].size(); ++i) {
      if (same_value(after.got[t][i], outcome.got[t][i])) continue;
      ++changed;
      const DType dtype = replayed.outputs[t].want.dtype;
      kept += !is_float(dtype) && is_filled(dtype, after.got[t][i]);
    }
    if (changed == 0) continue;
    Finding finding;
    const bool unwritten = 2 * kept >= changed;
    finding.code = unwritten ? Code::unwritten_output : Code::uninitialised_read;
    finding.argument = replayed.outputs[t].name;
    finding.evidence = fmt::format(
        "'{}': the answer is right only if the memory for {}, which nobody clears for it, holds 0 "
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
