#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace isomer::lab {

/// A mangled name (Itanium C++ ABI) in the canonical spelling of kernel_name.hpp: no return type, and no
/// parameter list behind template arguments, since the demanglers of the world print those in different ways.
/// Nothing where the text is not such a name, or nests deeper or prints longer than any compiler's output.
/// Linear in the text.
std::optional<std::string> demangle(std::string_view mangled);

}  // namespace isomer::lab
