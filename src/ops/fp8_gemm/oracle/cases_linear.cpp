#include "core/ceil_div.hpp"
#include "ops/fp8_gemm/fp8_gemm.hpp"
#include "ops/fp8_gemm/oracle/cases_operands.hpp"
#include "ops/fp8_gemm/oracle/oracle.hpp"

namespace isomer::ops::fp8_gemm {
namespace linear {
namespace {

using oracle::Case;
using oracle::Problem;

const oracle::CaseSchema& schema() {
  static const oracle::CaseSchema fields(
      "fp8_linear",
      {oracle::integer("rank", 2, "dimensions of x: [k], [m k], [b m k] or [b 2 m k]"),
       oracle::integer("b", 2, "size of a third dimension of x"), oracle::integer("m", 7, "rows of x"),
       oracle::integer("n", 72, "rows of b"), oracle::integer("k", 256, "columns of x and b"),
       oracle::dtype("dtype", {DType::bf16, DType::f16, DType::f32}, DType::bf16, "type of c", true),
       oracle::dtype("x", {DType::bf16, DType::f16, DType::f32}, DType::bf16, "type of x"),
       oracle::option(linear_contract(), "amax_floor", "amax_floor", "floor"),
       oracle::flag_of_choice(linear_contract(), "scale_format", "scale_format", "ue8m0"),
       oracle::option(linear_contract(), "b_ready", "b_ready"),
       oracle::choice("layout", operand_layouts(), "how x, b, c and addend lie in memory", true),
       oracle::choice("b_s", {"row_major", "column_major", "inner"}, "how b_s lies in memory"),
       oracle::choice("regime", oracle::regime_names(), "values of x"),
       oracle::choice("bregime", oracle::regime_names(), "values of b"),
       oracle::choice("scales", {"spread", "one", "signed", "zero"}, "values of b_s"),
       oracle::real("scale", 1.0, "multiplies the values of x"),
       oracle::choice("bias", {"none", "f32", "f16", "bf16"}, "type of bias"),
       oracle::choice("addend", {"none", "own", "c"}, "addend: none, a tensor of its own, or c itself")});
  return fields;
}

std::vector<Case> cases() {
  std::vector<Case> list;
  const Case base = Case(schema()).set("dtype", "f32");
  // Types of x; few rows, and rows round one tile (64).
  for (const char* x : {"bf16", "f16", "f32"}) {
    for (const std::int64_t m : {1, 2, 8, 9, 64, 65, 130}) list.push_back(Case(base).set("x", x).set("m", m));
    for (const char* dtype : {"bf16", "f16"}) {
      list.push_back(Case(base).set("x", x).set("dtype", dtype));
      list.push_back(
          Case(base).set("x", x).set("dtype", dtype).set("ue8m0", "1").set("n", 136).set("k", 640));
    }
    list.push_back(Case(base).set("x", x).set("ue8m0", "1"));
    for (const std::string& regime : oracle::regime_names()) {
      Case c = Case(base).set("x", x).set("regime", regime);
      // What overflows on its way to c depends on the order of its factors: only scales are huge.
      if ((regime == "huge" || regime == "mixed") && c.dtype("x") != DType::f16) c.set("scale", "1e-8");
      list.push_back(c);
    }
  }
  // More blocks of K than stages, one alone, tiles in turn, ragged columns.
  for (const std::int64_t k : {128, 384, 1536, 2048}) list.push_back(Case(base).set("k", k));
  for (const std::int64_t n : {1, 7, 8, 64, 129, 200, 264})
    list.push_back(Case(base).set("n", n).set("m", 5));
  list.push_back(Case(base).set("n", 1000).set("k", 384).set("m", 8));
  for (const char* empty : {"m", "n", "k"}) list.push_back(Case(base).set(empty, std::int64_t{0}));
  list.push_back(Case(base).set("k", std::int64_t{0}).set("bias", "f32"));
  for (const std::int64_t rank : {1, 3, 4}) list.push_back(Case(base).set("rank", rank).set("m", 3));
  for (const std::string& layout : operand_layouts())
    for (const std::int64_t rank : {2, 3})
      list.push_back(Case(base).set("layout", layout).set("rank", rank).set("m", 4).set("addend", "own"));
  for (const char* b_s : {"column_major", "inner"}) list.push_back(Case(base).set("b_s", b_s).set("n", 200));
  for (const char* bias : {"f32", "f16", "bf16"})
    for (const char* addend : {"none", "own", "c"})
      list.push_back(Case(base).set("bias", bias).set("addend", addend));
  for (const std::string& regime : oracle::regime_names()) list.push_back(Case(base).set("bregime", regime));
  for (const char* scales : {"one", "signed", "zero"})
    list.push_back(Case(base).set("scales", scales).set("n", 136));
  for (const char* floor : {"0", "1e-10", "1"})
    for (const char* scale : {"1e-6", "1e-11"})
      list.push_back(Case(base).set("floor", floor).set("scale", scale));
  for (const char* regime : {"zero", "zero_rows"})
    list.push_back(Case(base).set("floor", "0").set("regime", regime));
  for (const std::int64_t m : {7, 70}) list.push_back(Case(base).set("b_ready", "1").set("m", m));
  list.push_back(Case(base).set("b_ready", "1").set("dtype", "bf16").set("k", 1536).set("n", 400));
  return distinct(list);
}

void make(const Case& c, Problem& problem) {
  auto& args = problem.args<Fp8LinearArgs>();
  auto& options = problem.options<Fp8LinearOptions>();
  const std::int64_t n = c.integer("n"), k = c.integer("k");
  const auto rows_of = [&](std::int64_t last) {
    std::vector<std::int64_t> shape = {c.integer("b"), 2, c.integer("m"), last};
    if (c.integer("rank") == 3) shape.erase(shape.begin() + 1);
    if (c.integer("rank") < 3) shape.erase(shape.begin(), shape.begin() + 4 - c.integer("rank"));
    return shape;
  };
  args.x = problem.make("x", c.dtype("x"), rows_of(k), oracle::layout_of(c.choice("layout")),
                        oracle::regime_of(c.choice("regime")), c.real("scale"));
  args.b = make_operand(c, problem, "b", {n, k}, c.choice("bregime"));
  args.b_s = make_scales(problem, "b_s", {core::ceil_div(n, kScaleBlock), core::ceil_div(k, kScaleBlock)},
                         c.choice("b_s"), c.choice("scales"), 1.0);
  const Outputs out = make_outputs(c, problem, rows_of(n), {n});
  args.c = out.c;
  args.bias = out.bias;
  args.addend = out.addend;
  oracle::set_options(c, linear_contract(), &options);
  problem.bind(bind(args, options));
}

std::vector<std::string> features(const Case& c) {
  std::vector<std::string> list = {"x_" + std::string(name_of(c.dtype("x"))),
                                   c.flag("ue8m0") ? "scale_ue8m0" : "scale_f32"};
  if (c.choice("bias") != "none") list.emplace_back("bias");
  if (c.choice("addend") != "none") list.emplace_back("addend");
  return list;
}

std::vector<Case> bench_cases() {
  const Case base = Case(schema()).set("dtype", "bf16");
  const auto size = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    return Case(base).set("m", m).set("n", n).set("k", k);
  };
  return {size(512, 512, 512), size(16, 7168, 2048), size(1, 7168, 2048)};
}

}  // namespace
}  // namespace linear

oracle::Oracle linear_oracle() {
  return {.contract = &linear_contract(),
          .schema = &linear::schema(),
          .cases = linear::cases,
          .make = linear::make,
          .reference = linear_reference,
          .variations = linear_variations(),
          .bench_cases = linear::bench_cases,
          .device_bench_lines = {"fp8_linear m=16 n=7168 k=16384 bf16", "fp8_linear m=64 n=7168 k=16384 bf16",
                                 "fp8_linear m=128 n=7168 k=16384 bf16"},
          .features = linear::features};
}

}  // namespace isomer::ops::fp8_gemm
