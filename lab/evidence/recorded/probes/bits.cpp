#include "lab/evidence/recorded/probes/probes.hpp"

#include "core/codec.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace isomer::lab {
namespace {

using What = Passing::What;
/// Of an answer with fewer elements chance may be that nothing changes.
constexpr std::size_t kFewestBits = 8;

/// How a port makes its operands narrower before it multiplies them.
struct Narrowing {
  const char* said;
  float (*narrow)(float);
};

float keep(float value, int bits, bool nearest) {
  if (!std::isfinite(value)) return value;
  auto pattern = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t dropped = 23 - static_cast<std::uint32_t>(bits);
  if (nearest) pattern += ((1u << (dropped - 1)) - 1) + (pattern >> dropped & 1);
  return std::bit_cast<float>(pattern >> dropped << dropped);
}

/// The narrowest first: what 7 bits do not change, 10 do not either.
constexpr Narrowing kNarrowings[] = {
    {"cut off after 7 bits of mantissa, as bf16 has", [](float v) { return keep(v, 7, false); }},
    {"rounded to bf16", [](float v) { return keep(v, 7, true); }},
    {"cut off after 10 bits of mantissa, as TF32 has", [](float v) { return keep(v, 10, false); }},
    {"rounded to 10 bits of mantissa, as TF32 and f16 have", [](float v) { return keep(v, 10, true); }},
};

/// The elements made narrower, in place; whether that changed any.
bool narrow(Value& value, const Narrowing& how) {
  bool changed = false;
  auto* storage = static_cast<std::byte*>(value.storage.get());
  for (std::size_t at = 0; at + sizeof(float) <= value.storage_bytes; at += sizeof(float)) {
    const auto before = static_cast<float>(core::decode(DType::f32, storage + at));
    const float after = how.narrow(before);
    changed = changed || after < before || after > before;
    core::encode(DType::f32, static_cast<double>(after), storage + at);
  }
  return changed;
}

/// The same elements, and some of them are numbers: infinity stays infinity.
bool alike(const CallOutcome& a, const CallOutcome& b) {
  std::size_t compared = 0;
  for (std::size_t t = 0; t < a.got.size(); ++t) {
    if (t >= b.got.size() || a.got[t].size() != b.got[t].size()) return false;
    for (std::size_t i = 0; i < a.got[t].size(); ++i)
      if (a.got[t][i] != b.got[t][i] && !(std::isnan(a.got[t][i]) && std::isnan(b.got[t][i]))) return false;
    compared += static_cast<std::size_t>(
        std::count_if(a.got[t].begin(), a.got[t].end(), [](double each) { return std::isfinite(each); }));
  }
  return compared >= kFewestBits;
}

/// Most wrong elements are off by more than operands of 7 bits make them: what is only chosen by depends on
/// no last bits, and is not what is wrong.
bool are_far_off(const Replayed& replayed, const CallOutcome& outcome) {
  constexpr double kFar = 0.1;  // of the typical element
  std::size_t off = 0, far = 0;
  for (std::size_t t = 0; t < replayed.outputs.size(); ++t) {
    const std::vector<double> want = oracle::elements(replayed.outputs[t].want);
    if (outcome.got[t].size() != want.size() || !is_float(replayed.outputs[t].want.dtype)) continue;
    double squares = 0;
    for (const double each : want) squares += std::isfinite(each) ? each * each : 0;
    const double typical = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(want.size(), 1)));
    for (std::size_t i = 0; i < want.size(); ++i) {
      const double error = std::fabs(outcome.got[t][i] - want[i]);
      off += error > 1e-4 * typical;
      far += error > kFar * typical;
    }
  }
  return 2 * far > off;
}

}  // namespace

void probe_ignored_bits(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                        std::vector<Finding>& findings) {
  std::size_t wrong = 0;
  for (const std::size_t each : outcome.wrong) wrong += each;
  if (!outcome.answer.ok() || wrong < kFewestBits) return;
  // Places, and what else is chosen, are the same for numbers that are nearly so.
  if (std::none_of(replayed.outputs.begin(), replayed.outputs.end(),
                   [](const Replayed::Output& each) { return is_float(each.want.dtype); }))
    return;
  const bool ignored = std::any_of(findings.begin(), findings.end(), [](const Finding& f) {
    return f.code == Code::ignores_argument || f.code == Code::ignores_index;
  });
  if (ignored) return;  // then its last bits are nothing of their own
  if (are_far_off(replayed, outcome)) return;
  for (const Narrowing& how : kNarrowings) {
    std::string names;
    for (const Passing& passing : approach.form.passings) {
      if (passing.what != What::role || passing.cast != DType::none)
        continue;  // a cast takes the bits itself
      const auto role = static_cast<std::size_t>(passing.role);
      const Value& value = replayed.values[role];
      if (replayed.roles[role].output || !value.is_tensor() || value.tensor.dtype != DType::f32) continue;
      Replayed other = replayed;
      other.values[role] = deep_copy(value);
      if (!narrow(other.values[role], how)) continue;
      const CallOutcome after = replay_once(approach, other);
      if (after.answer.ok() && alike(outcome, after) && depends_on(approach, replayed, outcome, role))
        names += (names.empty() ? "" : ", ") + replayed.roles[role].name;
    }
    if (names.empty()) continue;
    Finding finding;
    finding.code = Code::intermediate_precision;
    finding.argument = names;
    finding.evidence =
        fmt::format("'{}': with {} {} beforehand no element of the answer changes, and {} of {} are wrong",
                    replayed.line, names, how.said, wrong, outcome.elements);
    finding.fix = "multiply the operands in f32, without rounding them";
    add_once(findings, std::move(finding));
    return;
  }
}

}  // namespace isomer::lab
