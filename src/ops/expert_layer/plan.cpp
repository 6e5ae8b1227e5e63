// A layer of experts as the plans of three other ops, which run one behind the other. What one leaves to the
// next lies in the workspace, x | y | s | what the widest of the three works in, each part at a multiple of
// 256 bytes from its begin.
#include <isomer/fp8_gemm.hpp>
#include <isomer/silu_mul_quant.hpp>

#include "gpu/chain.hpp"
#include "ops/expert_layer/expert_layer.hpp"

#include <array>

namespace isomer::ops::expert_layer {
namespace {

struct Layout {
  explicit Layout(const ExpertLayerArgs& args) {
    const std::int64_t rows = args.a.rank == 3 ? args.a.size(0) * args.a.size(1) : args.a.size(0);
    const std::int64_t inner = args.down.size(2);
    const auto part = [&](std::int64_t bytes) {
      const std::size_t at = total;
      total += core::align_up(static_cast<std::size_t>(bytes), gpu::kChainPart);
      return at;
    };
    x = part(rows * 2 * inner * size_of(DType::bf16));
    y = part(rows * inner);
    s = part(rows * (inner / kBlock) * size_of(DType::f32));
  }
  std::size_t total = 0, x, y, s;
};

/// The calls of the three steps, over a workspace.
struct Calls {
  GroupedFp8GemmArgs gate_up;
  SiluMulQuantArgs between;
  GroupedFp8GemmArgs down;
  GroupedFp8GemmOptions none = {};
  SiluMulQuantOptions options;
  std::array<core::Call, 3> of;
  std::size_t intermediates = 0;

  static constexpr std::array<const char*, 3> kNames = {"gate_up", "between", "down"};
  static constexpr std::size_t kLead = 0;

  Calls(const std::array<gpu::ChainStep, 3>& steps, const core::Call& call, std::byte* workspace)
      : options{.amax_floor = call.options<ExpertLayerOptions>().amax_floor,
                .scale_format = call.options<ExpertLayerOptions>().scale_format} {
    const auto& args = call.args<ExpertLayerArgs>();
    const Layout at(args);
    intermediates = at.total;
    const std::int64_t inner = args.down.size(2);
    const auto between_products = [&](std::size_t offset, DType type, std::int64_t last) {
      return args.a.rank == 3
                 ? Tensor(workspace + offset, type, {args.a.size(0), args.a.size(1), last}, args.a.device)
                 : Tensor(workspace + offset, type, {args.a.size(0), last}, args.a.device);
    };
    gate_up = {.a = args.a,
               .a_s = args.a_s,
               .b = args.gate_up,
               .b_s = args.gate_up_s,
               .c = between_products(at.x, DType::bf16, 2 * inner),
               .expert_ids = args.expert_ids,
               .row_counts = args.row_counts};
    between = {.x = gate_up.c,
               .y = between_products(at.y, DType::e4m3fn, inner),
               .s = between_products(at.s, DType::f32, inner / kBlock),
               .row_counts = args.row_counts};
    down = {.a = between.y,
            .a_s = between.s,
            .b = args.down,
            .b_s = args.down_s,
            .c = args.out,
            .expert_ids = args.expert_ids,
            .row_counts = args.row_counts};
    of = {core::bind(*steps[0].contract, gate_up, none), core::bind(*steps[1].contract, between, options),
          core::bind(*steps[2].contract, down, none)};
  }
  Calls(const Calls&) = delete;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> implementations(const core::Registry& registry) {
  const core::Registry::Op& products = *registry.find("grouped_fp8_gemm");
  const core::Registry::Op& activations = *registry.find("silu_mul_quant");
  return gpu::chains<Calls>(
      products, activations, [&](const core::Implementation& product, const core::Implementation& between) {
        const gpu::ChainStep multiplies{products.contract, &product};
        return std::array{multiplies, gpu::ChainStep{activations.contract, &between}, multiplies};
      });
}

}  // namespace isomer::ops::expert_layer
