#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace isomer::inject {

/// The bytes of a code object by its address as the loader writes it: file://PATH, with %20 for what a path
/// has that an address has not, and #offset=N&size=N or ?offset=N&size=N for a part of the file. Empty for
/// any other address, a file that cannot be read, or a part that it has not.
std::vector<std::uint8_t> image_at(std::string_view uri);

}  // namespace isomer::inject
