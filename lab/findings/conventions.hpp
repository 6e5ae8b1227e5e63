#pragma once

#include "lab/ask/trial.hpp"
#include "lab/findings/finding.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What well-known kernels do otherwise than an op, on purpose. A port is held against its original, where
/// that is a fault; a kernel that nobody says is a port of the op's original is not.
namespace isomer::lab {

/// A way in which other houses lay out what an op takes, and a sentence that says which.
struct Convention {
  Form form;
  std::string argument, said;
};
/// The form with the log-sum-exps or scales in the other order of axes, or with one matrix transposed.
std::vector<Convention> conventional_forms(const Form& form, const Port& port, const Given& given);

/// Findings whose variations are conventions of other houses become remarks that say so.
void tell_conventions(const std::string& op, std::vector<Finding>& findings);

/// What a kernel that is nobody's port does not take, and says so or is never given: one empty tensor, views,
/// other sizes and dtypes. No fault of its own, and a remark.
void tell_limits(std::vector<Finding>& findings);

/// What a real number of this name is, of an op whose original has none: an option's default for eps, the
/// largest and least number of the output's type for fp8_max and fp8_min. Nothing where the name says
/// nothing.
std::optional<double> number_by_name(const Port& port, std::string_view name);

/// Races of one line's stores with each other become remarks, where the answers are right in every order.
void tell_benign_races(std::vector<Finding>& findings);

}  // namespace isomer::lab
