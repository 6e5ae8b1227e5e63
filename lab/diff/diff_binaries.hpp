#pragma once

#include "lab/binary/binary.hpp"
#include "lab/diff/build_log.hpp"
#include "lab/diff/difference.hpp"

#include <vector>

namespace isomer::lab {

/// Pairs the kernels of two builds: those of one canonical name and architecture, then those of one family
/// that are nearest in their parameters. A pair says the first level that differs: another variant, else
/// other machine code, which is put down to a compiler or an option only where ptxas' note or a build log
/// shows it ("compiler", "option …"); registers, shared memory, spills and the opcodes that changed most
/// follow. Where one side alone has a build log, options are compared by the notes only, and a note says so.
DiffResult diff_binaries(const std::vector<BinaryKernel>& a, const std::vector<BinaryKernel>& b,
                         const std::vector<CompiledUnit>& build_a = {},
                         const std::vector<CompiledUnit>& build_b = {});

/// The parameters in which two names of one family differ, in their order; where none does, what else is not
/// the same.
std::vector<Difference> name_differences(const KernelName& a, const KernelName& b);

}  // namespace isomer::lab
