#include "ops/weight_dequant/oracle/oracle.hpp"
#include "ops/weight_dequant/weight_dequant.hpp"

namespace isomer::ops::weight_dequant {
namespace {

using oracle::Original;

void bind_values(oracle::Problem& problem, const std::vector<Tensor>& tensors,
                 const std::vector<double>& numbers, DType made) {
  auto& args = problem.args<WeightDequantArgs>();
  auto& options = problem.options<WeightDequantOptions>();
  args = {tensors[0], tensors[1], tensors[3]};
  options.block_size = static_cast<std::int64_t>(numbers[2]);
  if (!args.y.defined() && args.x.rank == 2)
    args.y = problem.make("y", made == DType::none ? DType::bf16 : made, {args.x.size(0), args.x.size(1)});
  problem.bind(bind(args, options));
}

Original original(bool returned) {
  return {.op = "weight_dequant",
          .functions = {"weight_dequant"},
          .parameters = {{.name = "x", .argument = "x", .also = "weight w input x_ptr"},
                         {.name = "s", .argument = "s", .also = "scale scales s_ptr"},
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
                          .field = "dtype",
                          .also = "out output y_ptr"}},
          .bind = bind_values,
          .number =
              [](const core::Call& call, std::string_view) {
                return static_cast<double>(call.options<WeightDequantOptions>().block_size);
              },
          // Of whole blocks in one axis alone a wrong count of them shows in the other.
          .probes = {"m=130 n=260", "m=130 n=256", "m=130 n=140 regime=patterns scale=0.001",
                     "m=129 n=257 sregime=outlier",
                     // Products half way between two values of a narrow type.
                     "m=3 n=2040 sregime=ties"},
          .sizes = {"n=40 m=", "m=5 n="},
          .empties = {"m=0 n=128"},
          .usual = {{{"dtype", DType::f32}}, {{"dtype", DType::bf16}}, {{"dtype", DType::f16}}},
          .larger = {"m=2 n=7168", "m=7168 n=2"},
          .whole_blocks = "m=128 n=256"};
}

}  // namespace

std::vector<Original> originals() { return {original(true), original(false)}; }

}  // namespace isomer::ops::weight_dequant
