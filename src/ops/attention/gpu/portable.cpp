#include "core/sentence.hpp"
#include "gpu/plan.hpp"
#include "ops/attention/attention.hpp"
#include "ops/attention/gpu/parameters.hpp"

#include <algorithm>

namespace isomer::ops::attention {
namespace {

using core::say;

constexpr int kAppendThreads = 128, kAppendRows = 8;  // of a block
constexpr int kCombineThreads = 128;
/// Blocks of one launch; more work is taken in turn.
constexpr std::int64_t kMostBlocks = (std::int64_t{1} << 31) - 1;

std::string strides_of(const Tensor& t) {
  std::string text = "[";
  for (int i = 0; i < t.rank; ++i) text += say(i > 0 ? " " : "", t.stride(i));
  return text + "]";
}

/// Appends first where there is something to append, then attends, then combines where keys are split.
class PortablePlan : public gpu::Plan {
 public:
  PortablePlan(const core::Call& call, const gpu::Facts& facts) {
    const Geometry g = geometry_of(call);
    tiling_ = tile_up(g, call.options<AttentionOptions>(), facts);
    workspace_bytes_ = tiling_.workspace_bytes(g);
    describe(g, facts);

    const std::string element(name_of(g.q.dtype)), element_kv(name_of(g.k.dtype));
    const auto number = [](std::int64_t n) { return std::to_string(n); };
    if (g.append && g.k_new.outers * g.k_new.rows > 0) {
      append_ = add("append", {{"element_kv", element_kv}, {"threads", number(kAppendThreads)}},
                    (g.batch * g.k_new.rows * g.heads_kv + kAppendRows - 1) / kAppendRows, kAppendThreads);
    }
    if (g.batch * g.heads * g.seqlen_q == 0) return;
    Named variant = {{"element", element},
                     {"head_dim", number(tiling_.head_dim)},
                     {"head_dim_v", number(tiling_.head_dim_v)},
                     {"block_m", number(tiling_.block_m)},
                     {"block_n", number(tiling_.block_n)},
                     {"threads", number(tiling_.threads)}};
    const bool mma = tiling_.mma != DType::none;
    if (tiling_.decode) {
      variant.push_back({"resident", number(tiling_.resident)});
    } else {
      variant.push_back({"element_kv", element_kv});
      variant.push_back({"shared_bytes", number(tiling_.shared_bytes)});
      if (mma) variant.push_back({"element_mma", std::string(name_of(tiling_.mma))});
    }
    attend_ = add(tiling_.decode ? "decode"
                  : mma          ? "mma"
                                 : "",
                  std::move(variant), tiling_.blocks(g.batch), tiling_.threads, tiling_.shared_bytes);
    if (tiling_.parts == 1) return;
    combine_ = add("combine",
                   {{"element_out", std::string(name_of(g.out.dtype))},
                    {"block_n", number(tiling_.block_n)},
                    {"lanes_of_row", number(tiling_.head_dim_v <= 128 ? 32 : 64)},
                    {"threads", number(kCombineThreads)}},
                   g.batch * g.seqlen_q * g.heads, kCombineThreads);
    steps_.back().overlap_previous = tiling_.decode && gpu::launches_overlap(facts);
  }

  static std::string refuse(const core::Call& call, const gpu::Facts& facts) {
    return attention::refuse(geometry_of(call), call.options<AttentionOptions>(), facts);
  }

  std::size_t workspace_bytes() const override { return workspace_bytes_; }

  void run(const Queue& queue, const core::Call& call, void* workspace) const override {
    const device::AttentionParameters p = parameters_of(geometry_of(call), tiling_, workspace);
    for (const int step : {append_, attend_, combine_})
      if (step >= 0) launch(queue, static_cast<std::size_t>(step), p);
  }

 private:
  static Geometry geometry_of(const core::Call& call) {
    return Geometry(call.args<AttentionArgs>(), call.options<AttentionOptions>());
  }

  int add(const char* what, Named variant, std::int64_t blocks, int threads, std::int64_t shared_bytes = 0) {
    const std::string name = say("attention", *what ? "_" : "", what);
    steps_.push_back({.program = {.source = say("ops/attention/kernels/", name, ".cu"),
                                  .kernel = "isomer_" + name,
                                  .variant = std::move(variant)},
                      .grid = {static_cast<std::uint32_t>(std::min(blocks, kMostBlocks)), 1, 1},
                      .block = {static_cast<std::uint32_t>(threads), 1, 1},
                      .shared_bytes = static_cast<std::uint32_t>(shared_bytes)});
    return static_cast<int>(steps_.size()) - 1;
  }

  void describe(const Geometry& g, const gpu::Facts& facts) {
    const auto yes = [](bool is) { return std::string(is ? "1" : "0"); };
    const auto number = [](std::int64_t n) { return std::to_string(n); };
    const AttentionArgs& args = *g.args;
    parameters_ = {
        {"is_causal", yes(g.causal())},
        {"is_local", yes(g.local())},
        {"has_softcap", yes(g.softcap > 0)},
        {"varlen", yes(g.varlen_q || g.varlen_k || args.seqused_q.defined() || args.seqused_k.defined())},
        {"paged_kv", yes(g.paged)},
        {"append_kv", yes(g.append)},
        {"pack_gqa", yes(tiling_.pack)},
        {"split", yes(tiling_.parts > 1)},
        {"v_colmajor", yes(g.v_colmajor)},
        {"batch", number(g.batch)},
        {"heads", number(g.heads)},
        {"heads_kv", number(g.heads_kv)},
        {"head_dim", number(g.head_dim)},
        {"head_dim_v", number(g.head_dim_v)},
        {"seqlen_q", number(g.seqlen_q)},
        {"seqlen_k", number(g.seqlen_k)},
        {"total_q", number(g.total_q)},
        {"total_k", number(g.total_k)},
        {"is_varlen_q", yes(g.varlen_q)},
        {"is_varlen_k", yes(g.varlen_k)},
        {"scale", say(g.scale)},
        {"num_splits", number(tiling_.parts)},
        {"strides", say("q", strides_of(args.q), " k", strides_of(args.k), " v", strides_of(args.v), " out",
                        strides_of(args.out))}};
    constants_ = {{"arch", facts.architecture},
                  {"stages", "1"},
                  {"warpgroups", number(std::max(1, tiling_.threads / 128))},
                  {"cluster", "1"},
                  {"scheduler", "longest_first"},
                  {"tiles", number(tiling_.tiles)},
                  {"split_size", number(tiling_.split_size)},
                  {"teams", number(tiling_.teams)},
                  {"workspace_bytes", std::to_string(workspace_bytes_)}};
  }

  GpuTiling tiling_;
  std::size_t workspace_bytes_ = 0;
  int append_ = -1, attend_ = -1, combine_ = -1;  ///< steps
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> gpu() { return gpu::portable<PortablePlan>(); }

}  // namespace isomer::ops::attention
