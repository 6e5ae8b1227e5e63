#pragma once

#include <isomer/tensor.hpp>

#include <string>
#include <string_view>

namespace isomer::core {

/// "[2, 4, 8]".
std::string shape_text(const Tensor& tensor);
std::string strides_text(const Tensor& tensor, std::string_view between = ", ");

}  // namespace isomer::core
