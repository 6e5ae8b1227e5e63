#include "ops/attention/cpu/append.hpp"
#include "core/ceil_div.hpp"

#include <isomer/executor.hpp>

#include <algorithm>
#include <cstring>

namespace isomer::ops::attention {
namespace {

/// New keys that one task writes.
constexpr std::int64_t kChunk = 64;

std::int64_t chunks(const Geometry& g) {
  const std::int64_t most = g.k_new.rows;
  return core::ceil_div(most, kChunk);
}

}  // namespace

void rotate(const Geometry& g, const Kernels& kernels, std::int64_t position, float* row, float* tables) {
  const std::int64_t pairs = g.rotary_dim / 2;
  float* cos = tables;
  float* sin = tables + g.head_dim;
  const std::byte* from = g.args->rotary_cos.at(position, 0);
  kernels.load(g.args->rotary_cos.dtype, &from, 1, static_cast<int>(pairs), cos, 0, 0);
  from = g.args->rotary_sin.at(position, 0);
  kernels.load(g.args->rotary_sin.dtype, &from, 1, static_cast<int>(pairs), sin, 0, 0);
  const std::int64_t step = g.rotary_interleaved ? 2 : 1, distance = g.rotary_interleaved ? 1 : pairs;
  for (std::int64_t p = 0; p < pairs; ++p) {
    float& x = row[p * step];
    float& y = row[p * step + distance];
    const float rotated = x * cos[p] - y * sin[p];
    y = y * cos[p] + x * sin[p];
    x = rotated;
  }
}

namespace {

/// New key t of entry b, rotated where asked, and its value, divided by the cache's descales and rounded to
/// e4m3.
void quantise(const Geometry& g, const Kernels& kernels, const TileScratch& s, std::int64_t b, std::int64_t t,
              const KeyRun& slot, std::int64_t head) {
  const Entry e = g.entry(b);
  const int d = static_cast<int>(g.head_dim), dv = static_cast<int>(g.head_dim_v);
  const std::byte* from = g.k_new.at(e.new_outer, e.new_row + t, head);
  const float k_descale = static_cast<float>(g.k_descale(b, head)),
              v_descale = static_cast<float>(g.v_descale(b, head));
  kernels.load(g.k_new.dtype, &from, 1, d, s.row, 0, 0);
  if (g.rotary) rotate(g, kernels, e.position + t, s.row, s.rotary);
  for (int c = 0; c < d; ++c) s.row[c] /= k_descale;
  kernels.store(g.k.dtype, s.row, g.k.at(slot.outer, slot.row, head), d);

  from = g.v_new.at(e.new_outer, e.new_row + t, head);
  kernels.load(g.v_new.dtype, &from, 1, dv, s.row, 0, 0);
  for (int c = 0; c < dv; ++c) s.row[c] /= v_descale;
  if (g.v.d_stride == 1) return kernels.store(g.v.dtype, s.row, g.v.at(slot.outer, slot.row, head), dv);
  kernels.store(g.v.dtype, s.row, s.bytes, dv);
  for (int c = 0; c < dv; ++c) *g.v.at(slot.outer, slot.row, head, c) = s.bytes[c];
}

}  // namespace

std::int64_t append_tasks(const Geometry& g) { return g.append ? g.batch * g.heads_kv * chunks(g) : 0; }

void append(const TileContext& context, std::byte* scratch, Executor& executor) {
  const Geometry& g = context.geometry;
  const Kernels& kernels = context.kernels;
  const std::int64_t of_entry = g.heads_kv * chunks(g);
  parallel_for(executor, append_tasks(g), [&](std::int64_t task, int worker) {
    const TileScratch s = scratch_at(
        scratch + static_cast<std::size_t>(worker) * context.tiling.scratch_bytes, context.tiling, g);
    const Entry e = g.entry(task / of_entry);
    const std::int64_t head = task % of_entry / chunks(g), first = task % chunks(g) * kChunk;
    const std::int64_t before = e.k_len - e.new_len;
    for (std::int64_t t = first; t < std::min(first + kChunk, e.new_len); ++t) {
      const KeyRun slot = g.run(e, before + t);
      const std::byte* from = g.k_new.at(e.new_outer, e.new_row + t, head);
      std::byte* to = g.k.at(slot.outer, slot.row, head);
      if (g.quantises()) {
        quantise(g, kernels, s, task / of_entry, t, slot, head);
        continue;
      }
      if (g.rotary) {
        const int d = static_cast<int>(g.head_dim);
        kernels.load(g.k_new.dtype, &from, 1, d, s.row, 0, 0);
        rotate(g, kernels, e.position + t, s.row, s.rotary);
        kernels.store(g.k.dtype, s.row, to, d);
      } else {
        std::memcpy(to, from, static_cast<std::size_t>(g.head_dim * size_of(g.k.dtype)));
      }
      const std::size_t size = static_cast<std::size_t>(size_of(g.v.dtype));
      if (g.v.d_stride == 1) {
        std::memcpy(g.v.at(slot.outer, slot.row, head), g.v_new.at(e.new_outer, e.new_row + t, head),
                    static_cast<std::size_t>(g.head_dim_v) * size);
      } else {
        for (std::int64_t c = 0; c < g.head_dim_v; ++c)
          std::memcpy(g.v.at(slot.outer, slot.row, head, c), g.v_new.at(e.new_outer, e.new_row + t, head, c),
                      size);
      }
    }
  });
}

}  // namespace isomer::ops::attention
