#include "ops/attention/gpu/steps.hpp"
#include "core/ceil_div.hpp"

namespace isomer::ops::attention {
namespace {

constexpr int kAppendThreads = 128, kAppendRows = 8;  // of a block
constexpr int kCombineThreads = 128;

}  // namespace

bool appends(const Geometry& g) { return g.append && g.k_new.outers * g.k_new.rows > 0; }

gpu::Step append_step(const Geometry& g) {
  const std::int64_t rows = g.batch * g.k_new.rows * g.heads_kv;
  return {.source = "ops/attention/kernels/attention_append.cu",
          .kernel = "isomer_attention_append",
          .variant = {{"element_kv", g.k.dtype}, {"threads", kAppendThreads}},
          .grid = {gpu::grid_of(core::ceil_div(rows, kAppendRows)), 1, 1},
          .block = {kAppendThreads, 1, 1}};
}

gpu::Step combine_step(const Geometry& g, int head_dim_v, int block_n) {
  return {.source = "ops/attention/kernels/attention_combine.cu",
          .kernel = "isomer_attention_combine",
          .variant = {{"element_out", g.out.dtype},
                      {"block_n", block_n},
                      {"lanes_of_row", head_dim_v <= 128 ? 32 : 64},
                      {"threads", kCombineThreads}},
          .grid = {gpu::grid_of(g.batch * g.seqlen_q * g.heads), 1, 1},
          .block = {kCombineThreads, 1, 1}};
}

}  // namespace isomer::ops::attention
