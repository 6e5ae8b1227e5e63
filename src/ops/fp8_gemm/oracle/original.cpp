#include "ops/fp8_gemm/fp8_gemm.hpp"
#include "ops/fp8_gemm/oracle/oracle.hpp"

namespace isomer::ops::fp8_gemm {
namespace {

using oracle::Original;

void bind_values(oracle::Problem& problem, const std::vector<Tensor>& tensors, const std::vector<double>&,
                 DType made) {
  auto& args = problem.args<Fp8GemmArgs>();
  args.a = tensors[0];
  args.a_s = tensors[1];
  args.b = tensors[2];
  args.b_s = tensors[3];
  args.c = tensors[4];
  if (!args.c.defined() && args.a.rank > 0 && args.b.rank > 0) {
    std::vector<std::int64_t> shape(args.a.shape.begin(), args.a.shape.begin() + args.a.rank);
    shape.back() = args.b.size(0);
    args.c = problem.make("c", made == DType::none ? DType::bf16 : made, shape);
  }
  problem.bind(bind(args, problem.options<Fp8GemmOptions>()));
}

Original original(bool returned) {
  return {.op = "fp8_gemm",
          .functions = {"fp8_gemm"},
          .parameters = {{.name = "a", .argument = "a", .also = "A x input a_ptr"},
                         {.name = "a_s", .argument = "a_s", .also = "a_scale a_scales scale_a As a_s_ptr"},
                         {.name = "b", .argument = "b", .also = "B w weight b_ptr"},
                         {.name = "b_s", .argument = "b_s", .also = "b_scale b_scales scale_b Bs b_s_ptr"},
                         {.name = "c",
                          .argument = "c",
                          .output = true,
                          .returned = returned,
                          .field = "dtype",
                          .also = "C out output c_ptr y"}},
          .bind = bind_values,
          .number = {},
          .probes = {"m=4 n=140 k=384", "m=3 n=132 k=256 scales=signed", "m=3 n=40 k=256 regime=subnormal",
                     "m=2 n=20 k=384 regime=patterns", "m=3 n=20 k=200",
                     "m=3 n=20 k=208"},  // of rows at whole vectors
          .sizes = {"n=20 k=128 m=", "m=3 k=128 n="},
          // Of whole tiles, of which no parameter says that there are no others.
          .sayable = {{"m", "", {"64"}}, {"n", "", {"128"}}, {"k", "", {"256"}}},
          .empties = {"m=0 n=32 k=128"},
          .called_empty = true,
          .usual = {{{"dtype", DType::bf16}}, {{"dtype", DType::f32}}, {{"dtype", DType::f16}}},
          .larger = {"m=2 n=20 k=7168", "m=2 n=20 k=1024"}};
}

}  // namespace

std::vector<Original> originals() { return {original(true), original(false)}; }

}  // namespace isomer::ops::fp8_gemm
