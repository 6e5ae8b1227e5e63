#pragma once

#include "lab/binary/bytes.hpp"

#include <cstdint>
#include <string>

namespace isomer::lab {

/// How compilers pack the images that they put into a file.
enum class Packing { none, lz4, zstd, zlib };

/// What `bytes` unpack to: at most `declared` bytes, which their header says. `used` gets how many of `bytes`
/// it took. Throws Error io for data that is damaged, and for a size that no compiler's output shrinks from.
std::string unpack(Packing packing, const Bytes& bytes, std::uint64_t declared,
                   std::uint64_t* used = nullptr);

}  // namespace isomer::lab
