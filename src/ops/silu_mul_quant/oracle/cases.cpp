#include "core/ceil_div.hpp"
#include "ops/silu_mul_quant/oracle/oracle.hpp"
#include "ops/silu_mul_quant/silu_mul_quant.hpp"

#include <algorithm>
#include <cmath>

namespace isomer::ops::silu_mul_quant {
namespace {

using oracle::Case;
using oracle::Layout;
using oracle::Problem;
using oracle::Random;

/// Every layout whose last dimension is contiguous.
const std::vector<std::string>& layouts() {
  static const std::vector<std::string> list = {"contiguous", "padded", "offset", "transposed", "broadcast"};
  return list;
}

const oracle::CaseSchema& schema() {
  static const oracle::CaseSchema fields(
      "silu_mul_quant",
      {oracle::choice("rows", {"single", "masked"}, "one matrix, or one for each entry with row counts",
                      true),
       oracle::integer("g", 3, "entries; masked"), oracle::integer("m", 5, "rows; masked: of each entry"),
       oracle::choice("counts", {"random", "none", "all", "one"},
                      "masked: rows of each entry, any number, 0, m or 1"),
       oracle::integer("k", 256, "elements of a row of y"),
       oracle::dtype("dtype", {DType::bf16, DType::f16, DType::f32}, DType::bf16, "type of x", true),
       oracle::option(contract(), "amax_floor", "amax_floor", "floor"),
       oracle::flag_of_choice(contract(), "scale_format", "scale_format", "ue8m0"),
       oracle::flag_of_choice(contract(), "scale_layout", "scale_layout column_major", "colmajor"),
       oracle::choice("layout", layouts(), "how x, y and s lie in memory", true),
       oracle::choice("regime", oracle::all_regime_names(), "values of x"),
       oracle::real("scale", 1.0, "multiplies the values of x")});
  return fields;
}

std::vector<Case> cases() {
  std::vector<Case> list;
  const auto both = [&](const Case& c) {
    list.push_back(c);
    list.push_back(Case(c).set("rows", "masked"));
  };
  for (const char* dtype : {"bf16", "f16", "f32"}) {
    const Case base = Case(schema()).set("dtype", dtype);
    for (const std::int64_t k : {128, 384, 1024}) both(Case(base).set("k", k).set("m", k == 384 ? 7 : 1));
    both(Case(base).set("m", 17).set("k", 2048));
    for (const char* counts : {"none", "all", "one"})
      list.push_back(Case(base).set("rows", "masked").set("counts", counts).set("g", 5));
    for (const char* empty : {"m", "k"}) both(Case(base).set(empty, std::int64_t{0}));
    list.push_back(Case(base).set("rows", "masked").set("g", std::int64_t{0}));
    for (const std::string& layout : layouts()) {
      both(Case(base).set("layout", layout));
      both(Case(base).set("layout", layout).set("ue8m0", "1").set("colmajor", "1"));
    }
    for (const std::int64_t m : {1, 4, 9}) both(Case(base).set("colmajor", "1").set("m", m).set("k", 640));
    for (const std::string& regime : oracle::regime_names()) {
      both(Case(base).set("regime", regime));
      list.push_back(Case(base).set("regime", regime).set("ue8m0", "1"));
    }
    // Gates whose exponentials vanish or overflow, and blocks round the floor.
    for (const char* scale : {"30", "100", "0.001"}) both(Case(base).set("scale", scale));
    for (const char* floor : {"0", "0.01", "1"})
      for (const char* scale : {"0.02", "1"})
        list.push_back(Case(base).set("floor", floor).set("scale", scale));
    list.push_back(Case(base).set("floor", "0").set("regime", "zero_rows"));
  }
  std::vector<Case> distinct;
  for (const Case& c : list)
    if (std::find(distinct.begin(), distinct.end(), c) == distinct.end()) distinct.push_back(c);
  return distinct;
}

Tensor make_scales(const Case& c, Problem& problem, std::vector<std::int64_t> shape, Layout layout) {
  shape.back() /= kBlock;
  if (!c.flag("colmajor")) return problem.make("s", DType::f32, shape, layout);
  const std::int64_t rows = shape[shape.size() - 2];
  const std::int64_t column = core::align_up(rows, 4) + (layout == Layout::padded ? 8 : 0);
  std::vector<std::int64_t> strides = {1, column};
  if (shape.size() == 3) strides.insert(strides.begin(), column * shape.back());
  return problem.make_strided("s", DType::f32, shape, strides);
}

void make(const Case& c, Problem& problem) {
  auto& args = problem.args<SiluMulQuantArgs>();
  auto& options = problem.options<SiluMulQuantOptions>();
  const std::int64_t g = c.integer("g"), m = c.integer("m"), k = c.integer("k");
  const bool masked = c.choice("rows") == "masked";
  const auto rows_of = [&](std::int64_t last) {
    return masked ? std::vector<std::int64_t>{g, m, last} : std::vector<std::int64_t>{m, last};
  };
  const Layout layout = oracle::layout_of(c.choice("layout"));
  args.x = problem.make("x", c.dtype("dtype"), rows_of(2 * k), layout, oracle::regime_of(c.choice("regime")),
                        c.real("scale"));
  const Layout out = layout == Layout::broadcast ? Layout::contiguous : layout;
  args.y = problem.make("y", DType::e4m3fn, rows_of(k), out);
  args.s = make_scales(c, problem, rows_of(k), out);
  if (masked) {
    Random random(c.seed(), "counts");
    std::vector<std::int64_t> counts(static_cast<std::size_t>(g));
    const std::string& kind = c.choice("counts");
    for (std::int64_t& count : counts)
      count = kind == "none"  ? 0
              : kind == "all" ? m
              : kind == "one" ? std::min<std::int64_t>(1, m)
                              : random.below(m + 1);
    args.row_counts = problem.make("row_counts", DType::i32, {g}, counts);
  }
  oracle::set_options(c, contract(), &options);
  problem.bind(bind(args, options));
}

std::vector<std::string> features(const Case& c) {
  return {"rows_" + c.choice("rows"), c.flag("ue8m0") ? "scale_ue8m0" : "scale_f32",
          c.flag("colmajor") ? "scales_column_major" : "scales_row_major"};
}

std::vector<Case> bench_cases() {
  const Case base = Case(schema()).set("m", 2048).set("k", 2048);
  return {base, Case(base).set("dtype", "f32"),
          Case(base).set("rows", "masked").set("g", 64).set("m", 64).set("counts", "all")};
}

}  // namespace

oracle::Oracle oracle() {
  return {.contract = &contract(),
          .schema = &schema(),
          .cases = cases,
          .make = make,
          .reference = reference,
          .variations = variations(),
          .bench_cases = bench_cases,
          .device_bench_lines = {"silu_mul_quant m=16384 k=2048 dtype=bf16",
                                 "silu_mul_quant masked g=64 m=64 k=2048 counts=all dtype=bf16"},
          .features = features,
          .originals = originals()};
}

}  // namespace isomer::ops::silu_mul_quant
