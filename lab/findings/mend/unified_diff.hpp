#pragma once

#include <string>
#include <string_view>

namespace isomer::lab {

/// What turns one text into the other, as `patch -p0` takes it; empty where they are the same.
std::string unified_diff(std::string_view before, std::string_view after, const std::string& name);

}  // namespace isomer::lab
