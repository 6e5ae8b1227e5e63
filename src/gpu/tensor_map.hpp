#pragma once

#include <isomer/dtype.hpp>

#include "gpu/device/tensor_map.h"

#include <array>
#include <cstdint>
#include <string>

namespace isomer::gpu {

/// Tiles of a tensor that the bulk copy engine moves, innermost dimension first. Beyond the tensor's end it
/// reads zeros and writes nothing, but for the rest of a row's last 16 bytes (device/sm90/tensor_copy.cuh).
struct TensorMap {
  DType element = DType::none;                  ///< f32, f16, bf16 or any type of one byte
  int rank = 0;                                 ///< 1 to 5
  std::array<std::uint64_t, 5> size{};          ///< 1 to 2^32 each
  std::array<std::uint64_t, 5> stride_bytes{};  ///< of dimensions 1…: multiples of 16; [0] is not looked at
  std::array<std::uint32_t, 5> box{};           ///< elements of a tile, 1 to 256 each
  int swizzle_bytes = 0;                        ///< 0, 32, 64 or 128; a tile's rows are no longer
  int promotion_bytes = 256;                    ///< of what L2 reads at once: 0, 64, 128 or 256
};

/// Why the engine does not take that map of a tensor at that address: "needs …, got …"; empty where it does.
std::string tensor_map_fault(const TensorMap& map, const void* address);

/// A tensor map of a step: what it describes, and at which byte of the step's parameters it lies.
struct MapOfStep {
  TensorMap map;
  std::uint32_t at = 0;  ///< offsetof(Parameters, …), a multiple of 64
};

}  // namespace isomer::gpu
