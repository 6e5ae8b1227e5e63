#pragma once

#include "lab/binary/bytes.hpp"

#include <functional>
#include <string>

namespace isomer::lab {

/// One image of a CUDA fat binary, decompressed.
struct FatbinImage {
  enum class Kind { ptx, cubin } kind = Kind::cubin;
  std::string arch;  ///< "sm_90a", "compute_90a"
  std::string options;
  Bytes bytes;
};

bool is_fatbin(const Bytes& bytes);
/// Calls `each` for every image of the fat binaries that lie one behind the other in `bytes`, as in a section
/// .nv_fatbin. Throws Error io for what is cut, damaged or compressed in a way that nobody documents.
void for_each_image(const Bytes& bytes, const std::function<void(const FatbinImage&)>& each);

}  // namespace isomer::lab
