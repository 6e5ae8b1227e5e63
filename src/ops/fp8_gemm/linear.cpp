// fp8_linear as the plans of act_quant and fp8_gemm, which run one behind the other. Codes and scales lie in
// the workspace, y | s | what the wider of the two works in, each part at a multiple of 256 bytes from its
// begin. act_quant waits for what is ahead of it before it lets the product begin, so that nothing which may
// write b still runs then. Yet the product has that promise only where the caller gives it: the stages of b
// that would come first hold up the rows that are quantised, more than they gain where these are few.
#include <isomer/act_quant.hpp>

#include "gpu/chain.hpp"
#include "ops/fp8_gemm/fp8_gemm.hpp"

#include <array>

namespace isomer::ops::fp8_gemm {
namespace {

/// The calls of the two steps, over a workspace.
struct Calls {
  ActQuantArgs quantise;
  Fp8GemmArgs product;
  ActQuantOptions quantise_options;
  Fp8GemmOptions product_options;
  std::array<core::Call, 2> of;
  std::size_t intermediates = 0;  ///< bytes of y and s

  static constexpr std::array<const char*, 2> kNames = {"act_quant", "product"};
  static constexpr std::size_t kLead = 1;

  Calls(const std::array<gpu::ChainStep, 2>& steps, const core::Call& call, std::byte* workspace) {
    const auto& args = call.args<Fp8LinearArgs>();
    const auto& options = call.options<Fp8LinearOptions>();
    const auto part = [&](DType type, std::int64_t last) {
      std::vector<std::int64_t> shape(args.x.shape.begin(), args.x.shape.begin() + args.x.rank);
      shape.back() = last;
      const Tensor made(workspace + intermediates, type, shape, args.x.device);
      intermediates +=
          core::align_up(static_cast<std::size_t>(made.numel() * size_of(type)), gpu::kChainPart);
      return made;
    };
    const std::int64_t depth = args.x.size(-1);
    quantise.x = args.x;
    quantise.y = part(DType::e4m3fn, depth);
    quantise.s = part(DType::f32, depth / kScaleBlock);
    quantise_options.amax_floor = options.amax_floor;
    quantise_options.scale_format = options.scale_format;
    product = {.a = quantise.y,
               .a_s = quantise.s,
               .b = args.b,
               .b_s = args.b_s,
               .c = args.c,
               .bias = args.bias,
               .addend = args.addend};
    product_options.b_ready = options.b_ready;
    of = {core::bind(*steps[0].contract, quantise, quantise_options),
          core::bind(*steps[1].contract, product, product_options)};
  }
  Calls(const Calls&) = delete;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> linear_implementations(
    const core::Registry& registry) {
  const core::Registry::Op& quantise = *registry.find("act_quant");
  return gpu::chains<Calls>(
      *registry.find("fp8_gemm"), quantise,
      [&](const core::Implementation& product, const core::Implementation& before) {
        return std::array{gpu::ChainStep{quantise.contract, &before}, gpu::ChainStep{&contract(), &product}};
      });
}

}  // namespace isomer::ops::fp8_gemm
