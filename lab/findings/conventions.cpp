#include "lab/findings/conventions.hpp"

#include "lab/text/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace isomer::lab {
namespace {

/// Variations that other houses have on purpose, and how to say it.
struct Known {
  std::string_view variation, said;
};
constexpr Known kKnown[] = {
    {"floor=zeros-stay", "the maximum has no floor, and a block of zeros stays so, with a scale of 0"},
    {"floor=none", "the maximum has no floor: a block of zeros is divided by a scale of 0, and is NaN"},
    {"floor=", "the least maximum of a block is another small number"},
    {"encoding=fnuz", "8-bit floats are e4m3fnuz, as on MI300"},
    {"max=240", "8-bit floats are scaled to 240, the largest e4m3fnuz"},
    {"quotient=x*(448/amax)", "values are multiplied by 448 / amax instead of divided by the scale"},
    {"quotient=(x*448)/amax", "values are multiplied by 448 and divided by amax"},
    {"quotient_floor=", "448 / amax has a least amax, and the scale has none"},
    {"quotient=x*(1/s)", "values are multiplied by the reciprocal of the scale"},
    {"scale=amax*(1/448)", "the scale is the maximum times the rounded 1 / 448"},
    {"scale=ue8m0", "scales are powers of two (scale_format ue8m0)"},
    {"ue8m0=log2", "the power of two is exp2(ceil(log2(s))) in f32"},
    {"s=transposed", "scales lie column by column"},
    {"scale=1/(448/amax)", "the scale is the reciprocal of 448 / amax"},
    {"zero_guard=zeros-1", "a block of zeros has scale 1"},
    {"zero_guard=scale-", "the scale has a least value of its own"},
    {"weightless=multiplied",
     "parts whose log-sum-exp is -inf are multiplied by 0, so that NaN in them stays"},
    {"weightless=multiplied-guarded",
     "parts whose log-sum-exp is -inf are multiplied by 0, so that NaN in them stays"},
    {"weightless=finite",
     "a log-sum-exp of -inf is taken for the least finite number: such a part is multiplied by 0, and two "
     "of them are averaged"},
    {"k_tail=floor", "whole blocks of 128 of K alone are multiplied, and rows of scales are as short"},
    {"expert=of-first-of-", "experts are taken by tiles of rows, so that groups begin at multiples of them"},
    {"padding=untouched", "rows of padding stay as they were"},
    {"a_s=transposed", "scales of a lie column by column"},
    {"b_s=transposed", "scales of both matrices lie column by column"},
    {"mid_out=", "results of parts lie in another order"},
    {"mid_lse=", "log-sum-exps of parts lie in another order"},
    {"log=base-2", "the log-sum-exp has base 2"},
    {"log=base-2-throughout", "log-sum-exps have base 2"},
};

const Known* known(const std::string& variation) {
  for (const Known& each : kKnown)
    if (variation == each.variation || ((each.variation.ends_with('=') || each.variation.ends_with('-')) &&
                                        variation.starts_with(each.variation)))
      return &each;
  return nullptr;
}

/// Makes conventions of the findings that are limits. That strides are ignored is one limit, of however many
/// tensors.
void as_limits(std::vector<Finding>& findings, const std::function<bool(const Finding&)>& is_limit,
               const char* fix) {
  Finding* first = nullptr;
  for (Finding& finding : findings) {
    if (finding.code != Code::assumes_contiguous || !is_limit(finding)) continue;
    if (first == nullptr) {
      first = &finding;
    } else if (!finding.argument.empty() && !first->argument.empty()) {
      first->argument += ", " + finding.argument;
      finding.code = Code::none;
    }
  }
  std::erase_if(findings, [](const Finding& each) { return each.code == Code::none; });
  for (Finding& finding : findings)
    if (is_limit(finding)) finding = as_limit(std::move(finding), fix);
}

}  // namespace

void tell_conventions(const std::string& op, std::vector<Finding>& findings) {
  Finding* first = nullptr;
  std::string said;
  const auto is_told = [&](std::string_view variation) {
    return std::any_of(findings.begin(), findings.end(), [&](const Finding& each) {
      return each.variation == variation ||
             std::find(each.variations.begin(), each.variations.end(), variation) != each.variations.end();
    });
  };
  // What guards blocks of zeros otherwise says what becomes of them.
  const auto said_of = [&](const Known& each) {
    const bool guarded = each.variation == "floor=none" &&
                         std::any_of(findings.begin(), findings.end(), [](const Finding& other) {
                           return other.variation.starts_with("zero_guard=zeros-1") ||
                                  other.variation.starts_with("zero_guard=scale-");
                         });
    return std::string(guarded ? "the maximum has no floor" : each.said);
  };
  const auto others = [&](const std::string& variation) {
    // A merge that takes powers of 2 and gives natural logarithms mixes the two.
    const bool mixed = op == "merge_attention" && variation == "log=base-2";
    // Results of parts that lie otherwise than their log-sum-exps are nobody's convention.
    const std::string_view of_out = "mid_out=", of_lse = "mid_lse=";
    const std::string order = variation.substr(std::min(variation.size(), of_out.size()));
    const bool alone = (variation.starts_with(of_out) && !is_told(std::string(of_lse) + order)) ||
                       (variation.starts_with(of_lse) && !is_told(std::string(of_out) + order));
    // Of b alone it is nobody's convention.
    const bool of_b = variation == "b_s=transposed" && !is_told("a_s=transposed");
    // 240 is the largest number of another format than the op's.
    const bool of_other_format = variation == "max=240" && !is_told("encoding=fnuz");
    return mixed || alone || of_b || of_other_format ? nullptr : known(variation);
  };
  const bool left = std::any_of(findings.begin(), findings.end(),
                                [](const Finding& each) { return each.code == Code::unexplained; });
  for (Finding& finding : findings) {
    const Known* each = finding.variation.empty() ? nullptr : others(finding.variation);
    // Nothing is a convention that explains only a part, unless the rest is told.
    if (each == nullptr || (finding.strength == Strength::nearest && !left && !finding.whole)) continue;
    said += (said.empty() ? "" : "; ") + said_of(*each);
    finding.code = Code::convention;
    finding.argument.clear();
    finding.fix =
        "none is needed where its callers expect this; a port of the op's original needs the op's way";
    if (first == nullptr) first = &finding;
  }
  if (first == nullptr) return;
  first->evidence = said + ": " + first->evidence;
  bool told = false;
  std::erase_if(findings, [&](const Finding& each) {
    if (each.code != Code::convention || each.variation.empty()) return false;
    return std::exchange(told, true);
  });
}

Finding as_limit(Finding finding, const char* fix) {
  finding.evidence = fmt::format("a limit ({}): {}", name_of(finding.code), finding.evidence);
  finding.code = Code::convention;
  finding.fix = fix;
  return finding;
}

void tell_limits(std::vector<Finding>& findings) {
  constexpr Code kLimits[] = {Code::empty_input,  Code::assumes_contiguous, Code::dtype_refused,
                              Code::rank_refused, Code::shape_refused,      Code::layout_convention,
                              Code::result_dtype};
  // Nobody calls it in the original's order, or by the original's name.
  std::erase_if(findings, [](const Finding& each) {
    return each.code == Code::argument_order || each.code == Code::result_order ||
           each.code == Code::argument_count;
  });
  const auto is_limit = [&](const Finding& finding) {
    return std::find(std::begin(kLimits), std::end(kLimits), finding.code) != std::end(kLimits) &&
           finding.subject == Subject::candidate && !finding.decides &&
           finding.strength != Strength::nearest && finding.variations.empty();
  };
  as_limits(findings, is_limit,
            "none is needed where its callers never ask for this; a port of the op's original needs it");
}

void tell_limits_of_made(std::vector<Finding>& findings) {
  as_limits(
      findings,
      [](const Finding& finding) {
        return finding.made && (finding.code == Code::assumes_contiguous ||
                                finding.code == Code::shape_refused || finding.code == Code::ignores_offset);
      },
      "none is needed where its callers never ask for this");
}

bool tell_wrapped(std::vector<Finding>& findings) {
  const auto of_the_call = [](const Finding& each) {
    return each.subject == Subject::candidate && !is_remark(each) && !each.decides &&
           (each.code == Code::argument_order || each.code == Code::argument_count ||
            each.code == Code::keyword_name);
  };
  const auto is_fault = [](const Finding& each) {
    return each.subject == Subject::candidate && !is_remark(each);
  };
  if (std::none_of(findings.begin(), findings.end(), of_the_call) ||
      std::any_of(findings.begin(), findings.end(),
                  [&](const Finding& each) { return is_fault(each) && !of_the_call(each); }))
    return false;
  as_limits(findings, of_the_call, "none is needed where a wrapper passes it so");
  return true;
}

void tell_narrow_integers(const std::string& source, std::vector<Finding>& findings) {
  static const Pattern says("(?i)(?://|/\\*|^\\s*\\*)[^\\n]*(?:\\bu?int32(?:_t)?\\b|\\b32[- ]bit|\\bi32\\b)");
  if (!says.found_in(source)) return;
  as_limits(
      findings, [](const Finding& finding) { return finding.narrow_integers; },
      "none is needed where its callers pass 32-bit numbers");
}

void tell_benign_races(std::vector<Finding>& findings) {
  bool told = false;
  for (Finding& finding : findings) {
    if (!finding.same_store || is_remark(finding)) continue;
    finding.code = Code::benign_race;
    finding.evidence += "; the answer is the same in every order of threads that was tried";
    finding.fix = "let one thread store it, so that nothing depends on equal values";
  }
  std::erase_if(findings, [&](const Finding& each) {
    return each.code == Code::benign_race && std::exchange(told, true);
  });
}

void tell_absent_lanes(std::vector<Finding>& findings) {
  const bool alone = std::all_of(findings.begin(), findings.end(), [](const Finding& each) {
    return each.absent_lane || is_remark(each) || each.subject != Subject::candidate;
  });
  if (!alone) return;
  bool told = false;
  for (Finding& finding : findings) {
    if (!finding.absent_lane) continue;
    finding.code = Code::suspicious;
    finding.evidence += "; the answer is right all the same, whatever is read there";
  }
  std::erase_if(findings, [&](const Finding& each) { return each.absent_lane && std::exchange(told, true); });
}

}  // namespace isomer::lab
