#pragma once

#include <filesystem>
#include <string_view>

namespace isomer::lab {

/// Where what is made once is kept: ISOMER_CACHE, else the user's cache, each with `room` in it. Empty where
/// there is no place for one. It need not exist yet.
std::filesystem::path cache_folder(std::string_view room);

}  // namespace isomer::lab
