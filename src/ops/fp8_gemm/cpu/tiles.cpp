#include "ops/fp8_gemm/cpu/tiles.hpp"
#include "core/ceil_div.hpp"

#include "cpu/element.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace isomer::ops::fp8_gemm {
namespace {

void bias_row(const Tensor& bias, std::int64_t expert, std::int64_t first, std::int64_t columns, float* to) {
  cpu::with_element(bias.dtype, [&](auto tag) {
    for (std::int64_t n = 0; n < columns; ++n)
      to[n] = cpu::to_f32(*bias.at<decltype(tag)>(expert, first + n));
  });
}

/// Rows [begin, end) of the segment against columns [first, first + columns).
void run_tile(TileFunction compute, const Operands& o, const Segment& segment, std::int64_t begin,
              std::int64_t end, std::int64_t first, std::int64_t columns, float* scratch) {
  const std::uint8_t* a[kTileRows];
  const float* a_s[kTileRows];
  std::byte* c[kTileRows];
  const std::byte* addend[kTileRows];
  float bias[kTileColumns];
  const std::int64_t c_offset = first * size_of(o.c_type);
  for (std::int64_t r = begin; r < end; ++r) {
    const std::int64_t row = segment.first + r;
    const std::int64_t i = r - begin;
    a[i] = reinterpret_cast<const std::uint8_t*>(o.a[row]);
    a_s[i] = reinterpret_cast<const float*>(o.a_s[row]);
    c[i] = o.c[row] + c_offset;
    if (o.has_addend) addend[i] = o.addend[row] + c_offset;
  }
  if (o.bias.defined()) bias_row(o.bias, segment.expert, first, columns, bias);
  compute({.rows = end - begin,
           .columns = columns,
           .depth = o.depth,
           .skinny = segment.rows <= kSkinnyRows,
           .a = a,
           .a_s = a_s,
           .a_s_stride = o.a_s_stride,
           .b = o.b.at<std::uint8_t>(segment.expert, first),
           .b_stride = o.b.stride(1),
           .b_s = o.b_s.at<float>(segment.expert),
           .b_s_row_stride = o.b_s.stride(1),
           .b_s_stride = o.b_s.stride(2),
           .first_column = first,
           .bias = o.bias.defined() ? bias : nullptr,
           .c_type = o.c_type,
           .c = c,
           .addend = o.has_addend ? addend : nullptr,
           .scratch = scratch});
}

}  // namespace

FlatRows::FlatRows(const Tensor& tensor) : data_(static_cast<std::byte*>(tensor.data)) {
  for (int i = tensor.rank - 2; i >= 0; --i) {
    const std::int64_t size = tensor.size(i);
    count_ *= size;
    if (size == 1) continue;  // its stride may be anything
    const std::int64_t stride = tensor.stride(i) * size_of(tensor.dtype);
    const auto at = static_cast<std::size_t>(dims_);
    if (dims_ > 0 && stride == strides_[at - 1] * sizes_[at - 1]) {
      sizes_[at - 1] *= size;
      continue;
    }
    sizes_[at] = size;
    strides_[at] = stride;
    ++dims_;
  }
}

std::byte* FlatRows::operator[](std::int64_t row) const {
  std::int64_t offset = 0;
  for (int i = 0; i < dims_; ++i) {
    const auto at = static_cast<std::size_t>(i);
    // The outermost index needs no remainder; most tensors have no other.
    if (i + 1 == dims_) return data_ + offset + row * strides_[at];
    offset += row % sizes_[at] * strides_[at];
    row /= sizes_[at];
  }
  return data_ + offset;
}

std::size_t Tiling::scratch_bytes() const {
  return tasks() == 0 ? 0 : scratch_floats(rows, columns) * sizeof(float);
}

std::size_t scratch_floats(std::int64_t rows, std::int64_t columns) {
  const std::int64_t padded = core::align_up(columns, kPanelColumns);
  const std::int64_t panel = rows * (kScaleBlock + 16) + kScaleBlock * kPanelColumns + rows * padded;
  // A chunk of a, 64 columns of vector sums (vectors of at most 16 floats), the result.
  const std::int64_t skinny = 4096 + kSkinnyRows * 16 + 64 * kSkinnyRows * 16 + kSkinnyRows * padded;
  return static_cast<std::size_t>(core::align_up(std::max(panel, skinny), 16));
}

Tiling tiling(std::int64_t segments, std::int64_t rows, std::int64_t columns, int threads) {
  Tiling best{.segments = segments};
  if (segments == 0 || rows == 0 || columns == 0) return {};
  const bool skinny = rows <= kSkinnyRows;
  const std::int64_t fewest_rows = core::ceil_div(rows, kTileRows),
                     fewest_columns = core::ceil_div(columns, kTileColumns);
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t i = fewest_rows; i < fewest_rows + (skinny ? 1 : 8); ++i)
    for (std::int64_t j = fewest_columns; j < fewest_columns + 8; ++j) {
      Tiling t = best;
      t.rows = skinny ? rows : std::min(core::align_up(core::ceil_div(rows, i), kStripRows), kTileRows);
      t.columns = core::align_up(core::ceil_div(columns, j), kPanelColumns);
      t.row_tiles = core::ceil_div(rows, t.rows);
      t.column_tiles = core::ceil_div(columns, t.columns);
      // 16 products a cycle; decoding an element of a costs about a quarter of a cycle, packing one of b a
      // third.
      const double tile = static_cast<double>(t.rows * t.columns) / 16 + static_cast<double>(t.rows) / 4 +
                          static_cast<double>(t.columns) / 3;
      const double cost = static_cast<double>(core::ceil_div(t.tasks(), threads)) * tile;
      if (cost >= least) continue;
      least = cost;
      best = t;
    }
  return best;
}

std::string_view name_of(RowLayout layout) {
  constexpr std::string_view names[] = {"single", "contiguous", "masked"};
  return names[static_cast<int>(layout)];
}

Operands::Operands(const Fp8GemmArgs& args)
    : layout(RowLayout::single),
      a(args.a),
      a_s(args.a_s),
      c(args.c),
      addend(args.addend),
      b(args.b.unsqueeze(0)),
      b_s(args.b_s.unsqueeze(0)),
      bias(args.bias.defined() ? args.bias.unsqueeze(0) : Tensor()),
      columns(args.c.size(-1)),
      depth(args.a.size(-1)),
      a_s_stride(args.a_s.stride(-1)),
      segments(1),
      capacity(a.count()),
      c_type(args.c.dtype),
      has_addend(args.addend.defined()) {}

Operands::Operands(const GroupedFp8GemmArgs& args)
    : layout(args.row_counts.defined() ? RowLayout::masked : RowLayout::contiguous),
      a(args.a),
      a_s(args.a_s),
      c(args.c),
      addend(args.addend),
      b(args.b),
      b_s(args.b_s),
      bias(args.bias),
      expert_ids(args.expert_ids),
      row_counts(args.row_counts),
      columns(args.c.size(-1)),
      depth(args.a.size(-1)),
      a_s_stride(args.a_s.stride(-1)),
      segments(layout == RowLayout::masked ? args.b.size(0) : core::ceil_div(a.count(), kSegment)),
      capacity(layout == RowLayout::masked ? args.a.size(1) : std::min(a.count(), kSegment)),
      c_type(args.c.dtype),
      has_addend(args.addend.defined()) {}

Segment Operands::segment(std::int64_t index) const {
  if (layout == RowLayout::single) return {.rows = capacity};
  if (layout == RowLayout::masked)
    return {.expert = index, .first = index * capacity, .rows = *row_counts.at<std::int32_t>(index)};
  Segment segment{.first = index * kSegment};
  const std::int64_t all = std::min(kSegment, a.count() - segment.first);
  const auto expert = [&](std::int64_t row) { return *expert_ids.at<std::int32_t>(segment.first + row); };
  segment.expert = expert(0);
  while (segment.rows < all && expert(segment.rows) >= 0) ++segment.rows;
  segment.padding = all - segment.rows;
  return segment;
}

void run_tiles(Executor& executor, cpu::Target target, const Operands& operands, const Tiling& tiling,
               float* workspace) {
  const TileFunction compute = tile_function()[target];
  const std::size_t scratch = tiling.scratch_bytes() / sizeof(float);
  const std::int64_t tiles = tiling.row_tiles * tiling.column_tiles;
  parallel_for(executor, tiling.tasks(), [&](std::int64_t task, int worker) {
    const Segment segment = operands.segment(task / tiles);
    const std::int64_t begin = task % tiles / tiling.column_tiles * tiling.rows;
    const std::int64_t first = task % tiling.column_tiles * tiling.columns;
    const std::int64_t columns = std::min(tiling.columns, operands.columns - first);
    const std::int64_t end = std::min(begin + tiling.rows, segment.rows + segment.padding);
    if (begin < segment.rows)
      run_tile(compute, operands, segment, begin, std::min(end, segment.rows), first, columns,
               workspace + static_cast<std::size_t>(worker) * scratch);
    const int element = size_of(operands.c_type);
    for (std::int64_t r = std::max(begin, segment.rows); r < end; ++r)
      std::memset(operands.c[segment.first + r] + first * element, 0,
                  static_cast<std::size_t>(columns * element));
  });
}

}  // namespace isomer::ops::fp8_gemm
