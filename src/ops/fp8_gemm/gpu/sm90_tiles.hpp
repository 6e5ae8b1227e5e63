#pragma once

#include "gpu/tensor_map.hpp"
#include "gpu/tuned.hpp"
#include "ops/fp8_gemm/gpu/tiles.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::ops::fp8_gemm {

/// A call of either op for the kernel of Hopper: what the bulk copy engine can take, and what is left to the
/// threads.
struct Sm90Problem {
  explicit Sm90Problem(const Fp8GemmArgs& args);
  explicit Sm90Problem(const GroupedFp8GemmArgs& args);

  GpuProblem gemm;
  std::string refusal;      ///< why the kernel cannot take it; empty where it does
  bool bulk_store = false;  ///< c is stored by bulk copies, else by the threads
  bool terms = false;       ///< a bias or an addend
  int scales_at_once = 1;   ///< of a row of a_s, that are copied together: 4 where they lie so
  /// Without their boxes, which are the tile's.
  gpu::TensorMap a, b, c;

 private:
  template <class Args>
  void look(const Args& args);
};

/// How the kernel is compiled and launched: a row of the table of tiles and what follows from it.
struct Sm90Tiling {
  int tile_m = 0, tile_n = 0, chunks = 1;
  int cluster = 1;       ///< blocks that share b
  int split = 1;         ///< blocks that divide K
  bool measured = true;  ///< on a device: others are taken by name or by a table alone
  int stages = 0, threads = 0;
  std::int64_t shared_bytes = 0;
  std::int64_t row_tiles = 0, column_tiles = 0;  ///< a cluster's rows count once
  std::int64_t tiles = 0;                        ///< of all experts, if each has all its rows
  std::int64_t blocks = 0;
  double microseconds = 0;  ///< what the model says

  /// "128x256 cluster 2", "64x128 split 2", "64x64".
  std::string name() const;
};

/// Columns of the panels in shared memory that a block's copies store; gpu/kernels/sm90_result.cuh has them
/// too.
constexpr int sm90_panel_columns(const Sm90Tiling& t) {
  const int own = t.tile_n / t.split;
  return own % 64 == 0 ? 64 : own % 32 == 0 ? 32 : 16;
}

/// Every tile that the problem could have, with the model's time; pure arithmetic.
std::vector<Sm90Tiling> sm90_candidates(const Sm90Problem& problem, const gpu::Facts& facts);
/// Which of them is taken: the one that `candidate` names, else what was measured, else of the tiles
/// that a device has run the one with the least time, the first of equals. Throws Error bad_argument where
/// `measured` takes none of them; -1 where `candidate` is none of them.
std::ptrdiff_t sm90_choice(const std::vector<Sm90Tiling>& list, std::string_view candidate,
                           const gpu::TunedRow* measured);
/// What the problem's measured choice is looked up by: of up to 64 rows that of 64.
gpu::TunedKey sm90_key(const Sm90Problem& problem, std::string_view op, const gpu::Facts& facts);

}  // namespace isomer::ops::fp8_gemm
