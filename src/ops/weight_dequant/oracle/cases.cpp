#include "core/ceil_div.hpp"
#include "ops/weight_dequant/oracle/oracle.hpp"
#include "ops/weight_dequant/weight_dequant.hpp"

#include <algorithm>

namespace isomer::ops::weight_dequant {
namespace {

using oracle::Case;
using oracle::Layout;

/// The layouts that a matrix with a contiguous last dimension can have.
const std::vector<std::string>& layouts() {
  static const std::vector<std::string> list = {"contiguous", "padded", "offset", "broadcast"};
  return list;
}

const oracle::CaseSchema& schema() {
  // A regime of this op's own: every pattern of e4m3fn in turn.
  std::vector<std::string> regimes = oracle::regime_names();
  regimes.emplace_back("patterns");
  static const oracle::CaseSchema fields(
      "weight_dequant",
      {oracle::integer("m", 128, "rows"), oracle::integer("n", 128, "columns"),
       oracle::option(contract(), "block_size", "block_size", "block"),
       oracle::dtype("dtype", {DType::bf16, DType::f16, DType::f32}, DType::bf16, "type of y", true),
       oracle::choice("layout", layouts(), "how x, s and y lie in memory", true),
       oracle::choice("regime", regimes, "values of x"),
       oracle::choice("sregime", oracle::regime_names(), "values of s"),
       oracle::real("scale", 1.0, "multiplies the values of s")});
  return fields;
}

std::vector<Case> cases() {
  std::vector<Case> list;
  const auto add = [&](const Case& base, std::int64_t m, std::int64_t n, std::int64_t block) {
    list.push_back(Case(base).set("m", m).set("n", n).set("block", block));
    return list.back();
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
    for (const std::string& layout : layouts()) list.push_back(Case(ragged).set("layout", layout));
    for (const std::string& regime : oracle::regime_names()) {
      list.push_back(Case(ragged).set("regime", regime));
      list.push_back(Case(ragged).set("sregime", regime));
    }
    for (const char* scale : {"1", "1e-5", "0.001", "1e-38", "1e36"})
      list.push_back(Case(ragged).set("regime", "patterns").set("scale", scale));
  }
  std::vector<Case> distinct;
  for (const Case& c : list)
    if (std::find(distinct.begin(), distinct.end(), c) == distinct.end()) distinct.push_back(c);
  return distinct;
}

void make(const Case& c, oracle::Problem& problem) {
  auto& args = problem.args<WeightDequantArgs>();
  auto& options = problem.options<WeightDequantOptions>();
  const std::int64_t m = c.integer("m"), n = c.integer("n"), block = c.integer("block");
  const Layout layout = oracle::layout_of(c.choice("layout"));
  if (c.choice("regime") == "patterns") {
    args.x = problem.make("x", DType::e4m3fn, {m, n}, layout);
    for (std::int64_t i = 0; i < m * n && problem.drawn(); ++i)
      *args.x.at<std::uint8_t>(i / n, i % n) = static_cast<std::uint8_t>(i);
  } else {
    args.x = problem.make("x", DType::e4m3fn, {m, n}, layout, oracle::regime_of(c.choice("regime")));
  }
  args.s = problem.make("s", DType::f32, {core::ceil_div(m, block), core::ceil_div(n, block)}, layout,
                        oracle::regime_of(c.choice("sregime")), c.real("scale"));
  args.y =
      problem.make("y", c.dtype("dtype"), {m, n}, layout == Layout::broadcast ? Layout::contiguous : layout);
  oracle::set_options(c, contract(), &options);
  problem.bind(bind(args, options));
}

std::vector<std::string> features(const Case& c) {
  const bool ragged = c.integer("m") % c.integer("block") != 0 || c.integer("n") % c.integer("block") != 0;
  return {ragged ? "ragged" : "whole_blocks"};
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
          .device_bench_lines = {"weight_dequant m=24576 n=7168 dtype=bf16",
                                 "weight_dequant m=8192 n=7168 dtype=f32"},
          .features = features,
          .originals = originals()};
}

}  // namespace isomer::ops::weight_dequant
