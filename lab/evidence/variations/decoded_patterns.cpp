#include "lab/evidence/variations/decoded_patterns.hpp"

#include "core/codec.hpp"
#include "lab/ask/passed_values.hpp"
#include "lab/evidence/variations/changed_answers.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace isomer::lab {
namespace {

constexpr int kPatterns = 256;
constexpr double kOneFactor = 0x1p-6;  ///< between the factors of one pattern, which a narrow output rounds

/// What the elements made of one bit pattern are.
struct OfPattern {
  std::size_t right = 0, wrong = 0;
  double factor = NAN;  ///< of the wrong ones, where it is one; NaN: none is known yet
  bool one_factor = true;
  double got = 0;  ///< of the last wrong one
};

/// The role of the 8-bit floats that have an output's shape; −1 where none, or several, have it.
int decoded_role(const Port& port, const Given& given) {
  int found = -1;
  for (std::size_t role = 0; role < port.roles.size(); ++role) {
    const Value& value = given.values[role];
    if (port.roles[role].output || !value.is_tensor() || !is_fp8(value.tensor.dtype)) continue;
    const auto& shape = given.plain.tensors.front().shape;
    const std::vector<std::int64_t> own(value.tensor.shape.begin(),
                                        value.tensor.shape.begin() + value.tensor.rank);
    if (own != shape) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(role);
  }
  return found;
}

void count_patterns(const Evidence& evidence, const Tensor& coded, const oracle::ExpectedTensor& want,
                    std::array<OfPattern, kPatterns>& patterns) {
  each_offset(coded, [&](std::int64_t flat, const std::byte* element) {
    const auto i = static_cast<std::size_t>(flat);
    if (evidence.given->open.front()[i] || !want.written[i]) return;
    OfPattern& pattern = patterns[static_cast<std::size_t>(*element)];
    const double got = evidence.outputs.front()[i];
    // What a large scale makes infinite, and a small one 0, says nothing of the pattern.
    const bool told = std::isnan(want.value[i]) || (want.value[i] != 0 && std::isfinite(want.value[i]));
    if (holds(want, i, got)) {
      pattern.right += told;
      return;
    }
    ++pattern.wrong;
    pattern.got = got;
    const double factor = got / want.value[i];
    if (std::isnan(pattern.factor)) pattern.factor = factor;
    pattern.one_factor = pattern.one_factor && std::isfinite(factor) &&
                         std::fabs(factor - pattern.factor) <= kOneFactor * std::fabs(pattern.factor);
  });
}

}  // namespace

std::optional<Finding> decoded_otherwise(const Port& port, const Numbers& numbers,
                                         const std::vector<std::string>& set) {
  if (numbers.evidence.front().given->plain.tensors.size() != 1) return std::nullopt;
  std::array<OfPattern, kPatterns> patterns;
  DType dtype = DType::none;
  int role = -1;
  for (const Evidence& evidence : numbers.evidence) {
    role = decoded_role(port, *evidence.given);
    if (role < 0) return std::nullopt;
    const Tensor& coded = evidence.given->values[static_cast<std::size_t>(role)].tensor;
    dtype = coded.dtype;
    count_patterns(evidence, coded,
                   varied(*evidence.given, *port.oracle, oracle::Variations(set)).tensors.front(), patterns);
  }
  std::string list;
  std::size_t wrong = 0, right = 0, subnormals = 0, nans = 0, elements = 0, one_factor = 0;
  double factor = NAN, got = 0;
  for (int code = 0; code < kPatterns; ++code) {
    const OfPattern& pattern = patterns[static_cast<std::size_t>(code)];
    if (pattern.wrong == 0) {
      right += pattern.right > 0;
      continue;
    }
    if (pattern.right > 0) return std::nullopt;
    const auto byte = static_cast<std::uint8_t>(code);
    const double value = core::decode(dtype, &byte);
    ++wrong;
    elements += pattern.wrong;
    nans += std::isnan(value);
    subnormals += dtype == DType::e4m3fn && std::fabs(value) < 0x1p-6;
    const bool as_before =
        std::isnan(factor) || std::fabs(pattern.factor - factor) <= kOneFactor * std::fabs(factor);
    one_factor += pattern.one_factor && as_before;
    if (!std::isnan(pattern.factor)) factor = pattern.factor;
    got = pattern.got;
    if (wrong <= 4) list += fmt::format("{}{:#04x}", list.empty() ? "" : ", ", code);
  }
  if (wrong == 0 || wrong > right || right < kPatterns / 4) return std::nullopt;
  if (wrong > 4) list += fmt::format(" and {} more", wrong - 4);
  Finding finding;
  finding.code = nans == wrong ? Code::nan_inf : Code::dtype_reinterpreted;
  finding.argument = port.roles[static_cast<std::size_t>(role)].name;
  finding.decides = true;
  finding.evidence = fmt::format(
      "elements of {} with the bit patterns {}{} are decoded otherwise wherever they are ({} of them), {}, "
      "and those "
      "with {} other patterns are right",
      finding.argument, list,
      nans == wrong         ? ", which are NaN,"
      : subnormals == wrong ? ", which are subnormal,"
                            : "",
      elements,
      nans == wrong         ? fmt::format("as {:.6g}", got)
      : one_factor == wrong ? fmt::format("as {:.6g} times what they are", factor)
                            : fmt::format("as something else"),
      right);
  finding.fix = nans == wrong
                    ? "let the pattern of NaN give NaN"
                    : "decode by the format's own rules: exponent 0 stands for 2^-6 without the leading 1";
  return finding;
}

}  // namespace isomer::lab
