// Headers that a program names and that lie elsewhere in its collection.
#pragma once

#include <filesystem>
#include <string>

namespace isomer::cli {

/// The header that a compiler says it has not found; empty where it says something else.
std::string missing_header(const std::string& message);

/// The folder of the collection `whole` in which `name`, which may itself name folders, is found: of several
/// the one that is nearest to `program`. Empty where there is none.
std::filesystem::path folder_with(const std::filesystem::path& name, const std::filesystem::path& program,
                                  const std::filesystem::path& whole);

}  // namespace isomer::cli
