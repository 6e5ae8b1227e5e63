#pragma once

#include "lab/binary/binary.hpp"
#include "lab/binary/bytes.hpp"
#include "lab/binary/elf.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// The kernels of a cubin. `arch` is what the fat binary calls it ("sm_90a"); empty: what the cubin itself
/// tells.
void read_cubin(const Elf& elf, const std::string& arch, std::vector<BinaryKernel>& out);
/// The entries of PTX text: names, parameters, .maxntid; no machine code yet.
void read_ptx(std::string_view text, const std::string& arch, std::vector<BinaryKernel>& out);
/// The kernels of an AMD code object, from its metadata note.
void read_amd_code_object(const Elf& elf, std::vector<BinaryKernel>& out);
/// The code objects of a clang offload bundle: "__CLANG_OFFLOAD_BUNDLE__", one or several in a section.
void read_offload_bundles(const Bytes& bytes, std::vector<BinaryKernel>& out);
bool is_offload_bundle(const Bytes& bytes);

}  // namespace isomer::lab
