#pragma once

#include <string>
#include <string_view>

namespace isomer::lab {

/// A name without case, underscores and what only says that it is a pointer.
std::string bare(std::string_view name);

}  // namespace isomer::lab
