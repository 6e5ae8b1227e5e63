#pragma once

#include "lab/candidate/recording.hpp"

#include <filesystem>

namespace isomer::lab {

/// What record() gives for a label and its test, kept in the cache folder (ISOMER_CACHE, else the XDG cache)
/// under the contents of both: a second check of a case runs no Python. Throws what record() throws.
Recording kept_recording(const std::filesystem::path& label, const std::filesystem::path& test);

}  // namespace isomer::lab
