#pragma once

#include "lab/candidate/folder.hpp"

namespace isomer::lab {

/// Fills in what `file`, a case.toml, says: op, entry, candidate (one name or several), reference, test,
/// instruction, recording, tolerance (one number or rtol and atol), signature, include_directories and
/// definitions. Paths are relative to the file's folder. Throws Error, one sentence, for anything else in it.
void read_case_file(const std::filesystem::path& file, CaseFolder& found);

}  // namespace isomer::lab
