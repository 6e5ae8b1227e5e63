#include "lab/diagnose/patterns.hpp"

#include "core/codec.hpp"
#include "core/oracle/expected.hpp"
#include "lab/diagnose/call_form.hpp"
#include "lab/diagnose/call_stage.hpp"
#include "lab/diagnose/probes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace isomer::lab {
namespace {

bool close(const Compared& c, double want, double got) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (want == got) return true;
  return std::fabs(want - got) <= c.atol + c.rtol * std::fabs(want);
}

bool all_close(const Compared& c, const std::vector<double>& want, const std::vector<double>& got) {
  if (want.size() != got.size() || want.empty()) return false;
  for (std::size_t i = 0; i < want.size(); ++i)
    if (!close(c, want[i], got[i])) return false;
  return true;
}

Tensor permuted(const Tensor& tensor, const std::vector<int>& axes) {
  Tensor turned = tensor;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    turned.shape[i] = tensor.size(axes[i]);
    turned.strides[i] = tensor.stride(axes[i]);
  }
  return turned;
}

std::string axes_text(const std::vector<int>& axes) {
  std::string text;
  for (const int axis : axes) text += (text.empty() ? "" : ", ") + std::to_string(axis);
  return "[" + text + "]";
}

Finding named(std::string code, const Compared& c, std::string evidence, std::string fix) {
  Finding finding;
  finding.code = std::move(code);
  finding.argument = c.name;
  finding.evidence = std::move(evidence);
  finding.fix = std::move(fix);
  return finding;
}

/// got = ratio · want everywhere, the ratio not 1.
bool constant_ratio(const std::vector<double>& want, const std::vector<double>& got, double& ratio) {
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (!std::isfinite(want[i]) || !std::isfinite(got[i])) return false;
    sum += want[i] * got[i];
    squares += want[i] * want[i];
  }
  if (squares == 0) return false;
  ratio = sum / squares;
  double off = 0;
  for (std::size_t i = 0; i < want.size(); ++i) off = std::max(off, std::fabs(got[i] - ratio * want[i]));
  const double largest = std::sqrt(squares / static_cast<double>(want.size()));
  return ratio != 0 && std::fabs(ratio - 1) > 1e-3 && off < 2e-3 * std::fabs(ratio) * largest;
}

std::string where_and_how_much(const Compared& c, const std::vector<double>& want,
                               const std::vector<double>& got) {
  std::size_t wrong = 0, first = 0;
  double largest = 0;
  std::vector<std::size_t> steps(5);  // ulps of the wrong: 1, up to 4, up to 64, up to 4096, more
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (close(c, want[i], got[i])) continue;
    if (wrong++ == 0) first = i;
    const double error = std::fabs(want[i] - got[i]);
    largest = std::max(largest, std::isnan(error) ? INFINITY : error);
    const double ulp = std::max(2 * core::unit_roundoff(c.want.dtype) * std::fabs(want[i]), 1e-300);
    const double ulps = error / ulp;
    steps[ulps <= 1 ? 0 : ulps <= 4 ? 1 : ulps <= 64 ? 2 : ulps <= 4096 ? 3 : 4]++;
  }
  return fmt::format(
      "{} of {} elements differ, first element {} ({:.9g} instead of {:.9g}), largest error {:.4g}; by size "
      "of the error in "
      "ulp: up to 1: {}, 4: {}, 64: {}, 4096: {}, more: {}",
      wrong, want.size(), first, got[first], want[first], largest, steps[0], steps[1], steps[2], steps[3],
      steps[4]);
}

double default_rtol(DType dtype) {
  return dtype == DType::bf16  ? 1.6e-2
         : dtype == DType::f16 ? 1e-3
         : is_fp8(dtype)       ? 0.07
         : is_float(dtype)     ? 1e-5
                               : 0;
}

}  // namespace

Finding pattern_of(const Compared& c) {
  const std::vector<double> want = core::elements(c.want), got = core::elements(c.got);
  if (want.size() == got.size() && (want.empty() || all_close(c, want, got))) return {};
  if (want.size() != got.size())
    return named("shape-refused", c,
                 fmt::format("{} came back, the reference gives {}", c.got.describe(), c.want.describe()),
                 "give the reference's shape");
  std::vector<int> axes(static_cast<std::size_t>(c.want.rank));
  std::iota(axes.begin(), axes.end(), 0);
  while (c.want.rank <= 5 && std::next_permutation(axes.begin(), axes.end())) {
    const Tensor turned = permuted(c.want, axes);
    if (all_close(c, core::elements(turned), got))
      return named("layout-convention", c,
                   fmt::format("equals the reference with its axes in the order {}", axes_text(axes)),
                   "keep the reference's order of axes");
  }
  double ratio = 0;
  if (constant_ratio(want, got, ratio))
    return named("missing-scale", c,
                 fmt::format("is {:.6g} times the reference in all of {} elements", ratio, want.size()),
                 fmt::format("multiply by {:.6g}", 1 / ratio));
  if (c.want.dtype == DType::f32) {
    std::vector<double> half;
    for (const double value : want) half.push_back(core::round_to(DType::f16, value));
    bool equal = true;
    for (std::size_t i = 0; i < half.size(); ++i)
      equal = equal && (half[i] == got[i] || (std::isnan(half[i]) && std::isnan(got[i])));
    if (equal)
      return named("intermediate-precision", c, "equals the reference rounded to f16",
                   "keep the result in f32");
  }
  std::size_t first = want.size(), wrong = 0;
  for (std::size_t i = want.size(); i-- > 0;)
    if (!close(c, want[i], got[i])) {
      first = i;
      ++wrong;
    }
  if (first > 0 && wrong == want.size() - first && want.size() - first < want.size() / 2 + 1)
    return named(
        "tail-mask", c,
        fmt::format("the first {} of {} elements are right, all after them are wrong", first, want.size()),
        "cover the last, partial block");
  Finding finding =
      named("unexplained", c, where_and_how_much(c, want, got), "compare the formula with the reference's");
  finding.strength = Strength::nearest;
  return finding;
}

void replay(const Candidate& candidate, const Entry& entry, const Recording& recording, double rtol,
            double atol, Diagnosis& diagnosis) {
  int index = -1;
  bool guessed = false;
  for (const RecordedCall& call : recording.calls) {
    ++index;
    if (!call.raised.empty()) continue;
    const std::string line =
        fmt::format("{} call {}{}", call.function, index + 1, call.group.empty() ? "" : " of " + call.group);
    const Answer answer = candidate.call(entry, call.before, {});
    guessed = guessed || answer.launch_guessed;
    bool empty = false;
    for (const Value& value : call.before) empty = empty || (value.is_tensor() && value.tensor.empty());
    findings_of_device(answer, line, empty, false, diagnosis.findings);
    if (!answer.ok()) {
      Finding finding = finding_of_end(answer, line);
      if (entry.parameters.size() != call.before.size() && answer.end == Answer::End::not_callable) {
        finding.code = "argument-count";
        finding.fix = fmt::format("take the {} arguments that are passed", call.before.size());
      }
      add_once(diagnosis.findings, std::move(finding));
      if (diagnosis.call == Stage::not_reached) diagnosis.call = Stage::failed;
      continue;
    }
    if (diagnosis.call == Stage::not_reached) diagnosis.call = Stage::passed;
    const auto compare = [&](const std::string& name, const Value& want, const Value& got) {
      if (!want.is_tensor() || !got.is_tensor()) return;
      ++diagnosis.calls;
      const double relative = rtol > 0 ? rtol : default_rtol(want.tensor.dtype);
      Compared compared{name, want.tensor, got.tensor, relative, atol > 0 ? atol : relative / 100};
      Finding finding = pattern_of(compared);
      if (finding.code.empty()) return;
      finding.evidence = fmt::format("'{}': {} {}", line, name, finding.evidence);
      add_once(diagnosis.findings, std::move(finding));
      diagnosis.exec = Stage::failed;
    };
    for (std::size_t i = 0; i < call.after.size() && i < answer.arguments.size(); ++i)
      compare(call.after[i].name.empty() ? fmt::format("argument {}", i + 1) : call.after[i].name,
              call.after[i], answer.arguments[i]);
    for (std::size_t i = 0; i < call.returned.size(); ++i)
      compare("the returned tensor", call.returned[i],
              i < answer.returned.size() ? answer.returned[i] : Value());
  }
  // What a wrong launch does looks like faults of the kernel.
  const bool doubtful =
      std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), [](const Finding& finding) {
        for (const char* code : {"out-of-bounds-read", "out-of-bounds-write", "index-overflow", "race",
                                 "missing-barrier", "tail-mask", "crash", "timeout", "unexplained"})
          if (finding.code == code) return true;
        return false;
      });
  if (guessed && doubtful) {
    diagnosis.findings.clear();
    diagnosis.error = launch_is_unknown(entry.name);
    return;
  }
  if (diagnosis.call == Stage::passed && diagnosis.exec == Stage::not_reached && diagnosis.calls > 0)
    diagnosis.exec = diagnosis.findings.empty() ? Stage::passed : Stage::failed;
}

}  // namespace isomer::lab
