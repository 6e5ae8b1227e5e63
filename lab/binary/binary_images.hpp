#pragma once

#include "lab/binary/binary.hpp"
#include "lab/binary/bytes.hpp"
#include "lab/binary/elf.hpp"

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace isomer::lab {

/// What is found in a file with many images: one that is damaged is a note, and the others count.
struct FoundKernels {
  std::vector<BinaryKernel> kernels;
  std::vector<std::string> notes;
  std::string damage;  ///< the first image's that could not be read; empty: none
  int readable = 0;    ///< images that could be read
  std::unordered_map<std::string, std::shared_ptr<const KernelName>> names;  ///< by the mangled one
  std::function<void(const Bytes&)> leave;  ///< gets each part of the file that is not read again

  /// A kernel of that mangled name. Many architectures' images hold one.
  BinaryKernel& add(std::string_view name) {
    BinaryKernel& kernel = kernels.emplace_back();
    kernel.name = name;
    std::shared_ptr<const KernelName>& parsed = names[kernel.name];
    if (parsed == nullptr) parsed = std::make_shared<const KernelName>(parse_kernel_name(name));
    kernel.parsed = parsed;
    return kernel;
  }

  /// Calls `read()` for one image; an Error of it is a note that names the image.
  template <class Read>
  void image(const std::string& name, Read read) {
    const std::size_t before = kernels.size();
    try {
      read();
      ++readable;
    } catch (const Error& error) {
      kernels.resize(before);
      if (damage.empty()) damage = error.what();
      notes.push_back(core::say(name, " was left out: ", error.what()));
    }
  }
};

/// The kernels of a cubin. `arch` is what the fat binary calls it ("sm_90a"); empty: what the cubin itself
/// tells.
void read_cubin(const Elf& elf, const std::string& arch, FoundKernels& out);
/// The entries of PTX text: names, parameters, .maxntid; no machine code yet.
void read_ptx(std::string_view text, const std::string& arch, FoundKernels& out);
/// The kernels of an AMD code object, from its metadata note.
void read_amd_code_object(const Elf& elf, FoundKernels& out);
/// The code objects of clang offload bundles, one or several in a section: "__CLANG_OFFLOAD_BUNDLE__", and
/// compressed ones, "CCOB".
void read_offload_bundles(const Bytes& bytes, FoundKernels& out);
bool is_offload_bundle(const Bytes& bytes);
/// Calls `read_one` for every fat binary and cubin that lies anywhere in a file. Returns how many there are.
int read_embedded_images(const Bytes& file, FoundKernels& out,
                         const std::function<void(const Bytes&)>& read_one);

}  // namespace isomer::lab
