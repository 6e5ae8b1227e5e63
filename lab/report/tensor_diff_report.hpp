#pragma once

#include "lab/diff/diff_tensors.hpp"

#include <string>

namespace isomer::lab {

std::string tensor_diff_text(const TensorDiff& diff);
/// {"version":1,"verdict","tensors":[…],"pairs":[],"only_a":[…],"only_b":[…]}
std::string tensor_diff_json(const TensorDiff& diff);

}  // namespace isomer::lab
