#pragma once

#include "lab/ask/trial.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// A way in which other houses lay out what an op takes, and a sentence that says which.
struct Convention {
  Form form;
  std::string argument, said;
};
/// The form with the log-sum-exps or scales in the other order of axes, or with one matrix transposed.
std::vector<Convention> conventional_forms(const Form& form, const Port& port, const Given& given);

}  // namespace isomer::lab
