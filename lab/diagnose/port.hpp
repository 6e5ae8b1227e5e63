#pragma once

#include "core/oracle/oracle.hpp"
#include "lab/candidate/recording.hpp"
#include "lab/candidate/value.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace isomer::lab {

/// How the world calls an op: the names and the order of its original kernel's host function, so that
/// recorded calls and ports of that kernel can be mapped onto the op's arguments.
struct Port {
  std::string op;                      ///< "quantize_copy_kv"
  std::vector<std::string> functions;  ///< names that it goes by, the original's first
  struct Role {
    std::string name;      ///< as the original calls it: "Out_scale"
    std::string argument;  ///< as the contract calls it: "out_scale"; an option's name for a scalar
    bool output = false;
    bool optional = false;
    bool returned = false;  ///< the original allocates it and returns it
  };
  std::vector<Role> roles;  ///< in the original's order; returned ones last

  /// A problem of the op, as the original would be called with it.
  std::function<std::vector<Value>(core::Problem&)> values;
  /// The op's call for such values: `made` keeps its memory. Throws Error where the contract refuses them.
  std::function<std::shared_ptr<core::Problem>(const std::vector<Value>&)> problem;
};

const std::vector<Port>& ports();
const Port* find_port(std::string_view op_or_function);

}  // namespace isomer::lab
