#include "ops/attention/gpu/steps.hpp"
#include "core/ceil_div.hpp"

namespace isomer::ops::attention {
namespace {

constexpr int kAppendThreads = 128, kAppendRows = 8;  // of a block
constexpr std::size_t kTurnedAlignment = 256;
constexpr int kCombineThreads = 128, kCombineColumns = 8;  // the latter of a lane
/// A row with more parts belongs to a whole block, where a multiprocessor has no more rows than this.
constexpr std::int64_t kFewParts = 8, kFewRows = 32;

}  // namespace

bool appends(const Geometry& g) { return g.append && g.k_new.outers * g.k_new.rows > 0; }

gpu::Step append_step(const Geometry& g, const gpu::Facts& facts, bool turns) {
  const std::int64_t rows =
      (appends(g) ? g.batch * g.k_new.rows * g.heads_kv : 0) + (turns ? g.batch * g.seqlen_q * g.heads : 0);
  gpu::Variant variant = {{"element_kv", g.k.dtype}, {"threads", kAppendThreads}};
  if (g.quantises()) variant.emplace_back("element_new", g.k_new.dtype);
  if (turns) variant.emplace_back("element", g.q.dtype);
  return {.source = "ops/attention/kernels/attention_append.cu",
          .kernel = "isomer_attention_append",
          .variant = std::move(variant),
          .grid = {gpu::grid_of(core::ceil_div(rows, kAppendRows)), 1, 1},
          .block = {kAppendThreads, 1, 1},
          .overlap_previous = facts.has.overlap};
}

RowView turned_queries(const Geometry& g) {
  RowView rows = g.q;
  rows.data = nullptr;
  const std::int64_t vector = 16 / size_of(g.q.dtype);
  rows.head_stride = core::ceil_div(g.head_dim, vector) * vector;
  rows.row_stride = g.heads * rows.head_stride;
  rows.outer_stride = rows.rows * rows.row_stride;
  rows.d_stride = 1;
  return rows;
}

std::size_t turned_begin(std::size_t workspace_bytes) {
  return core::ceil_div(workspace_bytes, kTurnedAlignment) * kTurnedAlignment;
}

std::size_t turned_bytes(const RowView& turned) {
  return static_cast<std::size_t>(turned.outers * turned.outer_stride * size_of(turned.dtype));
}

gpu::Step combine_step(const Geometry& g, const gpu::Facts& facts, int head_dim_v, int block_n,
                       std::int64_t parts) {
  const std::int64_t rows = g.batch * g.seqlen_q * g.heads;
  const bool together = parts > kFewParts && rows <= kFewRows * facts.multiprocessors;
  const std::int64_t columns = head_dim_v <= 128 ? 128 : head_dim_v <= 256 ? 256 : 512;
  const std::int64_t threads = together ? kCombineThreads * 2 : kCombineThreads,
                     rows_of_block = together ? 1 : threads / (columns / kCombineColumns);
  const std::int64_t resident = facts.threads_per_multiprocessor / threads;
  return {.source = "ops/attention/kernels/attention_combine.cu",
          .kernel = "isomer_attention_combine",
          .variant = {{"element_out", g.out.dtype},
                      {"block_n", block_n},
                      {"columns", columns},
                      {"together", together ? 1 : 0},
                      {"threads", threads}},
          .grid = {gpu::grid_of(core::ceil_div(rows, rows_of_block), facts.multiprocessors * resident), 1, 1},
          .block = {static_cast<std::uint32_t>(threads), 1, 1}};
}

}  // namespace isomer::ops::attention
