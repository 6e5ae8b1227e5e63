#pragma once

#include "lab/ask/trial.hpp"
#include "lab/findings/finding.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// The form with one thing changed, and the finding that it is if it helps.
struct Change {
  Form form;
  Finding finding;
};
/// Casts, ranks, orders and axes that differ in one thing from the form, the likeliest by `message` first. Of
/// an op that is not known the roles are the arguments of a recorded call.
std::vector<Change> changes(const Form& form, const std::vector<Port::Role>& roles,
                            const std::vector<Value>& values, const std::string& message);
std::vector<Change> changes(const Form& form, const Port& port, const Given& given,
                            const std::string& message);

/// What a refusal is about, by its words.
bool is_about_rank(const std::string& message);
bool is_about_dtype(const std::string& message);

}  // namespace isomer::lab
