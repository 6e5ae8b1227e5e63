#include "ops/fp8_gemm/oracle/cases_operands.hpp"

#include "core/codec.hpp"
#include "ops/fp8_gemm/fp8_gemm.hpp"

#include <algorithm>
#include <cmath>

namespace isomer::ops::fp8_gemm {

using oracle::Case;
using oracle::Layout;
using oracle::Problem;
using oracle::Random;

const std::vector<std::string>& operand_layouts() {
  static const std::vector<std::string> list = {"contiguous", "padded", "offset", "transposed", "broadcast"};
  return list;
}

std::vector<oracle::Field> operand_fields(std::vector<oracle::Field> sizes) {
  // A regime of these ops' own: every pattern of e4m3fn in turn.
  std::vector<std::string> regimes = oracle::regime_names();
  regimes.emplace_back("patterns");
  const std::vector<oracle::Field> rest = {
      oracle::dtype("dtype", {DType::bf16, DType::f16, DType::f32}, DType::bf16, "type of c", true),
      oracle::choice("layout", operand_layouts(), "how a, b, c and addend lie in memory", true),
      oracle::choice("a_s", {"row_major", "column_major", "padded", "inner"}, "how a_s lies in memory"),
      oracle::choice("b_s", {"row_major", "column_major", "inner"}, "how b_s lies in memory"),
      oracle::choice("regime", regimes, "values of a"),
      oracle::choice("bregime", regimes, "values of b"),
      oracle::choice("scales", {"spread", "one", "signed", "tiny", "huge", "zero", "inf", "nan"},
                     "values of a_s and b_s"),
      oracle::real("scale", 1.0, "multiplies the values of a_s"),
      oracle::choice("bias", {"none", "f32", "f16", "bf16"}, "type of bias"),
      oracle::choice("addend", {"none", "own", "c"}, "addend: none, a tensor of its own, or c itself")};
  sizes.insert(sizes.end(), rest.begin(), rest.end());
  return sizes;
}

Tensor make_operand(const Case& c, Problem& problem, const std::string& name,
                    const std::vector<std::int64_t>& shape, const std::string& regime) {
  const Layout layout = oracle::layout_of(c.choice("layout"));
  if (regime != "patterns")
    return problem.make(name, DType::e4m3fn, shape, layout, oracle::regime_of(regime));
  // In one row of K = 256 elements each pattern once, NaN replaced in all rows but the first.
  const Tensor tensor = problem.make(name, DType::e4m3fn, shape, layout);
  if (!problem.drawn()) return tensor;
  const std::int64_t columns = std::max<std::int64_t>(tensor.size(-1), 1);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    const std::int64_t row = i / columns;
    auto bits = static_cast<std::uint8_t>(i % columns + 37 * row);
    if (row > 0 && (bits & 0x7F) == 0x7F) bits ^= 1;
    std::int64_t offset = 0, index = i;
    for (int d = tensor.rank - 1; d >= 0; --d) {
      offset += index % tensor.size(d) * tensor.stride(d);
      index /= tensor.size(d);
    }
    static_cast<std::uint8_t*>(tensor.data)[offset] = bits;
  }
  return tensor;
}

namespace {

double scale_value(const std::string& kind, Random& random) {
  const double spread = std::exp2(4 * random.uniform() - 3);
  const std::uint64_t dice = random.bits();
  if (kind == "one") return 1;
  if (kind == "signed") return dice & 1 ? spread : -spread;
  if (kind == "tiny") return 1e-20 * spread;
  if (kind == "huge") return 1e30 * spread;
  if (kind == "zero") return dice % 3 == 0 ? 0 : spread;
  if (kind == "inf") return dice % 5 == 0 ? INFINITY : spread;
  if (kind == "nan") return dice % 5 == 0 ? NAN : spread;
  return spread;
}

}  // namespace

Tensor make_scales(Problem& problem, const std::string& name, const std::vector<std::int64_t>& shape,
                   const std::string& order, const std::string& kind, double factor) {
  const std::size_t rank = shape.size();
  std::vector<std::int64_t> strides(rank, 1);
  std::int64_t step = 1;
  const auto place = [&](std::size_t dim) {
    strides[dim] = step;
    step *= std::max<std::int64_t>(shape[dim], 1);
  };
  const bool column_major = order == "column_major" || order == "padded";
  if (order == "inner") step = 2;
  if (!column_major || rank < 2) {
    for (std::size_t i = rank; i-- > 0;) place(i);
  } else {
    place(rank - 2);
    if (order == "padded") step += 4;
    place(rank - 1);
    for (std::size_t i = rank - 2; i-- > 0;) place(i);
  }
  const Tensor scales = problem.make_strided(name, DType::f32, shape, strides);
  if (!problem.drawn()) return scales;
  Random random(problem.made_from().seed(), name);
  for (std::int64_t i = 0; i < scales.numel(); ++i) {
    std::int64_t offset = 0, index = i;
    for (int d = scales.rank - 1; d >= 0; --d) {
      offset += index % scales.size(d) * scales.stride(d);
      index /= scales.size(d);
    }
    static_cast<float*>(scales.data)[offset] = static_cast<float>(factor * scale_value(kind, random));
  }
  return scales;
}

Outputs make_outputs(const Case& c, Problem& problem, const std::vector<std::int64_t>& shape,
                     const std::vector<std::int64_t>& bias_shape) {
  Layout layout = oracle::layout_of(c.choice("layout"));
  if (layout == Layout::broadcast) layout = Layout::contiguous;
  const DType type = c.dtype("dtype");
  Outputs out;
  if (const std::string& bias = c.choice("bias"); bias != "none")
    out.bias = problem.make("bias", *dtype_of(bias), bias_shape, layout, oracle::Regime::normal, 4.0);
  if (c.choice("addend") == "none") {
    out.c = problem.make("c", type, shape, layout);
  } else if (c.choice("addend") == "own") {
    out.c = problem.make("c", type, shape, layout);
    out.addend = problem.make("addend", type, shape, layout, oracle::Regime::normal, 8.0);
  } else {
    out.c = out.addend = problem.make("c", type, shape, layout, oracle::Regime::normal, 8.0);
  }
  return out;
}

std::vector<std::string> operand_features(const Case& c) {
  std::vector<std::string> list;
  const std::int64_t k = c.integer("k"), n = c.integer("n");
  list.emplace_back(k == 0 ? "k_empty" : k % kScaleBlock == 0 ? "k_whole_blocks" : "k_tail");
  list.emplace_back(n % kScaleBlock == 0 ? "n_whole_blocks" : "n_ragged");
  if (c.choice("bias") != "none") list.emplace_back("bias");
  if (c.choice("addend") == "own") list.emplace_back("addend");
  if (c.choice("addend") == "c") list.emplace_back("accumulate");
  return list;
}

std::vector<Case> distinct(const std::vector<Case>& list) {
  std::vector<Case> unique;
  for (const Case& c : list)
    if (std::find(unique.begin(), unique.end(), c) == unique.end()) unique.push_back(c);
  return unique;
}

}  // namespace isomer::ops::fp8_gemm
