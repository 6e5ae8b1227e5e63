#pragma once

#include <cstdint>
#include <string>

namespace isomer::lab {

/// Whether the source has a constant that is no smaller than a size that is right and smaller than one that
/// is wrong, and that says that it is the largest: by its name, which is like `names` (an expression, in
/// lower case) or has "max" in it, or by the comment in its line. It was made for no more.
bool says_room(const std::string& source, const std::string& names, std::int64_t right, std::int64_t wrong);
/// Whether it chooses between kernels by numbers among which is the one size and not the other: `case 64:`.
bool says_cases(const std::string& source, std::int64_t right, std::int64_t wrong);

}  // namespace isomer::lab
