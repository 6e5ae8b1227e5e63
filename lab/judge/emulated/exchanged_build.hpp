#pragma once

#include "lab/judge/exchanged.hpp"

#include <filesystem>
#include <string>

namespace isomer::lab {

/// The candidate with expressions that can be exchanged, built when it is asked for, once. Lines on which an
/// exchange does not compile are left as they are.
Exchanging with_exchanges(const std::filesystem::path& path, const std::string& source,
                          const BuildSettings& settings);

}  // namespace isomer::lab
