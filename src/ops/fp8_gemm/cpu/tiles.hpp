#pragma once

#include <isomer/executor.hpp>

#include "ops/fp8_gemm/cpu/kernel.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace isomer::ops::fp8_gemm {

/// The rows of a tensor: all dimensions but the last flattened, whatever their strides.
class FlatRows {
 public:
  explicit FlatRows(const Tensor& tensor);
  std::int64_t count() const { return count_; }
  std::byte* operator[](std::int64_t row) const;

 private:
  std::byte* data_ = nullptr;
  std::int64_t count_ = 1;
  int dims_ = 0;
  std::array<std::int64_t, Tensor::kMaxRank> sizes_{}, strides_{};  ///< innermost first, strides in bytes
};

/// Which rows of a belong to which expert.
enum class RowLayout { single, contiguous, masked };
std::string_view name_of(RowLayout layout);

/// Rows that are multiplied with one b, and padding rows after them.
struct Segment {
  std::int64_t expert = 0, first = 0, rows = 0, padding = 0;
};

/// The tensors of a call of either op, seen as `segments` products of at most `capacity` rows: all rows of
/// the one matrix, the rows of each expert in the masked layout, each kSegment rows in the contiguous one
/// (they have one expert).
struct Operands {
  explicit Operands(const Fp8GemmArgs& args);
  explicit Operands(const GroupedFp8GemmArgs& args);

  /// Reads expert_ids or row_counts.
  Segment segment(std::int64_t index) const;

  RowLayout layout;
  FlatRows a, a_s, c, addend;
  Tensor b, b_s, bias;  ///< beginning with a dimension of experts
  Tensor expert_ids, row_counts;
  std::int64_t columns, depth, a_s_stride, segments, capacity;
  DType c_type;
  bool has_addend;
};

/// How the products are cut into tasks.
struct Tiling {
  std::int64_t segments = 0;
  std::int64_t rows = 0, columns = 0;            ///< of a tile
  std::int64_t row_tiles = 0, column_tiles = 0;  ///< of a segment
  std::int64_t tasks() const { return segments * row_tiles * column_tiles; }
  std::size_t scratch_bytes() const;  ///< of one thread
};

/// The tiles that cost least on that many threads; pure arithmetic on cycles per element of K.
Tiling tiling(std::int64_t segments, std::int64_t rows, std::int64_t columns, int threads);

/// Computes every tile of every segment; `workspace` holds scratch_bytes() for each thread of the executor.
void run_tiles(Executor& executor, cpu::Target target, const Operands& operands, const Tiling& tiling,
               float* workspace);

}  // namespace isomer::ops::fp8_gemm
