#include "ops/silu_mul_quant/oracle/oracle.hpp"
#include "ops/silu_mul_quant/silu_mul_quant.hpp"
#include "oracle/open_blocks.hpp"

namespace isomer::ops::silu_mul_quant {
namespace {

using oracle::Original;

void bind_values(oracle::Problem& problem, const std::vector<Tensor>& tensors,
                 const std::vector<double>& numbers, DType) {
  auto& args = problem.args<SiluMulQuantArgs>();
  auto& options = problem.options<SiluMulQuantOptions>();
  if (numbers[1] != static_cast<double>(kBlock))
    throw Error(ErrorCode::bad_argument, "silu_mul_quant: group_size is expected to be 128");
  args.x = tensors[0];
  args.y = tensors[2];
  args.s = tensors[3];
  std::vector<std::int64_t> shape(args.x.shape.begin(), args.x.shape.begin() + args.x.rank);
  if (!shape.empty()) shape.back() /= 2;
  if (!args.y.defined()) args.y = problem.make("y", DType::e4m3fn, shape);
  if (!args.s.defined()) {
    if (!shape.empty()) shape.back() /= kBlock;
    args.s = problem.make("s", DType::f32, shape);
  }
  problem.bind(bind(args, options));
}

std::vector<std::vector<std::uint8_t>> open(const core::Call&, const oracle::Expected& plain) {
  return oracle::open_blocks(plain, [](std::size_t i) { return i / static_cast<std::size_t>(kBlock); });
}

Original original(bool returned) {
  return {
      .op = "silu_mul_quant",
      .functions = {"silu_mul_quant", "silu_and_mul_per_token_group_quant", "silu_and_mul_quant"},
      .parameters = {{.name = "x", .argument = "x", .field = "dtype", .also = "input in x_ptr src gate_up"},
                     {.name = "group_size",
                      .argument = "group_size",
                      .kind = Original::Kind::integer,
                      .optional = true,
                      .fallback = kBlock,
                      .also = "block block_size bs group"},
                     {.name = "y",
                      .argument = "y",
                      .output = true,
                      .returned = returned,
                      .also = "out output y_ptr q xq"},
                     {.name = "s",
                      .argument = "s",
                      .output = true,
                      .returned = returned,
                      .also = "scale scales s_ptr out_scale"}},
      .bind = bind_values,
      .number = [](const core::Call&, std::string_view) { return static_cast<double>(kBlock); },
      .probes = {"m=3 k=256", "m=4 k=384 regime=outlier", "m=3 k=256 scale=30", "m=3 k=256 scale=0.001",
                 "m=3 k=256 scale=1e-6", "m=4 k=256 regime=zero_rows", "m=4 k=256 regime=nan",
                 "m=4 k=256 regime=inf", "m=12 k=256 regime=ends"},
      .sizes = {"k=256 m="},
      .empties = {"m=0 k=256"},
      .usual = {{{"dtype", DType::bf16}}, {{"dtype", DType::f16}}, {{"dtype", DType::f32}}},
      .open = open,
      .scaling = {.output = 1, .largest = 448, .under_maximum = "floor=", .magnitudes = magnitudes},
      .larger = {"m=2 k=14336", "m=2 k=4096", "m=2 k=1024"}};
}

}  // namespace

std::vector<Original> originals() { return {original(true), original(false)}; }

}  // namespace isomer::ops::silu_mul_quant
