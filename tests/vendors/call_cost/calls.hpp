// Calls whose cost on the host is counted or measured.
#pragma once

#include <isomer/isomer.hpp>

#include <cstddef>
#include <functional>
#include <string>

namespace isomer::call_cost {

struct Call {
  std::function<void(const Queue&)> run;                    ///< by the op's function
  std::function<std::function<void()>(const Queue&)> plan;  ///< what runs a plan of it
  int launches = 1;
  std::size_t bytes = 0;  ///< of a launch's parameters, the larger of two
};
/// sin, flash_decode, attention or attention_split (one query, its keys in parts), over tensors of zeros.
Call call_named(const std::string& name);

}  // namespace isomer::call_cost
