#include "lab/findings/conventions.hpp"

#include "lab/text/lower_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace isomer::lab {
namespace {

using What = Passing::What;

/// Variations that other houses have on purpose, and how to say it.
struct Known {
  std::string_view variation, said;
};
constexpr Known kKnown[] = {
    {"floor=", "the least maximum of a block is another small number"},
    {"encoding=fnuz", "8-bit floats are e4m3fnuz, as on MI300"},
    {"max=240", "8-bit floats are scaled to 240, the largest e4m3fnuz"},
    {"quotient=x*(448/amax)", "values are multiplied by 448 / amax instead of divided by the scale"},
    {"quotient=(x*448)/amax", "values are multiplied by 448 and divided by amax"},
    {"quotient_floor=", "448 / amax has a least amax, and the scale has none"},
    {"quotient=x*(1/s)", "values are multiplied by the reciprocal of the scale"},
    {"scale=amax*(1/448)", "the scale is the maximum times the rounded 1 / 448"},
    {"scale=ue8m0", "scales are powers of two (scale_format ue8m0)"},
    {"s=transposed", "scales lie column by column"},
    {"scale=1/(448/amax)", "the scale is the reciprocal of 448 / amax"},
    {"zero_guard=zeros-1", "a block of zeros has scale 1"},
    {"zero_guard=scale-", "the scale has a least value of its own"},
    {"weightless=multiplied",
     "parts whose log-sum-exp is -inf are multiplied by 0, so that NaN in them stays"},
    {"weightless=multiplied-guarded",
     "parts whose log-sum-exp is -inf are multiplied by 0, so that NaN in them stays"},
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

bool holds(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

/// A matrix or more as it is passed, the last two axes exchanged.
bool turn(const Form& form, std::size_t at, const Given& given, Form& turned) {
  const Passing& passing = form.passings[at];
  if (passing.what != What::role || !passing.axes.empty() || passing.drop != 0) return false;
  const Value& value = given.values[static_cast<std::size_t>(passing.role)];
  if (!value.is_tensor() || value.tensor.rank < 2) return false;
  std::vector<int> axes;
  for (int i = 0; i < value.tensor.rank; ++i) axes.push_back(i);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  turned.passings[at].axes = std::move(axes);
  turned.passings[at].compact = true;
  return true;
}

/// A matrix or more of the same shape, that lies column by column; columns begin at multiples of `multiple`.
bool lay_in_columns(const Form& form, std::size_t at, const Given& given, int multiple, Form& laid) {
  const Passing& passing = form.passings[at];
  if (passing.what != What::role || !passing.axes.empty() || passing.drop != 0) return false;
  const Value& value = given.values[static_cast<std::size_t>(passing.role)];
  if (!value.is_tensor() || value.tensor.rank < 2) return false;
  laid.passings[at].columns = multiple;
  laid.passings[at].compact = true;
  return true;
}

}  // namespace

std::vector<Convention> conventional_forms(const Form& form, const Port& port, const Given& given) {
  std::vector<Convention> list;
  const auto name_of = [&](std::size_t at) {
    return at < form.entry->parameters.size() && !form.entry->parameters[at].name.empty()
               ? form.entry->parameters[at].name
               : port.roles[static_cast<std::size_t>(form.passings[at].role)].name;
  };
  const auto each_wanted = [&](const auto& wanted, const char* said, const auto& change) {
    Form changed = form;
    std::string names;
    for (std::size_t i = 0; i < form.passings.size(); ++i) {
      if (form.passings[i].what != What::role) continue;
      const Port::Role& role = port.roles[static_cast<std::size_t>(form.passings[i].role)];
      if (wanted(role) && change(i, changed)) names += (names.empty() ? "" : ", ") + name_of(i);
    }
    if (!names.empty()) list.push_back({std::move(changed), names, said});
  };
  const auto turned = [&](std::size_t i, Form& changed) { return turn(form, i, given, changed); };
  const auto together = [&](const auto& wanted, const char* said) { each_wanted(wanted, said, turned); };
  // Of a tensor, which carries its shape, memory alone is another; of memory, the two are one.
  const auto in_columns = [&](int multiple) {
    return [&, multiple](std::size_t i, Form& changed) {
      const bool tensor =
          i < form.entry->parameters.size() && form.entry->parameters[i].kind != Parameter::Kind::pointer;
      return (tensor || multiple > 1) && lay_in_columns(form, i, given, multiple, changed);
    };
  };
  together([](const Port::Role& role) { return role.tensor && role.argument.starts_with("lse"); },
           "log-sum-exps lie [heads, tokens]");
  const auto is_scale = [](const Port::Role& role) {
    return role.tensor &&
           (role.argument == "s" || role.argument.ends_with("_s") || holds(role.argument, "scale"));
  };
  const auto is_input = [](const Port::Role& role) { return role.tensor && !role.output; };
  each_wanted(is_scale, "scales lie column by column", in_columns(1));
  each_wanted(is_input, "every input lies column by column", in_columns(1));
  together(is_scale, "scales lie column by column");
  together(is_input, "every input lies column by column");
  constexpr int kOfTma = 4;  // of f32, the 16 bytes that bulk copies begin at
  each_wanted(is_scale, "scales lie column by column, each column beginning at a multiple of 16 bytes",
              in_columns(kOfTma));
  for (std::size_t i = 0; i < form.passings.size(); ++i) {
    Form turned = form;
    if (turn(form, i, given, turned))
      list.push_back({std::move(turned), name_of(i), "it is taken transposed"});
  }
  return list;
}

void tell_conventions(const std::string& op, std::vector<Finding>& findings) {
  Finding* first = nullptr;
  std::string said;
  const auto is_told = [&](std::string_view variation) {
    return std::any_of(findings.begin(), findings.end(),
                       [&](const Finding& each) { return each.variation == variation; });
  };
  const auto others = [&](const std::string& variation) {
    // A merge that takes powers of 2 and gives natural logarithms mixes the two.
    const bool mixed = op == "merge_attention" && variation == "log=base-2";
    // 240 is the largest number of another format than the op's.
    const bool of_other_format = variation == "max=240" && !is_told("encoding=fnuz");
    // No floor at all makes NaN of a block of zeros, in nobody's convention, unless such a block is asked
    // for.
    const bool unfloored =
        variation == "floor=none" && std::none_of(findings.begin(), findings.end(), [](const Finding& each) {
          return each.variation.starts_with("zero_guard=zeros-1") ||
                 each.variation.starts_with("zero_guard=scale-");
        });
    return mixed || of_other_format || unfloored ? nullptr : known(variation);
  };
  const bool left = std::any_of(findings.begin(), findings.end(),
                                [](const Finding& each) { return each.code == "unexplained"; });
  for (Finding& finding : findings) {
    const Known* each = finding.variation.empty() ? nullptr : others(finding.variation);
    // Nothing is a convention that explains only a part, unless the rest is told.
    if (each == nullptr || (finding.strength == Strength::nearest && !left)) continue;
    said += (said.empty() ? "" : "; ") + std::string(each->said);
    finding.code = "convention";
    finding.argument.clear();
    finding.fix =
        "none is needed where its callers expect this; a port of the op's original needs the op's way";
    if (first == nullptr) first = &finding;
  }
  if (first == nullptr) return;
  first->evidence = said + ": " + first->evidence;
  bool told = false;
  std::erase_if(findings, [&](const Finding& each) {
    if (each.code != "convention" || each.variation.empty()) return false;
    return std::exchange(told, true);
  });
}

void tell_limits(std::vector<Finding>& findings) {
  constexpr std::string_view kLimits[] = {"empty-input",  "assumes-contiguous", "dtype-refused",
                                          "rank-refused", "shape-refused",      "layout-convention"};
  // Nobody calls it in the original's order, or by the original's name.
  std::erase_if(findings, [](const Finding& each) {
    return each.code == "argument-order" || each.code == "result-order" || each.code == "argument-count";
  });
  const auto is_limit = [&](const Finding& finding) {
    return std::find(std::begin(kLimits), std::end(kLimits), finding.code) != std::end(kLimits) &&
           finding.subject == Subject::candidate && !finding.decides &&
           finding.strength != Strength::nearest && finding.variations.empty();
  };
  // That strides are ignored is one limit, of however many tensors.
  Finding* first = nullptr;
  for (Finding& finding : findings) {
    if (finding.code != "assumes-contiguous" || !is_limit(finding)) continue;
    if (first == nullptr) {
      first = &finding;
    } else if (!finding.argument.empty() && !first->argument.empty()) {
      first->argument += ", " + finding.argument;
      finding.code.clear();
    }
  }
  std::erase_if(findings, [](const Finding& each) { return each.code.empty(); });
  for (Finding& finding : findings) {
    if (!is_limit(finding)) continue;
    finding.evidence = fmt::format("a limit ({}): {}", finding.code, finding.evidence);
    finding.code = "convention";
    finding.fix = "none is needed where its callers never ask for this; a port of the op's original needs it";
  }
}

std::optional<double> number_by_name(const Port& port, std::string_view name) {
  const std::string asked = lower_case(name);
  const core::Contract& contract = *port.oracle->contract;
  for (const core::Option& option : contract.options) {
    if (option.kind != core::Option::Kind::f32) continue;
    const std::string own = lower_case(option.name);
    const bool floor = holds(own, "floor") || holds(own, "eps") || holds(own, "min");
    if (asked == own || (floor && (holds(asked, "eps") || holds(asked, "floor") || holds(asked, "amax_min") ||
                                   holds(asked, "min_amax"))))
      return option.value;
  }
  const bool most = holds(asked, "max"), least = holds(asked, "min");
  if (!most && !least) return std::nullopt;
  for (const core::Arg& argument : contract.args) {
    if (argument.role == core::Role::in) continue;
    for (const DType dtype : argument.dtypes) {
      const double largest = dtype == DType::e4m3fn     ? 448
                             : dtype == DType::e4m3fnuz ? 240
                             : dtype == DType::e5m2     ? 57344
                             : dtype == DType::i8       ? 127
                                                        : 0;
      if (largest > 0) return most ? largest : -largest;
    }
  }
  return std::nullopt;
}

void tell_benign_races(std::vector<Finding>& findings) {
  bool told = false;
  for (Finding& finding : findings) {
    if (!finding.same_store || is_remark(finding)) continue;
    finding.code = "benign-race";
    finding.evidence += "; the answer is the same in every order of threads that was tried";
    finding.fix = "let one thread store it, so that nothing depends on equal values";
  }
  std::erase_if(findings,
                [&](const Finding& each) { return each.code == "benign-race" && std::exchange(told, true); });
}

}  // namespace isomer::lab
