#include "ops/quantize_copy_kv/oracle/oracle.hpp"
#include "ops/quantize_copy_kv/quantize_copy_kv.hpp"

#include "core/codec.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace isomer::ops::quantize_copy_kv {
namespace {

using oracle::Case;
using oracle::Layout;
using oracle::Problem;
using oracle::Random;

const oracle::CaseSchema& schema() {
  // Regimes of this op's own: rows whose quotients are whole numbers, and rows of all magnitudes.
  std::vector<std::string> regimes = oracle::regime_names();
  regimes.insert(regimes.end(), {"whole", "decades"});
  static const oracle::CaseSchema fields(
      "quantize_copy_kv",
      {oracle::integer("s", 17, "tokens"), oracle::integer("n", 23, "rows of out"),
       oracle::integer("h", 4, "heads"), oracle::integer("d", 128, "channels"),
       oracle::dtype("dtype", {DType::f16, DType::bf16, DType::f32}, DType::f16, "type of k", true),
       oracle::dtype("scales", {DType::f16, DType::bf16, DType::f32}, DType::f16, "type of out_scale"),
       oracle::dtype("dest", {DType::i32, DType::i64}, DType::i32, "type of dest"),
       oracle::option(contract(), "group", "channels that share a scale, or 0"),
       oracle::flag("far", "rows of out lie 2^30 elements apart"),
       oracle::flag("rank2", "out_scale is [n h] instead of [n h 1]"),
       oracle::choice("order", {"random", "identity", "reversed", "paged", "duplicates", "one_row"},
                      "what dest holds"),
       oracle::choice("layout", oracle::layout_names(), "how the tensors lie in memory", true),
       oracle::choice("regime", regimes, "values of k"),
       oracle::real("scale", 1.0, "multiplies the values of k")});
  return fields;
}

void add_types(std::vector<Case>& list) {
  for (const char* dtype : {"f16", "bf16", "f32"})
    for (const char* scales : {"f16", "bf16", "f32"}) {
      const Case base = Case(schema()).set("dtype", dtype).set("scales", scales);
      list.push_back(base);
      list.push_back(Case(base).set("group", 8).set("dest", "i64").set("d", 72));
      list.push_back(Case(base).set("rank2", "1").set("dest", "i64").set("d", 80));
      list.push_back(Case(base).set("regime", "whole"));
      list.push_back(Case(base).set("regime", "whole").set("group", 8));
    }
}

void add_sizes(std::vector<Case>& list, const Case& base) {
  for (std::int64_t d : {1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 96, 100, 255, 256, 257, 1000})
    list.push_back(Case(base).set("d", d).set("s", 5));
  for (std::int64_t d : {8, 16, 24, 64, 248, 256, 264, 1032})
    list.push_back(Case(base).set("d", d).set("s", 5).set("group", 8));
  for (const char* empty : {"s", "h", "d"}) {
    list.push_back(Case(base).set(empty, std::int64_t{0}));
    list.push_back(Case(base).set(empty, std::int64_t{0}).set("group", 8));
  }
  list.push_back(Case(base).set("s", std::int64_t{0}).set("n", std::int64_t{0}));
  list.push_back(Case(base).set("s", 1).set("n", 1).set("h", 1));
  list.push_back(Case(base).set("s", 300).set("n", 1000).set("h", 3).set("d", 64));
}

void add_orders(std::vector<Case>& list, const Case& base) {
  list.push_back(Case(base).set("order", "paged").set("s", 70).set("n", 96).set("h", 2));
  for (const char* order : {"identity", "reversed", "duplicates", "one_row"})
    for (const char* dest : {"i32", "i64"})
      list.push_back(Case(base).set("order", order).set("dest", dest).set("d", 40));
  list.push_back(Case(base).set("order", "duplicates").set("s", 600).set("n", 37).set("h", 2).set("d", 64));
  list.push_back(Case(base).set("far", "1").set("s", 4).set("n", 4));
  list.push_back(Case(base).set("far", "1").set("s", 3).set("n", 4).set("group", 8).set("dest", "i64"));
  list.push_back(Case(base).set("order", "duplicates").set("group", 8).set("s", 200).set("n", 19));
}

void add_layouts(std::vector<Case>& list, const Case& base) {
  for (const std::string& layout : oracle::layout_names()) {
    const Case one = Case(base).set("layout", layout);
    list.push_back(Case(one).set("d", 72));
    list.push_back(Case(one).set("d", 264).set("group", 8));
    list.push_back(Case(one).set("d", 300).set("rank2", "1"));
  }
}

void add_values(std::vector<Case>& list, const Case& base) {
  for (const std::string& regime : oracle::regime_names()) {
    list.push_back(Case(base).set("regime", regime));
    list.push_back(Case(base).set("regime", regime).set("group", 8).set("scales", "bf16"));
  }
  // f16 scales of these rows are subnormal, and quotients go beyond int8.
  for (const char* scale : {"2e-5", "1e-6", "1e-3"}) {
    list.push_back(Case(base).set("scale", scale));
    list.push_back(Case(base).set("scale", scale).set("group", 8));
    list.push_back(Case(base).set("scale", scale).set("scales", "f32"));
  }
}

std::vector<Case> cases() {
  std::vector<Case> list;
  add_types(list);
  for (const char* dtype : {"f16", "bf16", "f32"}) {
    const Case base = Case(schema()).set("dtype", dtype);
    add_layouts(list, base);
    add_values(list, base);
    add_sizes(list, base);
  }
  add_orders(list, Case(schema()));
  add_orders(list, Case(schema()).set("dtype", "f32").set("scales", "f32"));
  std::vector<Case> distinct;
  for (const Case& c : list)
    if (std::find(distinct.begin(), distinct.end(), c) == distinct.end()) distinct.push_back(c);
  return distinct;
}

/// Adjacent rows that tokens take together with order=paged; rows are a multiple of them.
constexpr std::int64_t kPage = 16;

std::vector<std::int64_t> destinations(const Case& c, Random& random) {
  const std::int64_t tokens = c.integer("s"), rows = c.integer("n");
  const std::string& order = c.choice("order");
  std::vector<std::int64_t> dest(static_cast<std::size_t>(tokens));
  if (order == "random") {
    const std::vector<std::int64_t> some = random.permutation(rows);
    std::copy(some.begin(), some.begin() + std::min(rows, tokens), dest.begin());
  } else if (order == "paged") {
    const std::vector<std::int64_t> pages = random.permutation(rows / kPage);
    for (std::int64_t i = 0; i < tokens; ++i) {
      const auto page = static_cast<std::size_t>(i / kPage);
      dest[static_cast<std::size_t>(i)] = page < pages.size() ? pages[page] * kPage + i % kPage : rows;
    }
  } else if (order == "identity") {
    std::iota(dest.begin(), dest.end(), 0);
  } else if (order == "reversed") {
    std::iota(dest.rbegin(), dest.rend(), 0);
  } else if (order == "duplicates") {
    for (std::int64_t& row : dest) row = random.below(rows);
  } else {
    std::fill(dest.begin(), dest.end(), rows / 2);
  }
  return dest;
}

/// Rows n·c with |n| up to 127, one of them ±127·c: the scale is c and every quotient is n, which a
/// reciprocal or a quotient rounded once more misses from below. In every other row c is so short that k
/// holds each n·c; those few digits of a narrow k's scales have reciprocals that miss nothing, so in the rows
/// between c has all digits of the scale, and k holds n·c where n is small or a power of 2.
void fill_whole(const Tensor& k, DType scale_type, std::int64_t group, Random& random) {
  const auto digits = [](DType type) { return type == DType::f32 ? 24 : type == DType::f16 ? 11 : 8; };
  const std::int64_t row = group == 0 ? k.size(2) : group;
  double c = 1;
  for (std::int64_t i = 0; i < k.numel(); ++i) {
    if (i % row == 0) {
      const int all = digits(scale_type);
      const int length = i / row % 2 == 0 ? std::max(1, std::min(digits(k.dtype) - 7, all)) : all;
      const auto top = std::int64_t{1} << (length - 1);
      c = std::ldexp(static_cast<double>(top + random.below(top)),
                     static_cast<int>(random.below(5)) - length);
    }
    const auto n = static_cast<double>(i % row == 0 ? 127 - 254 * random.below(2) : random.below(255) - 127);
    core::encode(k.dtype, n * c, static_cast<std::byte*>(k.data) + i * size_of(k.dtype));
  }
}

void make(const Case& c, Problem& problem) {
  auto& args = problem.args<QuantizeCopyKvArgs>();
  auto& options = problem.options<QuantizeCopyKvOptions>();
  const std::int64_t s = c.integer("s"), n = c.integer("n"), h = c.integer("h"), d = c.integer("d");
  const std::int64_t group = c.integer("group");
  const Layout layout = oracle::layout_of(c.choice("layout"));
  if (c.choice("regime") == "decades") {
    args.k = problem.make("k", c.dtype("dtype"), {s, h, d});
    const std::int64_t length = group == 0 ? d : group;
    if (problem.drawn())
      oracle::fill_decades(Tensor(args.k.data, args.k.dtype, {s * h * d / length, length}),
                           c.dtype("dtype") == DType::f16 ? -7 : -13, 3, problem.random());
  } else if (c.choice("regime") == "whole") {
    args.k = problem.make("k", c.dtype("dtype"), {s, h, d});
    if (problem.drawn()) fill_whole(args.k, c.dtype("scales"), group, problem.random());
  } else {
    args.k = problem.make("k", c.dtype("dtype"), {s, h, d}, layout, oracle::regime_of(c.choice("regime")),
                          c.real("scale"));
  }
  args.dest = problem.make("dest", c.dtype("dest"), {s}, layout);
  const std::vector<std::int64_t> dest =
      problem.drawn() ? destinations(c, problem.random()) : std::vector<std::int64_t>();
  for (std::size_t i = 0; i < dest.size(); ++i)
    core::encode(args.dest.dtype, static_cast<double>(dest[i]), args.dest.at(static_cast<std::int64_t>(i)));
  const Layout out = layout == Layout::broadcast ? Layout::contiguous : layout;
  args.out = c.flag("far") ? problem.make_sparse("out", DType::i8, {n, h, d}, std::int64_t{1} << 30)
                           : problem.make("out", DType::i8, {n, h, d}, out);
  std::vector<std::int64_t> scales = {n, h, group == 0 ? 1 : d / group};
  if (c.flag("rank2")) scales.pop_back();
  args.out_scale = problem.make("out_scale", c.dtype("scales"), scales, out);
  oracle::set_options(c, contract(), &options);
  problem.bind(bind(args, options));
}

/// The inputs that the original leaves undefined: rows of 0/0, quotients beyond int8, NaN, inf, duplicates.
bool undefined_in_original(const Case& c) {
  const std::string& regime = c.choice("regime");
  for (const char* name : {"zero", "zero_rows", "mixed", "inf", "nan"})
    if (regime == name) return true;
  const std::string& order = c.choice("order");
  if (order == "duplicates" || order == "one_row") return true;
  // Scales below their type's normals, or above its range.
  const bool f16_scales = c.dtype("scales") == DType::f16;
  if (regime == "subnormal") return f16_scales || c.dtype("dtype") != DType::f16;
  if (regime == "huge") return f16_scales && c.dtype("dtype") != DType::f16;
  return f16_scales && (regime == "tiny" || c.real("scale") < 1e-2);
}

std::vector<std::string> features(const Case& c) {
  std::vector<std::string> list = {c.integer("group") == 0 ? "scale_per_head" : "scale_per_group",
                                   "scales_" + std::string(name_of(c.dtype("scales"))),
                                   "dest_" + std::string(name_of(c.dtype("dest"))),
                                   "order_" + c.choice("order")};
  if (c.flag("far")) list.emplace_back("far_rows");
  if (undefined_in_original(c)) list.emplace_back("undefined_in_original");
  return list;
}

std::vector<Case> bench_cases() {
  const Case base = Case(schema()).set("s", 16384).set("n", 20000).set("h", 8).set("order", "paged");
  return {base, Case(base).set("order", "random"), Case(base).set("group", 8), Case(base).set("s", 512)};
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
          .device_bench_lines = {"quantize_copy_kv s=65536 n=70000 h=8 d=128 order=random",
                                 "quantize_copy_kv s=4096 n=70000 h=8 d=128 order=random",
                                 "quantize_copy_kv s=65536 n=70000 h=8 d=128 group=8 order=random"},
          .features = features,
          .originals = originals()};
}

}  // namespace isomer::ops::quantize_copy_kv
