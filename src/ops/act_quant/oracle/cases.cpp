#include "core/ceil_div.hpp"
#include "ops/act_quant/act_quant.hpp"
#include "ops/act_quant/oracle/oracle.hpp"

#include "core/codec.hpp"

#include <algorithm>
#include <cmath>

namespace isomer::ops::act_quant {
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
  // Regimes of this op's own: quotients that are ties between e4m3 values, scales next to powers of two, and
  // rows of all magnitudes.
  std::vector<std::string> regimes = oracle::all_regime_names();
  regimes.insert(regimes.end(), {"e4m3_ties", "powers", "decades"});
  static const oracle::CaseSchema fields(
      "act_quant",
      {oracle::integer("rank", 2, "dimensions of x: [k], [m k], [b m k] or [b 2 m k]"),
       oracle::integer("b", 2, "size of a third dimension"), oracle::integer("m", 4, "rows"),
       oracle::integer("k", 256, "elements of a row"),
       oracle::dtype("dtype", {DType::bf16, DType::f16, DType::f32}, DType::bf16, "type of x", true),
       oracle::option(contract(), "block_size", "block_size", "block"),
       oracle::option(contract(), "amax_floor", "amax_floor", "floor"),
       oracle::flag_of_choice(contract(), "scale_format", "scale_format", "ue8m0"),
       oracle::flag_of_choice(contract(), "scale_layout", "scale_layout column_major", "colmajor"),
       oracle::choice("layout", layouts(), "how x, y and s lie in memory", true),
       oracle::choice("regime", regimes, "values of x"),
       oracle::real("scale", 1.0, "multiplies the values of x")});
  return fields;
}

void add_sizes(std::vector<Case>& list, const Case& base) {
  for (std::int64_t block : {32, 64, 128, 256})
    for (std::int64_t blocks : {1, 2, 7})
      list.push_back(Case(base).set("block", block).set("k", block * blocks).set("m", blocks == 7 ? 5 : 1));
  for (std::int64_t rank : {1, 2, 3, 4})
    list.push_back(Case(base).set("rank", rank).set("m", 3).set("k", 384));
  for (const char* empty : {"b", "m", "k"})
    list.push_back(Case(base).set("rank", 3).set(empty, std::int64_t{0}));
  list.push_back(Case(base).set("m", 17).set("k", 7168));
  list.push_back(Case(base).set("m", 1).set("k", 65536).set("block", 64));
}

void add_layouts(std::vector<Case>& list, const Case& base) {
  for (const std::string& layout : layouts()) {
    const Case one = Case(base).set("rank", 3).set("m", 3).set("layout", layout);
    list.push_back(one);
    list.push_back(Case(one).set("ue8m0", "1").set("block", 32));
  }
  for (std::int64_t m : {1, 3, 4, 5, 9})
    list.push_back(Case(base).set("colmajor", "1").set("m", m).set("k", 640).set("rank", m % 3 + 2));
  list.push_back(Case(base).set("colmajor", "1").set("rank", 1));
  list.push_back(Case(base).set("colmajor", "1").set("m", 7).set("layout", "padded").set("ue8m0", "1"));
}

void add_values(std::vector<Case>& list, const Case& base) {
  const Case rows = Case(base).set("m", 7).set("k", 384);
  for (const std::string& regime : oracle::regime_names()) {
    list.push_back(Case(rows).set("regime", regime));
    list.push_back(Case(rows).set("regime", regime).set("ue8m0", "1").set("block", 64));
  }
  for (const char* regime : {"e4m3_ties", "powers"}) {
    list.push_back(Case(rows).set("regime", regime));
    for (std::int64_t block : {32, 128})
      list.push_back(Case(rows).set("regime", regime).set("block", block).set("ue8m0", "1"));
  }
  // Below, at and above every floor that is in use somewhere.
  for (const char* floor : {"0", "1e-12", "1e-10", "0.0001", "1"})
    for (const char* scale : {"1e-6", "1e-11", "1e-13"}) {
      if (base.dtype("dtype") == DType::f16 && std::string(scale) != "1e-6") continue;
      list.push_back(Case(rows).set("floor", floor).set("scale", scale));
    }
  for (const char* regime : {"zero", "zero_rows", "subnormal", "tiny"})
    list.push_back(Case(rows).set("floor", "0").set("regime", regime));
  list.push_back(Case(rows).set("floor", "0").set("regime", "zero_rows").set("ue8m0", "1"));
  list.push_back(Case(rows).set("floor", "0").set("regime", "subnormal").set("ue8m0", "1"));
}

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const char* dtype : {"bf16", "f16", "f32"}) {
    const Case base = Case(schema()).set("dtype", dtype);
    add_sizes(list, base);
    add_layouts(list, base);
    add_values(list, base);
  }
  std::vector<Case> distinct;
  for (const Case& c : list)
    if (std::find(distinct.begin(), distinct.end(), c) == distinct.end()) distinct.push_back(c);
  return distinct;
}

void put(const Tensor& x, std::int64_t row, std::int64_t column, double value) {
  core::encode(x.dtype, value, x.at(row, column));
}

double sign(Random& random) { return random.bits() & 1 ? 1.0 : -1.0; }

/// Half-way points of e4m3: odd multiples of half its quantum, from the subnormals to 432.
double midpoint(Random& random) {
  const std::int64_t exponent = random.below(16) - 7;  // −7: the subnormals
  if (exponent == -7) return static_cast<double>(2 * random.below(8) + 1) * 0x1p-10;
  const std::int64_t odd = 17 + 2 * random.below(exponent == 8 ? 6 : 8);
  return static_cast<double>(odd) * std::exp2(static_cast<double>(exponent - 4));
}

/// Blocks in which x / s is a tie, exactly or but for the last bit of s or of the quotient. amax is 448·c
/// with c so short that 448·c and every c·midpoint have room in the dtype; then s = c. In f32 every other
/// block has an amax of full length and elements next to midpoint·s.
void fill_ties(const Tensor& x, std::int64_t size, Random& random) {
  const int digits = x.dtype == DType::f32 ? 24 : x.dtype == DType::f16 ? 11 : 8;
  const auto top = static_cast<std::int64_t>(1) << (digits - 6);
  for (std::int64_t row = 0; row < x.size(0); ++row)
    for (std::int64_t first = 0; first < x.size(1); first += size) {
      const double c = static_cast<double>(top + random.below(top)) / static_cast<double>(2 * top);
      const bool full = x.dtype == DType::f32 && (first / size + row) % 2 == 1;
      const auto amax = static_cast<float>(full ? 100.0 + 300.0 * random.uniform() : 448.0 * c);
      const float scale = amax / 448.0f;
      put(x, row, first, sign(random) * static_cast<double>(amax));
      for (std::int64_t i = 1; i < size; ++i) {
        auto value = static_cast<float>(midpoint(random) * static_cast<double>(scale));
        if (full && random.below(3) == 0) value = std::nextafter(value, random.bits() & 1 ? 0.0f : amax);
        put(x, row, first + i, sign(random) * static_cast<double>(value));
      }
    }
}

/// Blocks whose amax lies up to three steps of the dtype from 448·2^n.
void fill_powers(const Tensor& x, std::int64_t size, Random& random) {
  const double step = 2 * core::unit_roundoff(x.dtype) / 1.75;
  const int range = x.dtype == DType::f16 ? 6 : 40;
  for (std::int64_t row = 0; row < x.size(0); ++row)
    for (std::int64_t first = 0; first < x.size(1); first += size) {
      const double power = std::exp2(static_cast<double>(random.below(2 * range + 1) - range));
      const double amax = 448 * power * (1 + static_cast<double>(random.below(7) - 3) * step);
      put(x, row, first, sign(random) * amax);
      for (std::int64_t i = 1; i < size; ++i) put(x, row, first + i, amax * (2 * random.uniform() - 1) * 0.9);
    }
}

/// The regimes that are made block by block; x is compact.
void fill_blocks(const Case& c, const Tensor& x, Random& random) {
  const std::int64_t k = c.integer("k"), block = c.integer("block");
  const std::string& regime = c.choice("regime");
  const Tensor rows(x.data, x.dtype, {k > 0 ? x.numel() / k : 0, k});
  if (regime == "decades")
    oracle::fill_decades(Tensor(x.data, x.dtype, {x.numel() / block, block}),
                         x.dtype == DType::f16 ? -7 : -13, 3, random);
  else if (regime == "powers")
    fill_powers(rows, block, random);
  else
    fill_ties(rows, block, random);
}

Tensor make_scales(const Case& c, Problem& problem, std::vector<std::int64_t> shape, Layout layout) {
  shape.back() = c.integer("k") / c.integer("block");
  if (!c.flag("colmajor")) return problem.make("s", DType::f32, shape, layout);
  std::vector<std::int64_t> strides(shape.size(), 1);
  std::int64_t rows = 1;
  for (std::size_t i = shape.size() - 1; i-- > 0;) {
    strides[i] = rows;
    rows *= shape[i];
  }
  strides.back() = core::align_up(rows, 4) + (layout == Layout::padded ? 8 : 0);
  return problem.make_strided("s", DType::f32, shape, strides);
}

void make(const Case& c, Problem& problem) {
  auto& args = problem.args<ActQuantArgs>();
  auto& options = problem.options<ActQuantOptions>();
  std::vector<std::int64_t> shape = {c.integer("b"), 2, c.integer("m"), c.integer("k")};
  const std::int64_t rank = c.integer("rank");
  if (rank == 3) shape = {c.integer("b"), c.integer("m"), c.integer("k")};
  if (rank < 3) shape = {c.integer("m"), c.integer("k")};
  if (rank < 2) shape = {c.integer("k")};
  const Layout layout = oracle::layout_of(c.choice("layout"));
  const std::string& regime = c.choice("regime");
  if (regime == "e4m3_ties" || regime == "powers" || regime == "decades") {
    args.x = problem.make("x", c.dtype("dtype"), shape);
    if (problem.drawn()) fill_blocks(c, args.x, problem.random());
  } else {
    args.x = problem.make("x", c.dtype("dtype"), shape, layout, oracle::regime_of(regime), c.real("scale"));
  }
  const Layout out = layout == Layout::broadcast ? Layout::contiguous : layout;
  args.y = problem.make("y", DType::e4m3fn, shape, out);
  args.s = make_scales(c, problem, shape, out);
  oracle::set_options(c, contract(), &options);
  problem.bind(bind(args, options));
}

/// The inputs that the original leaves undefined.
bool undefined_in_original(const Case& c) {
  const std::string& regime = c.choice("regime");
  const bool zeros = regime == "zero" || regime == "zero_rows" || regime == "mixed";
  return regime == "nan" || regime == "inf" || (zeros && c.real("floor") == 0);
}

std::vector<std::string> features(const Case& c) {
  std::vector<std::string> list = {"block_" + std::to_string(c.integer("block")),
                                   c.flag("ue8m0") ? "scale_ue8m0" : "scale_f32",
                                   c.flag("colmajor") ? "scales_column_major" : "scales_row_major"};
  if (undefined_in_original(c)) list.emplace_back("undefined_in_original");
  return list;
}

std::vector<Case> bench_cases() {
  const Case base = Case(schema()).set("m", 4096).set("k", 7168);
  return {base, Case(base).set("dtype", "f32"), Case(base).set("ue8m0", "1").set("colmajor", "1"),
          Case(base).set("m", 128)};
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
          .device_bench_lines = {"act_quant m=16384 k=7168 dtype=bf16",
                                 "act_quant m=16384 k=7168 dtype=f16 ue8m0 colmajor",
                                 "act_quant m=16384 k=7168 dtype=f32", "act_quant m=128 k=7168 dtype=bf16"},
          .features = features,
          .originals = originals()};
}

}  // namespace isomer::ops::act_quant
