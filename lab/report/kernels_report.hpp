#pragma once

#include "lab/binary/binary.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::lab {

/// One row for each kernel of a binary: what the name says, and what it takes.
std::string kernels_table(const std::vector<BinaryKernel>& kernels);
/// {"version":1,"kernels":[{"name","demangled","parameters","arch","registers","shared_bytes","spill_bytes",
/// "code_hash"}]}, and beside these "family", "derived", "arguments", "instructions" and the compiler's note.
/// What the binary does not tell is null.
void kernels_json(const std::vector<BinaryKernel>& kernels,
                  const std::function<void(std::string_view)>& write);

}  // namespace isomer::lab
