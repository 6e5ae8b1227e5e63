#include "core/ceil_div.hpp"
#include "core/codec.hpp"
#include "ops/weight_quant/oracle/oracle.hpp"
#include "ops/weight_quant/weight_quant.hpp"

#include <algorithm>
#include <cmath>

namespace isomer::ops::weight_quant {
namespace {

using oracle::Case;
using oracle::Layout;
using oracle::Random;

/// The layouts that a matrix with a contiguous last dimension can have.
const std::vector<std::string>& layouts() {
  static const std::vector<std::string> list = {"contiguous", "padded", "offset", "broadcast"};
  return list;
}

const oracle::CaseSchema& schema() {
  // A regime of this op's own: quotients that are ties between values of e4m3.
  std::vector<std::string> regimes = oracle::all_regime_names();
  regimes.emplace_back("e4m3_ties");
  static const oracle::CaseSchema fields(
      "weight_quant",
      {oracle::integer("m", 128, "rows"), oracle::integer("n", 128, "columns"),
       oracle::option(contract(), "block_size", "block_size", "block"),
       oracle::option(contract(), "amax_floor", "amax_floor", "floor"),
       oracle::flag_of_choice(contract(), "scale_format", "scale_format", "ue8m0"),
       oracle::flag_of_choice(contract(), "scale_layout", "scale_layout column_major", "colmajor"),
       oracle::dtype("dtype", {DType::bf16, DType::f16, DType::f32}, DType::bf16, "type of x", true),
       oracle::choice("layout", layouts(), "how x, y and s lie in memory", true),
       oracle::choice("regime", regimes, "values of x"),
       oracle::real("scale", 1.0, "multiplies the values of x")});
  return fields;
}

std::vector<Case> cases() {
  std::vector<Case> list;
  const auto add = [&](const Case& base, std::int64_t m, std::int64_t n, std::int64_t block) {
    list.push_back(Case(base).set("m", m).set("n", n).set("block", block));
  };
  for (const char* dtype : {"bf16", "f16", "f32"}) {
    const Case base = Case(schema()).set("dtype", dtype);
    for (const auto& [m, n] :
         {std::pair{128, 128}, {256, 384}, {1, 1}, {129, 257}, {127, 130}, {300, 200}, {2, 1000}})
      add(base, m, n, 128);
    for (std::int64_t block : {1, 2, 7, 16, 33, 64, 1000000}) add(base, 37, 71, block);
    for (const auto& [m, n] : {std::pair{0, 128}, {128, 0}, {0, 0}}) add(base, m, n, 128);
    add(base, 3, 40000, 128);
    add(base, 2, 70001, 40000);
    const Case ragged = Case(base).set("m", 67).set("n", 45).set("block", 32);
    const Case wide = Case(base).set("m", 96).set("n", 160).set("block", 64);
    for (const std::string& layout : layouts()) {
      list.push_back(Case(ragged).set("layout", layout));
      list.push_back(Case(wide).set("layout", layout).set("ue8m0", "1"));
    }
    for (const std::string& regime : oracle::regime_names()) {
      list.push_back(Case(ragged).set("regime", regime));
      list.push_back(Case(wide).set("regime", regime).set("ue8m0", "1"));
    }
    for (const Case& one : {ragged, wide})
      for (const char* layout : {"contiguous", "padded"})
        list.push_back(Case(one).set("colmajor", "1").set("layout", layout));
    for (std::int64_t block : {32, 64, 128})
      list.push_back(Case(ragged).set("regime", "e4m3_ties").set("block", block));
    for (const char* floor : {"0", "0.0001", "1"})
      for (const char* scale : {"1e-6", "1e-3"})
        list.push_back(Case(ragged).set("floor", floor).set("scale", scale));
    for (const char* regime : {"zero", "zero_rows", "subnormal", "tiny"})
      list.push_back(Case(ragged).set("floor", "0").set("regime", regime));
  }
  std::vector<Case> distinct;
  for (const Case& c : list)
    if (std::find(distinct.begin(), distinct.end(), c) == distinct.end()) distinct.push_back(c);
  return distinct;
}

void put(const Tensor& x, std::int64_t row, std::int64_t column, double value) {
  core::encode(x.dtype, value, x.at(row, column));
}

/// Half-way points of e4m3: odd multiples of half its quantum, from the subnormals to 432.
double midpoint(Random& random) {
  const std::int64_t exponent = random.below(16) - 7;  // −7: the subnormals
  if (exponent == -7) return static_cast<double>(2 * random.below(8) + 1) * 0x1p-10;
  const std::int64_t odd = 17 + 2 * random.below(exponent == 8 ? 6 : 8);
  return static_cast<double>(odd) * std::exp2(static_cast<double>(exponent - 4));
}

/// Blocks in which x / s is a tie. Their amax is 448·c, with c so short that it and every c·midpoint have
/// room in the dtype; then s = c.
void fill_ties(const Tensor& x, std::int64_t size, Random& random) {
  const int digits = x.dtype == DType::f32 ? 24 : x.dtype == DType::f16 ? 11 : 8;
  const auto top = static_cast<std::int64_t>(1) << (digits - 6);
  const std::int64_t across = core::ceil_div(x.size(1), size), down = core::ceil_div(x.size(0), size);
  std::vector<double> scales;
  for (std::int64_t i = 0; i < across * down; ++i)
    scales.push_back(static_cast<double>(top + random.below(top)) / static_cast<double>(2 * top));
  for (std::int64_t m = 0; m < x.size(0); ++m)
    for (std::int64_t n = 0; n < x.size(1); ++n) {
      const double c = scales[static_cast<std::size_t>(m / size * across + n / size)];
      const bool largest = m % size == 0 && n % size == 0;
      put(x, m, n, (random.bits() & 1 ? 1.0 : -1.0) * c * (largest ? 448.0 : midpoint(random)));
    }
}

void make(const Case& c, oracle::Problem& problem) {
  auto& args = problem.args<WeightQuantArgs>();
  auto& options = problem.options<WeightQuantOptions>();
  const std::int64_t m = c.integer("m"), n = c.integer("n"), block = c.integer("block");
  const Layout layout = oracle::layout_of(c.choice("layout"));
  if (c.choice("regime") == "e4m3_ties") {
    args.x = problem.make("x", c.dtype("dtype"), {m, n});
    if (problem.drawn()) fill_ties(args.x, block, problem.random());
  } else {
    args.x = problem.make("x", c.dtype("dtype"), {m, n}, layout, oracle::regime_of(c.choice("regime")),
                          c.real("scale"));
  }
  const Layout out = layout == Layout::broadcast ? Layout::contiguous : layout;
  args.y = problem.make("y", DType::e4m3fn, {m, n}, out);
  const std::int64_t down = core::ceil_div(m, block), across = core::ceil_div(n, block);
  args.s = c.flag("colmajor")
               ? problem.make_strided("s", DType::f32, {down, across},
                                      {1, core::align_up(down, 4) + (layout == Layout::padded ? 8 : 0)})
               : problem.make("s", DType::f32, {down, across}, out);
  oracle::set_options(c, contract(), &options);
  problem.bind(bind(args, options));
}

std::vector<std::string> features(const Case& c) {
  const bool ragged = c.integer("m") % c.integer("block") != 0 || c.integer("n") % c.integer("block") != 0;
  return {ragged ? "ragged" : "whole_blocks", c.flag("ue8m0") ? "scale_ue8m0" : "scale_f32",
          c.flag("colmajor") ? "scales_column_major" : "scales_row_major"};
}

std::vector<Case> bench_cases() {
  const Case base = Case(schema()).set("m", 4096).set("n", 7168);
  return {base, Case(base).set("dtype", "f32")};
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
          .device_bench_lines = {"weight_quant m=24576 n=7168 dtype=bf16"},
          .features = features,
          .originals = originals()};
}

}  // namespace isomer::ops::weight_quant
