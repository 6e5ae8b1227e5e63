#include "judge.hpp"

#include "core/codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace isomer::recordings {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

bool equal(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// f32 values numbered in order, so that neighbours differ by one; both zeros are 0.
std::int64_t f32_position(double value) {
  const auto bits = std::bit_cast<std::int32_t>(static_cast<float>(value));
  const std::int64_t magnitude = bits & 0x7FFFFFFF;
  return bits < 0 ? -magnitude : magnitude;
}

double f32_distance(double a, double b) {
  if (!std::isfinite(a) || !std::isfinite(b)) return kFar;
  return static_cast<double>(std::abs(f32_position(a) - f32_position(b)));
}

/// The position of an int8 or e4m3fn value among those of its type.
std::int64_t step_position(DType type, double value) {
  if (type == DType::i8) return static_cast<std::int64_t>(value);
  std::uint8_t code = 0;
  core::encode(type, value, &code);
  return (code & 0x80) != 0 ? -(code & 0x7F) : code;
}

/// 0 for equal codes; for neighbours the f32 ulps from the quotient to the boundary between them. For int8
/// the reference itself says whether the quotient lies within the 4 ulps that the op's rule allows.
double step_distance(const Output& output, const Rule& rule, const oracle::Expected& expected,
                     const oracle::ExpectedTensor& answer, std::size_t i, double got) {
  const double want = answer.value[i];
  if (!std::isfinite(want) || !std::isfinite(got)) return kFar;
  if (std::abs(step_position(answer.dtype, want) - step_position(answer.dtype, got)) != 1) return kFar;
  if (answer.dtype == DType::i8) return answer.lenient[i] == 1 && rule.limit == 4 ? rule.limit : kFar;
  return f32_distance(output.quotient(expected, i), (want + got) / 2);
}

/// c·Σ_kb|a_s·b_s|·Σ|a·b| is what the reference's bound holds with c = 2^-20 beside u_out·|ref|.
double with_c(const oracle::ExpectedTensor& answer, std::size_t i, double c) {
  const double rounding = core::unit_roundoff(answer.dtype) * std::fabs(answer.value[i]);
  return rounding + c * 0x1p20 * (answer.bound[i] - rounding);
}

/// Distance of a recorded element in the rule's unit; it holds up to rule.limit.
double distance(const Output& output, const Rule& rule, const oracle::Expected& expected,
                const oracle::ExpectedTensor& answer, std::size_t i, double got) {
  const double want = answer.value[i], gap = std::fabs(got - want);
  switch (rule.kind) {
    case Rule::Kind::exact:
      return kFar;
    case Rule::Kind::ulp:
      return f32_distance(core::round_to(answer.dtype, want), got);
    case Rule::Kind::step:
      return step_distance(output, rule, expected, answer, i, got);
    case Rule::Kind::scaled:
      return std::isfinite(gap) ? gap / std::max(1.0, std::fabs(want)) : kFar;
    case Rule::Kind::tolerance:
      break;
  }
  if (!std::isfinite(gap)) return kFar;
  if (gap == 0) return 0;
  const double unit = rule.c_of_gemm ? with_c(answer, i, rule.limit) / rule.limit : answer.bound[i];
  return gap / unit;
}

/// Whether the rounding of an answer that the reference has in double hangs on the order of its sums: an
/// output's bound is at least 2^20 times what that order can do.
bool on_a_tie(const oracle::ExpectedTensor& answer, std::size_t i) {
  const double value = answer.value[i], noise = answer.bound[i] * 0x1p-24;
  return noise > 0 &&
         !equal(core::round_to(answer.dtype, value - noise), core::round_to(answer.dtype, value + noise));
}

Verdict judge(const Output& output, const Rule& rule, const oracle::Expected& expected,
              const oracle::ExpectedTensor& answer) {
  Verdict verdict;
  for (std::size_t i = 0; i < answer.value.size(); ++i) {
    ++verdict.elements;
    const double got = oracle::element(output.recorded, i);
    double want = core::round_to(answer.dtype, answer.value[i]), apart = kFar;
    if (answer.written[i] != 0)
      apart = equal(got, want) ? 0 : distance(output, rule, expected, answer, i, got);
    else if (output.before.defined() && equal(got, want = oracle::element(output.before, i)))
      apart = 0;
    if (!equal(got, want)) ++verdict.different;
    if (on_a_tie(answer, i)) ++verdict.undecided;
    verdict.worst = std::max(verdict.worst, apart);
    if (apart <= rule.limit) continue;
    if (verdict.outside++ == 0)
      verdict.first = fmt::format("{}, element {}: the original gave {:.9g}, the op {:.9g}{}", output.name, i,
                                  got, want, answer.written[i] != 0 ? "" : " (untouched)");
  }
  return verdict;
}

const oracle::ExpectedTensor& tensor_of(const oracle::Expected& expected, const std::string& name) {
  return *std::find_if(expected.tensors.begin(), expected.tensors.end(),
                       [&](const oracle::ExpectedTensor& tensor) { return tensor.name == name; });
}

}  // namespace

std::string Verdict::why() const {
  return fmt::format("{} of {} elements are outside the rule, by up to {:.4g} of its unit: {}", outside,
                     elements, worst, first);
}

Verdict judge(const Output& output, const Rule& rule, const oracle::Expected& expected) {
  return judge(output, rule, expected, tensor_of(expected, output.name));
}

Verdict judge(const Output& output, const Rule& rule, const oracle::Expected& expected,
              const Tensor& answer) {
  oracle::ExpectedTensor seen = tensor_of(expected, output.name);
  for (std::size_t i = 0; i < seen.value.size(); ++i) {
    const double given = oracle::element(answer, i), got = oracle::element(output.recorded, i);
    const double room = std::isfinite(given) ? seen.bound[i] : 0;
    seen.value[i] = std::isfinite(got) && room > 0 ? std::clamp(got, given - room, given + room) : given;
  }
  return judge(output, rule, expected, seen);
}

}  // namespace isomer::recordings
