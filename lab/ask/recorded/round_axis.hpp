#pragma once

#include "lab/ask/recorded/replayed.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

/// Ports of an operator that works along any axis see its tensor as [outer, n, inner].
namespace isomer::lab {

/// Adds what lies before, along and behind the axis, or the neighbouring axes, that a call says, of its first
/// tensor; all of it lies along none (`dim=None`). `label`: the call's function; null: it is not known.
/// `defaults`: what calls of it leave out.
void add_sizes_round_axis(const RecordedCall& call, const LabelFunction* label,
                          const std::vector<Value>& defaults, std::map<std::string, Value>& numbers);

/// Passes them to the parameters of such names. Those of `unsure` that are left.
std::vector<int> take_sizes_round_axis(Form& form, const Replayed& call, const std::vector<int>& unsure);

/// Passes them in this order to the three that are left of `unsure`, whatever they are called; nothing: they
/// are not three that stand side by side, or the call has no axis.
std::optional<Form> in_order_round_axis(const Form& form, const Replayed& call,
                                        const std::vector<int>& unsure);

}  // namespace isomer::lab
