#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::lab {

/// One template argument.
struct NameArgument {
  enum class Kind { type, boolean, integer, templated };
  Kind kind = Kind::type;
  std::string text;  ///< canonical; of a template without its arguments
  std::vector<NameArgument> arguments;
};

/// A demangled function name taken apart.
struct NameTree {
  std::string text;  ///< canonical
  std::string name;  ///< without template arguments
  std::vector<NameArgument> arguments;
  /// All arguments stand behind the last component, so that they are that template's.
  bool at_the_end = false;
};

/// Any demangler's text: c++filt's and libc++abi's, and CUPTI's and cu++filt's with their casts and spaces.
/// Nothing where brackets do not match or nest deeper than any compiler's output. Linear in the text.
std::optional<NameTree> read_name(std::string_view demangled);

}  // namespace isomer::lab
