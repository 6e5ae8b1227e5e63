#include "ops/act_quant/act_quant.hpp"
#include "ops/act_quant/oracle/oracle.hpp"

#include "core/codec.hpp"
#include "oracle/open_blocks.hpp"

#include <algorithm>
#include <cmath>

namespace isomer::ops::act_quant {
namespace {

using oracle::Original;

void bind_values(oracle::Problem& problem, const std::vector<Tensor>& tensors,
                 const std::vector<double>& numbers, DType) {
  auto& args = problem.args<ActQuantArgs>();
  auto& options = problem.options<ActQuantOptions>();
  args.x = tensors[0];
  options.block_size = static_cast<std::int64_t>(numbers[1]);
  args.y = tensors[2];
  args.s = tensors[3];
  std::vector<std::int64_t> shape(args.x.shape.begin(), args.x.shape.begin() + args.x.rank);
  if (!args.y.defined()) args.y = problem.make("y", DType::e4m3fn, shape);
  if (!args.s.defined()) {
    if (!shape.empty() && options.block_size > 0) shape.back() /= options.block_size;
    args.s = problem.make("s", DType::f32, shape);
  }
  problem.bind(bind(args, options));
}

std::vector<std::vector<std::uint8_t>> open(const core::Call& call, const oracle::Expected& plain) {
  const auto size = static_cast<std::size_t>(call.options<ActQuantOptions>().block_size);
  return oracle::open_blocks(plain, [&](std::size_t i) { return i / size; });
}

std::vector<std::vector<double>> magnitudes(const core::Call& call) {
  const std::vector<double> x = oracle::elements(call.args<ActQuantArgs>().x);
  const auto size = static_cast<std::size_t>(call.options<ActQuantOptions>().block_size);
  std::vector<std::vector<double>> blocks(x.size() / size);
  for (std::size_t i = 0; i < blocks.size() * size; ++i) blocks[i / size].push_back(std::fabs(x[i]));
  return blocks;
}

Original original(bool returned) {
  return {.op = "act_quant",
          .functions = {"act_quant"},
          .parameters = {{.name = "x", .argument = "x", .field = "dtype", .also = "input in x_ptr src"},
                         {.name = "block_size",
                          .argument = "block_size",
                          .kind = Original::Kind::integer,
                          .optional = true,
                          .fallback = 128,
                          .also = "block bs group_size group"},
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
          .number =
              [](const core::Call& call, std::string_view) {
                return static_cast<double>(call.options<ActQuantOptions>().block_size);
              },
          .probes = {"m=3 k=256", "m=3 k=256 regime=e4m3_ties", "m=3 k=256 regime=powers",
                     "m=3 k=256 scale=1e-6", "m=3 k=256 scale=1e-11", "m=3 k=256 scale=1e-13",
                     "m=6 k=256 regime=mixed", "m=4 k=256 regime=tiny", "m=3 k=384 regime=outlier",
                     "m=4 k=256 regime=zero_rows", "m=4 k=256 regime=nan", "m=4 k=256 regime=inf",
                     "m=24 k=256 regime=decades", "m=12 k=256 regime=ends", "m=6 k=7168"},
          .sizes = {"k=256 m="},
          // Of whole rows, as where each token has one scale.
          .sayable = {{.field = "k",
                       .names = "b|bs|.*(block|group|tile).*",
                       .values = {"$2 block=$2"},
                       .of_who_says_none = true}},
          .empties = {"m=0 k=256"},
          .called_empty = true,
          .usual = {{{"dtype", DType::bf16}}, {{"dtype", DType::f16}}},
          .open = open,
          .scaling = {.output = 1, .largest = 448, .under_maximum = "floor=", .magnitudes = magnitudes},
          .larger = {"m=2 k=7168", "m=2 k=4096", "m=2 k=1024"}};
}

}  // namespace

std::vector<Original> originals() { return {original(true), original(false)}; }

}  // namespace isomer::ops::act_quant
