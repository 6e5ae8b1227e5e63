#include "ops/sin/oracle/oracle.hpp"
#include "ops/sin/sin.hpp"

namespace isomer::ops::sin {
namespace {

using oracle::Original;

void bind_values(oracle::Problem& problem, const std::vector<Tensor>& tensors, const std::vector<double>&,
                 DType) {
  auto& args = problem.args<SinArgs>();
  args.x = tensors[0];
  args.y = tensors[1];
  if (!args.y.defined()) {
    const std::vector<std::int64_t> shape(args.x.shape.begin(), args.x.shape.begin() + args.x.rank);
    args.y = problem.make("y", args.x.dtype, shape);
  }
  problem.bind(bind(args, problem.options<SinOptions>()));
}

Original returning(bool returned, std::vector<std::string> functions) {
  return {
      .op = "sin",
      .functions = std::move(functions),
      .parameters = {{.name = "x", .argument = "x", .field = "dtype", .also = "input in src x_ptr in_ptr"},
                     {.name = returned ? "output" : "out",
                      .argument = "y",
                      .output = true,
                      .returned = returned,
                      .field = "dtype",
                      .also = "out output y dst result out_ptr output_ptr"}},
      .bind = bind_values,
      .number = {},
      .probes = {"n=1000", "n=515 rows=3 scale=100", "n=300 regime=ties", "n=300 regime=subnormal",
                 "n=200 scale=1000000", "n=300 regime=mixed", "n=300 regime=nan", "n=300 regime=inf"},
      .sizes = {"n="},
      .empties = {"n=0"},
      .called_empty = true,
      .usual = {{{"dtype", DType::f32}}},
      .drops_leading_ones = true};
}

}  // namespace

std::vector<Original> originals() {
  return {returning(true, {"call_kernel", "sin"}), returning(false, {"sin_triton"})};
}

}  // namespace isomer::ops::sin
