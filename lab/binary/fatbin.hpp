#pragma once

#include "lab/binary/bytes.hpp"
#include "lab/binary/compression.hpp"

#include <functional>
#include <string>

namespace isomer::lab {

/// One image of a CUDA fat binary as it lies there.
struct PackedImage {
  enum class Kind { ptx, cubin } kind = Kind::cubin;
  Packing packing = Packing::none;
  std::string arch;  ///< "sm_90a", "compute_90a"
  Bytes bytes;
  std::uint64_t unpacked_bytes = 0;  ///< as its header says
};

/// The image itself; one that was compressed lies in `room`. Throws Error io for what is damaged or
/// compressed in a way that nobody documents.
Bytes unpacked(const PackedImage& image, std::string& room);

bool is_fatbin(const Bytes& bytes);
/// Calls `each` for every image of the fat binaries that lie one behind the other in `bytes`, as in a section
/// .nv_fatbin. Throws Error io for what is cut or damaged.
void for_each_image(const Bytes& bytes, const std::function<void(const PackedImage&)>& each);

}  // namespace isomer::lab
