#pragma once

#include "lab/ask/port.hpp"
#include "lab/findings/finding.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// What the words of a refused call say is refused.
struct Refusal {
  Code code = Code::none;              ///< of the finding that it is
  std::vector<std::string> arguments;  ///< that the words name
  std::string fix;
};
/// `names`: of the callee's parameters and of the original's, in order.
Refusal refusal_of(const std::string& message, const std::vector<std::string>& names);

/// The finding's code, argument and fix by those words.
void say_what_is_refused(const std::string& message, const Entry& entry, const std::vector<Port::Role>& roles,
                         Finding& finding);

/// Whether the words name an argument.
bool names_argument(const std::string& message, const std::string& name);

/// What PyTorch's own words for a wrong dtype say ("expected scalar type Float but found Half", "… not
/// implemented for 'Half'"), which name no argument: whether a tensor of dtype `given` may be what is meant,
/// and `wanted` what it should be. True where the words are others.
bool may_be_meant(const std::string& message, DType given, DType wanted);
/// Whether the words are such: an argument of that dtype is meant, and no other.
bool tells_the_dtype(const std::string& message);

}  // namespace isomer::lab
