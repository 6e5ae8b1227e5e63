#pragma once

#include "lab/candidate/recording.hpp"
#include "lab/candidate/value.hpp"
#include "oracle/oracle.hpp"

#include <memory>
#include <string>
#include <string_view>
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
    bool returned = false;    ///< the original allocates it and returns it
    bool tensor = true;       ///< otherwise a number
    std::string called = {};  ///< of what is returned, how the original's text calls it
  };
  std::vector<Role> roles;  ///< in the original's order; returned ones last
  const oracle::Oracle* oracle = nullptr;
  const oracle::Original* original =
      nullptr;  ///< null of an op that is not known: its roles alone say what they are
  /// Options that a candidate has no parameter for: case lines are asked with their defaults.
  std::vector<std::string> left_off;
  /// Flags of a case line that are set in each problem: the candidate cannot be asked without.
  std::vector<std::string> always;
  /// Sizes are not asked for with which it touches memory that is not aligned for what it touches at once.
  bool whole_vectors = false;

  /// A problem of the op, as the original would be called with it: one value per role, each in a buffer of
  /// its own that holds exactly what the view spans; returned ones too, as they will be.
  std::vector<Value> values(const oracle::Problem& problem) const;
  /// The op's call for such values, which live as long as it does; returned roles may be left off, and are
  /// made then (of dtype `made` where nothing else says it). Throws Error where the contract refuses them.
  /// `contents`: what lies in index tensors is looked at too.
  std::shared_ptr<oracle::Problem> problem(const std::vector<Value>& values, DType made = DType::none,
                                           bool contents = true) const;
  /// A recorded call's arguments, or its answers, by role: `none` where it gives nothing for a role. Throws
  /// Error bad_argument for an argument that the original does not have.
  std::vector<Value> by_role(const std::vector<Value>& arguments, const std::vector<bool>& keyword) const;
  /// The 8-bit float that the contract asks for where callers pass its bytes; `none` elsewhere.
  DType in_bytes(std::size_t role, const Value& value) const;
  /// A tensor of that role, as the original has it, with its axes in the contract's order.
  Tensor by_contract(std::size_t role, const Tensor& tensor) const;
  int role_of(std::string_view name) const;               ///< −1 where no role goes by it
  int role_of_argument(std::string_view argument) const;  ///< that the contract calls so; −1: none
  int inputs() const;  ///< roles that are passed: all but the returned ones
};

const std::vector<Port>& ports();
/// The first that goes by the name, of an op or of a function; null where none does.
const Port* find_port(std::string_view op_or_function);

}  // namespace isomer::lab
