#include "core/ceil_div.hpp"
#include "core/expert_rows.hpp"
#include "core/sentence.hpp"
#include "ops/expert_layer/expert_layer.hpp"
#include "ops/expert_layer/oracle/oracle.hpp"

#include <algorithm>
#include <cmath>

namespace isomer::ops::expert_layer {
namespace {

using oracle::Case;
using oracle::Layout;
using oracle::Problem;
using oracle::Random;

/// Every layout whose last dimension is contiguous.
const std::vector<std::string>& layouts() {
  static const std::vector<std::string> list = {"contiguous", "padded", "offset", "transposed"};
  return list;
}

const oracle::CaseSchema& schema() {
  static const oracle::CaseSchema fields(
      "expert_layer",
      {oracle::choice("rows", {"contiguous", "masked"}, "how rows belong to experts", true),
       oracle::integer("g", 3, "experts"),
       oracle::integer("r", 12, "largest number of rows of an expert; masked: rows of a for each"),
       oracle::choice("counts", {"random", "none", "all", "one", "first_empty"},
                      "rows of each expert: any number, 0, r, 1, or 0 for the first"),
       oracle::integer("k", 160, "columns of a"), oracle::integer("i", 128, "columns between the products"),
       oracle::integer("n", 40, "columns of out"),
       oracle::dtype("dtype", {DType::bf16, DType::f16, DType::f32}, DType::bf16, "type of out", true),
       oracle::option(contract(), "amax_floor", "amax_floor", "floor"),
       oracle::flag_of_choice(contract(), "scale_format", "scale_format", "ue8m0"),
       oracle::choice("layout", layouts(), "how a, the weights and out lie in memory", true),
       oracle::choice("regime", oracle::regime_names(), "values of a"),
       oracle::choice("bregime", oracle::regime_names(), "values of the weights"),
       oracle::real("scale", 0.1, "multiplies the scales of a")});
  return fields;
}

std::vector<Case> cases() {
  std::vector<Case> list;
  const auto both = [&](const Case& c) {
    list.push_back(c);
    list.push_back(Case(c).set("rows", "masked"));
  };
  for (const char* dtype : {"f32", "bf16", "f16"}) {
    const Case base = Case(schema()).set("dtype", dtype);
    for (const char* counts : {"random", "none", "all", "one", "first_empty"})
      both(Case(base).set("counts", counts).set("g", 4));
    both(Case(base).set("k", 256).set("i", 256).set("n", 136).set("r", 9));
    both(Case(base).set("ue8m0", "1"));
  }
  const Case base = Case(schema()).set("dtype", "f32");
  // Columns that bulk copies do not store, several tiles of rows and columns.
  both(Case(base).set("k", 144).set("n", 33));
  both(Case(base).set("k", 32).set("n", 264).set("i", 384));
  both(Case(base).set("r", 140).set("g", 2).set("n", 24).set("k", 48));
  both(Case(base).set("g", 9).set("r", 2));
  for (const char* empty : {"g", "r", "n", "i"}) both(Case(base).set(empty, std::int64_t{0}));
  for (const std::string& layout : layouts()) {
    both(Case(base).set("layout", layout));
    list.push_back(Case(base).set("rows", "masked").set("layout", layout).set("g", 1).set("r", 40));
  }
  for (const std::string& regime : oracle::regime_names()) {
    both(Case(base).set("regime", regime));
    list.push_back(Case(base).set("rows", "masked").set("bregime", regime));
  }
  for (const char* floor : {"0", "1"}) both(Case(base).set("floor", floor).set("counts", "all").set("r", 5));
  // Gates whose exponentials vanish.
  for (const char* scale : {"3", "0.0001"}) both(Case(base).set("scale", scale));
  std::vector<Case> distinct;
  for (const Case& c : list)
    if (std::find(distinct.begin(), distinct.end(), c) == distinct.end()) distinct.push_back(c);
  return distinct;
}

std::vector<std::int64_t> counts_of(const Case& c) {
  Random random(c.seed(), "counts");
  const std::string& kind = c.choice("counts");
  const std::int64_t most = c.integer("r");
  std::vector<std::int64_t> counts(static_cast<std::size_t>(c.integer("g")));
  for (std::int64_t& count : counts)
    count = kind == "none"  ? 0
            : kind == "all" ? most
            : kind == "one" ? std::min<std::int64_t>(1, most)
                            : random.below(most + 1);
  if (kind == "first_empty" && !counts.empty()) counts[0] = 0;
  return counts;
}

Tensor scales(Problem& problem, const char* name, const std::vector<std::int64_t>& shape, double factor) {
  const Tensor tensor = problem.make(name, DType::f32, shape);
  if (!problem.drawn()) return tensor;
  Random random(problem.made_from().seed(), name);
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    static_cast<float*>(tensor.data)[i] = static_cast<float>(factor * std::exp2(2 * random.uniform() - 1));
  return tensor;
}

/// What no implementation may use: NaN in every element of these rows.
void make_stale(const Tensor& a, const Tensor& a_s) {
  for (std::int64_t k = 0; k < a.size(-1); ++k) *a.at<std::uint8_t>(k) = 0x7F;
  for (std::int64_t kb = 0; kb < a_s.size(-1); ++kb) *a_s.at<float>(kb) = NAN;
}

void make(const Case& c, Problem& problem) {
  auto& args = problem.args<ExpertLayerArgs>();
  auto& options = problem.options<ExpertLayerOptions>();
  const std::int64_t g = c.integer("g"), r = c.integer("r"), k = c.integer("k"), i = c.integer("i"),
                     n = c.integer("n");
  for (const char* size : {"g", "r", "k", "i", "n"})
    if (c.integer(size) < 0)
      core::fail(ErrorCode::bad_argument, c.schema().op, ": ", size, " expects 0 or more, got ",
                 c.integer(size));
  const bool masked = c.choice("rows") == "masked";
  const std::vector<std::int64_t> counts = counts_of(c);
  std::int64_t m = 0;
  std::vector<std::int64_t> ids;
  for (std::size_t expert = 0; expert < counts.size(); ++expert) {
    const std::int64_t end = m + counts[expert];
    m = core::align_up(end, core::kExpertSegment);
    if (!problem.drawn()) continue;
    ids.resize(static_cast<std::size_t>(end), static_cast<std::int64_t>(expert));
    ids.resize(static_cast<std::size_t>(m), -1);
  }
  const auto rows_of = [&](std::int64_t last) {
    return masked ? std::vector<std::int64_t>{g, r, last} : std::vector<std::int64_t>{m, last};
  };
  const std::int64_t blocks = core::ceil_div(k, kBlock);
  const Layout layout = oracle::layout_of(c.choice("layout"));
  const auto weights = oracle::regime_of(c.choice("bregime"));
  args.a = problem.make("a", DType::e4m3fn, rows_of(k), layout, oracle::regime_of(c.choice("regime")));
  args.a_s = scales(problem, "a_s", rows_of(blocks), c.real("scale"));
  args.gate_up = problem.make("gate_up", DType::e4m3fn, {g, 2 * i, k}, layout, weights);
  args.gate_up_s = scales(problem, "gate_up_s", {g, 2 * i / kBlock, blocks}, 1.0);
  args.down = problem.make("down", DType::e4m3fn, {g, n, i}, layout, weights);
  args.down_s = scales(problem, "down_s", {g, core::ceil_div(n, kBlock), i / kBlock}, 0.25);
  args.out = problem.make("out", c.dtype("dtype"), rows_of(n), layout);
  if (masked) {
    args.row_counts = problem.make("row_counts", DType::i32, {g}, counts);
    for (std::int64_t expert = 0; expert < g && problem.drawn(); ++expert)
      for (std::int64_t row = counts[static_cast<std::size_t>(expert)]; row < r; ++row)
        make_stale(args.a.select(0, expert).select(0, row), args.a_s.select(0, expert).select(0, row));
  } else {
    args.expert_ids = problem.make("expert_ids", DType::i32, {m}, ids);
    for (std::int64_t row = 0; row < m && problem.drawn(); ++row)
      if (ids[static_cast<std::size_t>(row)] < 0) make_stale(args.a.select(0, row), args.a_s.select(0, row));
  }
  oracle::set_options(c, contract(), &options);
  problem.bind(bind(args, options));
}

std::vector<std::string> features(const Case& c) {
  return {"rows_" + c.choice("rows"), c.flag("ue8m0") ? "scale_ue8m0" : "scale_f32"};
}

std::vector<Case> bench_cases() {
  const Case base = Case(schema()).set("g", 8).set("k", 1024).set("i", 512).set("n", 1024);
  return {Case(base).set("r", 128).set("counts", "all"),
          Case(base).set("rows", "masked").set("r", 8).set("counts", "all")};
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
          .device_bench_lines = {"expert_layer g=8 r=512 counts=all k=7168 i=2048 n=7168",
                                 "expert_layer masked g=32 r=8 counts=all k=7168 i=2048 n=7168"},
          .features = features};
}

}  // namespace isomer::ops::expert_layer
