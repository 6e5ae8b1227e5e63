#include "core/ceil_div.hpp"
#include "ops/weight_quant/oracle/oracle.hpp"
#include "ops/weight_quant/weight_quant.hpp"
#include "oracle/open_blocks.hpp"

#include <algorithm>
#include <cmath>

namespace isomer::ops::weight_quant {
namespace {

using oracle::Original;

void bind_values(oracle::Problem& problem, const std::vector<Tensor>& tensors,
                 const std::vector<double>& numbers, DType) {
  auto& args = problem.args<WeightQuantArgs>();
  auto& options = problem.options<WeightQuantOptions>();
  args.x = tensors[0];
  options.block_size = static_cast<std::int64_t>(numbers[1]);
  if (options.block_size < 1)
    throw Error(ErrorCode::bad_argument, "weight_quant: block_size is expected to be at least 1");
  args.y = tensors[2];
  args.s = tensors[3];
  if (args.x.rank == 2 && !args.y.defined())
    args.y = problem.make("y", DType::e4m3fn, {args.x.size(0), args.x.size(1)});
  if (args.x.rank == 2 && !args.s.defined())
    args.s = problem.make("s", DType::f32,
                          {core::ceil_div(args.x.size(0), options.block_size),
                           core::ceil_div(args.x.size(1), options.block_size)});
  problem.bind(bind(args, options));
}

std::vector<std::vector<std::uint8_t>> open(const core::Call& call, const oracle::Expected& plain) {
  const std::int64_t size = call.options<WeightQuantOptions>().block_size;
  const std::int64_t columns = call.args<WeightQuantArgs>().x.size(1), across = core::ceil_div(columns, size);
  return oracle::open_blocks(plain, [&](std::size_t i) {
    const auto at = static_cast<std::int64_t>(i);
    return static_cast<std::size_t>(at / columns / size * across + at % columns / size);
  });
}

/// |x| of each block, row by row, as its scale lies.
std::vector<std::vector<double>> magnitudes(const core::Call& call) {
  const Tensor& x = call.args<WeightQuantArgs>().x;
  const std::int64_t size = call.options<WeightQuantOptions>().block_size;
  const std::int64_t across = core::ceil_div(x.size(1), size);
  std::vector<std::vector<double>> blocks(static_cast<std::size_t>(core::ceil_div(x.size(0), size) * across));
  for (std::int64_t m = 0; m < x.size(0); ++m)
    for (std::int64_t n = 0; n < x.size(1); ++n)
      blocks[static_cast<std::size_t>(m / size * across + n / size)].push_back(
          std::fabs(oracle::read(x, m, n)));
  return blocks;
}

Original original(bool returned) {
  return {.op = "weight_quant",
          .functions = {"weight_quant", "weight_quant_block", "per_block_quant"},
          .parameters = {{.name = "x", .argument = "x", .field = "dtype", .also = "weight w input x_ptr src"},
                         {.name = "block_size",
                          .argument = "block_size",
                          .kind = Original::Kind::integer,
                          .optional = true,
                          .fallback = 128,
                          .also = "block bs group_size tile_size tile"},
                         {.name = "y",
                          .argument = "y",
                          .output = true,
                          .returned = returned,
                          .also = "out output y_ptr q wq"},
                         {.name = "s",
                          .argument = "s",
                          .output = true,
                          .returned = returned,
                          .also = "scale scales s_ptr out_scale"}},
          .bind = bind_values,
          .number =
              [](const core::Call& call, std::string_view) {
                return static_cast<double>(call.options<WeightQuantOptions>().block_size);
              },
          // Of whole blocks in one axis alone a wrong count of them shows in the other.
          .probes = {"m=130 n=260", "m=130 n=256", "m=128 n=256 regime=e4m3_ties", "m=130 n=140 scale=1e-6",
                     "m=130 n=140 scale=1e-11", "m=129 n=257 regime=outlier", "m=130 n=140 regime=zero_rows",
                     "m=130 n=140 regime=nan", "m=130 n=140 regime=inf", "m=12 n=1024 regime=ends",
                     "m=128 n=768"},
          .sizes = {"n=40 m=", "m=5 n="},
          .empties = {"m=0 n=128"},
          .usual = {{{"dtype", DType::bf16}}, {{"dtype", DType::f16}}, {{"dtype", DType::f32}}},
          .open = open,
          .scaling = {.output = 1, .largest = 448, .under_maximum = "floor=", .magnitudes = magnitudes},
          .larger = {"m=2 n=7168", "m=7168 n=2"},
          .whole_blocks = "m=128 n=256"};
}

}  // namespace

std::vector<Original> originals() { return {original(true), original(false)}; }

}  // namespace isomer::ops::weight_quant
