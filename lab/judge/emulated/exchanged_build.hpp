#pragma once

#include "lab/judge/exchanged.hpp"

#include <filesystem>
#include <string>

namespace isomer::lab {

/// The candidate with expressions that can be exchanged, built when it is asked for, once. Lines on which an
/// exchange does not compile are left as they are. `label`: what it is a port of, whose numbers may be
/// bounds.
Exchanging with_exchanges(const std::filesystem::path& path, const std::string& source,
                          const std::string& label, const BuildSettings& settings);

}  // namespace isomer::lab
