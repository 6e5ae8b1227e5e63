#include "ops/sin/oracle/oracle.hpp"
#include "ops/sin/sin.hpp"

namespace isomer::ops::sin {
namespace {

using oracle::Case;

const oracle::CaseSchema& schema() {
  static const oracle::CaseSchema fields(
      "sin", {oracle::integer("n", 1024, "elements of a row"), oracle::integer("rows", 1, "rows"),
              oracle::dtype("dtype", {DType::f32, DType::f16, DType::bf16}, DType::f32, "element type", true),
              oracle::choice("layout", oracle::layout_names(), "how x and y lie in memory", true),
              oracle::choice("regime", oracle::regime_names(), "values of x"),
              oracle::real("scale", 1.0, "multiplies the values of x"), oracle::flag("inplace", "y is x")});
  return fields;
}

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const char* dtype : {"f32", "f16", "bf16"}) {
    const Case base = Case(schema()).set("dtype", dtype);
    for (std::int64_t n : {0, 1, 7, 8, 9, 31, 33, 1000, 4097}) list.push_back(Case(base).set("n", n));
    for (const std::string& layout : oracle::layout_names())
      list.push_back(Case(base).set("n", 77).set("rows", 5).set("layout", layout));
    for (const std::string& regime : oracle::regime_names())
      list.push_back(Case(base).set("n", 515).set("rows", 3).set("regime", regime));
    for (const char* scale : {"1000", "1000000", "10000000000"})
      list.push_back(Case(base).set("n", 2051).set("scale", scale));
    list.push_back(Case(base).set("n", 100000));
    list.push_back(Case(base).set("n", 513).set("inplace", "1"));
  }
  return list;
}

void make(const Case& c, oracle::Problem& problem) {
  auto& args = problem.args<SinArgs>();
  auto& options = problem.options<SinOptions>();
  const std::vector<std::int64_t> shape = {c.integer("rows"), c.integer("n")};
  const oracle::Layout layout = oracle::layout_of(c.choice("layout"));
  args.x = problem.make("x", c.dtype("dtype"), shape, layout, oracle::regime_of(c.choice("regime")),
                        c.real("scale"));
  const bool broadcast = layout == oracle::Layout::broadcast;
  args.y = c.flag("inplace")
               ? args.x
               : problem.make("y", c.dtype("dtype"), shape, broadcast ? oracle::Layout::contiguous : layout);
  problem.bind(bind(args, options));
}

}  // namespace

oracle::Oracle oracle() {
  return {.contract = &contract(),
          .schema = &schema(),
          .cases = cases,
          .make = make,
          .reference = reference,
          .variations = variations(),
          .bench_cases =
              [] {
                return std::vector<Case>{Case(schema()).set("n", 16777216),
                                         Case(schema()).set("n", 33554432).set("dtype", "bf16")};
              },
          .device_bench_lines = {"sin n=268435456 f32", "sin n=268435456 bf16", "sin n=65536 f32"},
          .features = {},
          .originals = originals()};
}

}  // namespace isomer::ops::sin
