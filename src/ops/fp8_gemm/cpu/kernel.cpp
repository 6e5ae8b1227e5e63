// One tile of c on one thread, two ways. Many rows: for each block of 128 along K, the rows of a are decoded
// into f32 (L2), a panel of b is transposed and decoded (L1), and strips of a run over it in registers; each
// strip's product is scaled and added to the tile's f32 sums. Few rows: vectors along K, b streams by. In
// both, an element's sum depends on its row and column alone, never on how the product was cut into tiles.
#include "ops/fp8_gemm/cpu/kernel.hpp"
#include "core/ceil_div.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/fp8_gemm/cpu/kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/vector-inl.hpp"
#include "ops/fp8_gemm/cpu/panel-inl.hpp"
#include "ops/fp8_gemm/cpu/skinny-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace isomer::ops::fp8_gemm::HWY_NAMESPACE {

/// c = sums + bias + addend, rounded once. sums[row][column] lies at panel·panel_stride + row·row_stride,
/// panels of kColumns.
template <class T>
void Finish(const Tile& tile, const float* sums, std::int64_t panel_stride, std::int64_t row_stride) {
  const F32 d;
  for (std::int64_t r = 0; r < tile.rows; ++r) {
    T* c = reinterpret_cast<T*>(tile.c[r]);
    const T* addend = tile.addend != nullptr ? reinterpret_cast<const T*>(tile.addend[r]) : nullptr;
    for (std::int64_t n = 0; n < tile.columns; n += kLanes) {
      const auto count = static_cast<std::size_t>(std::min(kLanes, tile.columns - n));
      VF value = hn::Load(d, sums + n / kColumns * panel_stride + r * row_stride + n % kColumns);
      if (tile.bias != nullptr) value = hn::Add(value, cpu::HWY_NAMESPACE::LoadF32N(d, tile.bias + n, count));
      if (addend != nullptr) value = hn::Add(value, cpu::HWY_NAMESPACE::LoadF32N(d, addend + n, count));
      cpu::HWY_NAMESPACE::StoreF32N(value, d, c + n, count);
    }
  }
}

void Compute(const Tile& tile) {
  const float* sums = nullptr;
  std::int64_t panel_stride = kColumns, row_stride = 0;
  if (tile.skinny) {
    float* to = tile.scratch + kSkinnyScratch;
    row_stride = core::align_up(tile.columns, kColumns);
    if (tile.rows == 1)
      SkinnyProduct<1, 4>(tile, to, row_stride);
    else if (tile.rows == 2)
      SkinnyProduct<2, 4>(tile, to, row_stride);
    else if (tile.rows <= 4)
      SkinnyProduct<4, 2>(tile, to, row_stride);
    else
      SkinnyProduct<8, 1>(tile, to, row_stride);
    sums = to;
  } else {
    sums = PanelProduct(tile);
    panel_stride = tile.rows * kColumns;
    row_stride = kColumns;
  }
  if (tile.c_type == DType::f16)
    Finish<cpu::F16>(tile, sums, panel_stride, row_stride);
  else if (tile.c_type == DType::bf16)
    Finish<cpu::BF16>(tile, sums, panel_stride, row_stride);
  else
    Finish<float>(tile, sums, panel_stride, row_stride);
}

}  // namespace isomer::ops::fp8_gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/per_target.hpp"

namespace isomer::ops::fp8_gemm {

const cpu::PerTarget<TileFunction>& tile_function() {
  static const cpu::PerTarget<TileFunction> table = ISOMER_PER_TARGET(Compute);
  return table;
}

}  // namespace isomer::ops::fp8_gemm
#endif
