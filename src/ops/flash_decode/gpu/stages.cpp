#include "ops/flash_decode/gpu/stages.hpp"
#include "core/ceil_div.hpp"

#include <algorithm>
#include <cmath>

namespace isomer::ops::flash_decode {
namespace {

constexpr int kThreads = 128;
constexpr std::int64_t kVectorBytes = 16;
/// Loads of K, and as many of V, that a lane has under way. Eight are 64 KB of a multiprocessor with 16
/// warps.
constexpr std::int64_t kLoads = 4;
/// Lanes that share a row without tensor cores, at most.
constexpr std::int64_t kLanesOfRow = 32;
/// Results of blocks that a lane of stage 2 has under way.
constexpr std::int64_t kMergeLoads = 4;

/// Along the grid's second or third dimension; more is taken in turn.
std::uint32_t across(std::int64_t blocks) { return gpu::grid_of(blocks, gpu::kMostBlocksAcross); }

}  // namespace

bool rows_of_16_bytes(const Tensor& tensor) {
  const std::int64_t size = size_of(tensor.dtype);
  bool holds = reinterpret_cast<std::uintptr_t>(tensor.data) % kVectorBytes == 0;
  for (int dim = 0; dim + 1 < tensor.rank; ++dim)
    holds = holds && (tensor.size(dim) <= 1 || tensor.stride(dim) * size % kVectorBytes == 0);
  return holds && tensor.stride(-1) == 1;
}

BlockShape::BlockShape(const Inputs& in, const gpu::Facts& facts) {
  const std::int64_t d = in.q.size(2), heads_kv = in.k.size(1),
                     group = heads_kv > 0 ? in.q.size(1) / heads_kv : 0;
  head_dim = d <= 64 ? 64 : d <= 128 ? 128 : 256;
  int8 = in.scaled();
  tensor_cores = !int8 && size_of(in.k.dtype) == 2 && facts.has.mma;
  if (tensor_cores) {
    // Fragments have 8 heads; two of them find no room for accumulators beside 256 elements.
    heads = group > 8 && head_dim < 256 ? 16 : 8;
    resident = heads == 16 || head_dim == 256 ? 2 : head_dim == 128 ? 3 : 4;
  } else {
    // By the registers of queries and accumulators: at most 128, 168 and 255 for a thread. Lanes of the int8
    // kernel have so few of them that it takes as many heads.
    heads = group <= 1 ? 1 : group <= 2 ? 2 : group <= 4 ? 4 : 8;
    resident = heads <= 2 ? 4 : heads <= 4 ? 3 : 2;
  }
  chunks = core::ceil_div(group, heads);
}

BlockLaunch::BlockLaunch(const Inputs& in, const gpu::Facts& facts, std::int64_t block_seq,
                         std::int64_t blocks, std::int64_t longest) {
  const std::int64_t batch = in.q.size(0), heads_q = in.q.size(1), head_dim = in.q.size(2);
  const std::int64_t heads_kv = in.k.size(1), group = heads_kv > 0 ? heads_q / heads_kv : 0;
  scale = in.scale != 0.0f ? in.scale : 1.0f / std::sqrt(static_cast<float>(head_dim));
  const BlockShape shape(in, facts);
  heads_ = heads_q, heads_kv_ = heads_kv;
  auto& p = fixed_;
  p.batch = batch, p.blocks = blocks, p.block_seq = block_seq, p.longest = longest;
  p.head_dim = static_cast<std::int32_t>(head_dim), p.group = static_cast<std::int32_t>(group);
  empty = in.q.empty() || blocks == 0 || longest <= 0;
  if (empty) return;

  p.q_batch = in.q.stride(0), p.q_head = in.q.stride(1), p.q_inner = in.q.stride(2);
  p.k_slot = in.k.stride(0), p.k_head = in.k.stride(1), p.k_inner = in.k.stride(2);
  p.v_slot = in.v.stride(0), p.v_head = in.v.stride(1), p.v_inner = in.v.stride(2);
  p.token_request = in.req_to_tokens.stride(0), p.token_step = in.req_to_tokens.stride(1);
  p.request_step = in.b_req_idx.stride(0), p.length_step = in.b_seqlen.stride(0);
  p.request_count = in.req_to_tokens.size(0), p.slots = in.k.size(0);
  p.chunks = static_cast<std::int32_t>(shape.chunks);
  p.requests_are_i64 = in.b_req_idx.dtype == DType::i64, p.lengths_are_i64 = in.b_seqlen.dtype == DType::i64;
  p.scale_log2 = static_cast<float>(static_cast<double>(scale) * 1.4426950408889634);

  const bool vectors =
      (shape.int8 || rows_of_16_bytes(in.q)) && rows_of_16_bytes(in.k) && rows_of_16_bytes(in.v);
  step = {.source = shape.int8           ? "ops/flash_decode/kernels/stage1_int8.cu"
                    : shape.tensor_cores ? "ops/flash_decode/kernels/stage1_mma.cu"
                                         : "ops/flash_decode/kernels/stage1.cu",
          .kernel = shape.int8           ? "isomer_flash_decode_stage1_int8"
                    : shape.tensor_cores ? "isomer_flash_decode_stage1_mma"
                                         : "isomer_flash_decode_stage1",
          .variant = {{"element", in.q.dtype},
                      {"head_dim", shape.head_dim},
                      {"heads", shape.heads},
                      {"vectors", vectors},
                      {"threads", kThreads},
                      {"resident", shape.resident}},
          // The kv heads of a token lie beside each other in memory, and so do their blocks in the grid.
          .grid = {static_cast<std::uint32_t>(heads_kv * shape.chunks), across(blocks), across(batch)},
          .block = {kThreads, 1, 1},
          .overlap_previous = facts.has.overlap};
  if (shape.int8) {
    step.variant.pop_back();  // resident: the same for all
    step.variant.emplace_back("element_scale", in.k_scale.dtype);
  } else if (!shape.tensor_cores) {
    const std::int64_t parts =
        std::max<std::int64_t>(1, shape.head_dim * size_of(in.k.dtype) / kVectorBytes / kLanesOfRow);
    step.variant.emplace_back("unroll", kLoads / parts);
  }
}

core::Named BlockLaunch::parameters() const {
  return {{"batch", std::to_string(fixed_.batch)},
          {"heads", std::to_string(heads_)},
          {"heads_kv", std::to_string(heads_kv_)},
          {"head_dim", std::to_string(fixed_.head_dim)},
          {"scale", core::say(scale)}};
}

core::Named BlockLaunch::constants() const {
  return gpu::named({{"block_seq", fixed_.block_seq}, {"blocks", fixed_.blocks}});
}

device::FlashDecodeStage1Parameters BlockLaunch::arguments(const Inputs& in, const MidTensors& to) const {
  device::FlashDecodeStage1Parameters p = fixed_;
  p.q = in.q.data, p.k = in.k.data, p.v = in.v.data;
  p.tokens = static_cast<const std::int32_t*>(in.req_to_tokens.data);
  p.requests = in.b_req_idx.data, p.lengths = in.b_seqlen.data;
  p.mid_out = static_cast<float*>(to.out.data), p.mid_lse = static_cast<float*>(to.lse.data);
  p.out_batch = to.out.stride(0), p.out_head = to.out.stride(1), p.out_block = to.out.stride(2);
  p.out_inner = to.out.stride(3);
  p.lse_batch = to.lse.stride(0), p.lse_head = to.lse.stride(1), p.lse_block = to.lse.stride(2);
  return p;
}

device::FlashDecodeStage1Int8Parameters BlockLaunch::int8_arguments(const Inputs& in,
                                                                    const MidTensors& to) const {
  device::FlashDecodeStage1Int8Parameters p{};
  static_cast<device::FlashDecodeStage1Parameters&>(p) = arguments(in, to);
  p.k_scale = in.k_scale.data, p.v_scale = in.v_scale.data;
  p.ks_slot = in.k_scale.stride(0), p.ks_head = in.k_scale.stride(1), p.ks_step = scale_step(in.k_scale);
  p.vs_slot = in.v_scale.stride(0), p.vs_head = in.v_scale.stride(1), p.vs_step = scale_step(in.v_scale);
  return p;
}

MergeLaunch::MergeLaunch(const Tensor& out, DType mid_dtype, bool vectors, std::int64_t block_seq,
                         std::int64_t longest)
    : empty(out.empty()) {
  if (empty) return;
  const std::int64_t head_dim = out.size(2), vector = kVectorBytes / size_of(mid_dtype);
  const std::int64_t lanes = head_dim <= 16 * vector ? 16 : 32,
                     chunks = core::ceil_div(head_dim, lanes * vector);
  const bool whole = vectors && head_dim % vector == 0;
  // Elements of 16 bits one by one hold twice as many addresses as registers serve.
  const std::int64_t loads = whole || size_of(mid_dtype) > 2 ? kMergeLoads : kMergeLoads / 2;
  auto& p = fixed_;
  p.batch = out.size(0), p.block_seq = block_seq, p.longest = longest, p.head_dim = head_dim;
  p.chunks = static_cast<std::int32_t>(chunks);
  step = {.source = "ops/flash_decode/kernels/stage2.cu",
          .kernel = "isomer_flash_decode_stage2",
          .variant = {{"element_mid", mid_dtype},
                      {"element_out", out.dtype},
                      {"lanes_of_row", lanes},
                      {"vectors_mid", whole},
                      {"threads_merge", kThreads},
                      {"unroll_merge", loads}},
          .grid = {static_cast<std::uint32_t>(out.size(1) * chunks), 1, across(out.size(0))},
          .block = {kThreads, 1, 1}};
}

device::FlashDecodeStage2Parameters MergeLaunch::arguments(const MidTensors& from, const Tensor& lengths,
                                                           const Tensor& out) const {
  device::FlashDecodeStage2Parameters p = fixed_;
  p.mid_out = from.out.data, p.mid_lse = static_cast<const float*>(from.lse.data);
  p.lengths = lengths.data, p.out = out.data;
  p.mid_batch = from.out.stride(0), p.mid_head = from.out.stride(1), p.mid_block = from.out.stride(2);
  p.mid_inner = from.out.stride(3);
  p.lse_batch = from.lse.stride(0), p.lse_head = from.lse.stride(1), p.lse_block = from.lse.stride(2);
  p.length_step = lengths.stride(0), p.lengths_are_i64 = lengths.dtype == DType::i64;
  p.out_batch = out.stride(0), p.out_head = out.stride(1), p.out_inner = out.stride(2);
  return p;
}

}  // namespace isomer::ops::flash_decode
