#include "core/ceil_div.hpp"
#include "core/sentence.hpp"
#include "ops/fp8_gemm/fp8_gemm.hpp"
#include "ops/fp8_gemm/oracle/cases_operands.hpp"
#include "ops/fp8_gemm/oracle/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace isomer::ops::fp8_gemm {
namespace grouped {
namespace {

using oracle::Case;
using oracle::Problem;
using oracle::Random;

const oracle::CaseSchema& schema() {
  static const oracle::CaseSchema fields(
      "grouped_fp8_gemm",
      operand_fields(
          {oracle::choice("rows", {"contiguous", "masked"}, "how rows belong to experts", true),
           oracle::integer("g", 3, "experts"),
           oracle::integer("r", 30, "largest number of rows of an expert; masked: rows of a for each"),
           oracle::choice("counts", {"random", "none", "all", "one", "first_empty", "last_ragged"},
                          "rows of each expert: any number, 0, r, 1, 0 for the first; or any, and no padding "
                          "after the last"),
           oracle::integer("n", 40, "rows of b"), oracle::integer("k", 160, "columns of a and b")}));
  return fields;
}

std::vector<Case> sizes(const Case& base) {
  std::vector<Case> list;
  const auto add = [&](std::int64_t g, std::int64_t r, std::int64_t n, std::int64_t k) {
    list.push_back(Case(base).set("g", g).set("r", r).set("n", n).set("k", k));
  };
  for (const char* counts : {"random", "none", "all", "one", "first_empty", "last_ragged"}) {
    list.push_back(Case(base).set("counts", counts));
    list.push_back(Case(base).set("counts", counts).set("r", 7).set("g", 4));
  }
  // Segments of one, two and three blocks of 128 rows, in tiles of a and beyond one tile of 240 rows.
  add(1, 128, 33, 128);
  add(2, 129, 33, 130);
  add(2, 256, 20, 64);
  add(2, 300, 40, 129);
  add(3, 20, 257, 256);
  add(7, 9, 17, 1);
  add(2, 12, 129, 384);
  // Rows that bulk copies take, round tiles of 64 and 128 rows and 64 to 256 columns.
  for (const std::int64_t r : {5, 64, 65, 128, 129, 200}) {
    add(3, r, 72, 144);
    add(4, r, 200, 256);
    add(2, r, 264, 512);
  }
  add(9, 250, 520, 32);
  for (const char* empty : {"g", "r", "n", "k"}) list.push_back(Case(base).set(empty, std::int64_t{0}));
  list.push_back(Case(base).set("k", std::int64_t{0}).set("bias", "f32"));
  return list;
}

std::vector<Case> cases_of(const Case& base) {
  std::vector<Case> list;
  const auto scaled = [&](Case c) {
    return base.dtype("dtype") == DType::f16 ? c.set("scale", "0.0005") : c;
  };
  for (const std::string& layout : operand_layouts())
    list.push_back(Case(base).set("layout", layout).set("r", 13).set("bias", "f32").set("addend", "own"));
  for (const char* a_s : {"row_major", "column_major", "padded", "inner"})
    list.push_back(Case(base).set("a_s", a_s).set("b_s", "column_major").set("r", 11).set("n", 140));
  list.push_back(Case(base).set("b_s", "inner").set("r", 11).set("n", 140));
  for (const char* addend : {"own", "c"})
    for (const char* bias : {"none", "f16", "bf16"})
      list.push_back(Case(base).set("addend", addend).set("bias", bias));
  for (const std::string& regime : oracle::regime_names()) {
    list.push_back(scaled(Case(base).set("regime", regime).set("r", 14).set("n", 30).set("bias", "f32")));
    list.push_back(scaled(Case(base).set("bregime", regime).set("r", 14).set("n", 30).set("bias", "f32")));
  }
  list.push_back(scaled(Case(base).set("bregime", "patterns").set("r", 14).set("n", 30)));
  list.push_back(scaled(Case(base).set("regime", "patterns").set("g", 2).set("r", 12)));
  for (const char* scales : {"one", "signed", "tiny", "huge", "zero", "inf", "nan"}) {
    Case c = Case(base).set("scales", scales).set("r", 12);
    // Where blocks of both signs overflow, a fused sum keeps the first infinity and another one makes NaN.
    if (std::string_view(scales) == "huge") c.set("k", std::int64_t{100});
    list.push_back(c);
  }
  return list;
}

std::vector<Case> cases() {
  std::vector<Case> list;
  const auto add = [&](const std::vector<Case>& contiguous) {
    for (const Case& c : contiguous) {
      list.push_back(c);
      list.push_back(Case(c).set("rows", "masked"));
    }
  };
  for (const char* dtype : {"f32", "bf16", "f16"}) {
    const Case base = Case(schema()).set("dtype", dtype);
    // The sums do not know the type of c: every size in f32, where the tolerance is sharpest; and in bf16 and
    // f16, which may be stored another way.
    add(sizes(base));
    add(cases_of(base));
  }
  return distinct(list);
}

std::vector<std::int64_t> counts_of(const Case& c, Random& random) {
  const std::string& kind = c.choice("counts");
  const std::int64_t most = c.integer("r");
  std::vector<std::int64_t> counts(static_cast<std::size_t>(c.integer("g")));
  for (std::int64_t& count : counts)
    count = kind == "none"  ? 0
            : kind == "all" ? most
            : kind == "one" ? std::min<std::int64_t>(1, most)
                            : random.below(most + 1);
  if (kind == "first_empty" && !counts.empty()) counts[0] = 0;
  if (kind == "last_ragged" && !counts.empty()) counts.back() = most;
  return counts;
}

/// What no implementation may read: NaN in every element of these rows of a and a_s.
void make_stale(const Tensor& a, const Tensor& a_s) {
  for (std::int64_t k = 0; k < a.size(-1); ++k) *a.at<std::uint8_t>(k) = 0x7F;
  for (std::int64_t kb = 0; kb < a_s.size(-1); ++kb) *a_s.at<float>(kb) = NAN;
}

void make(const Case& c, Problem& problem) {
  auto& args = problem.args<GroupedFp8GemmArgs>();
  auto& options = problem.options<GroupedFp8GemmOptions>();
  const std::int64_t g = c.integer("g"), r = c.integer("r"), n = c.integer("n"), k = c.integer("k");
  const std::int64_t blocks = core::ceil_div(k, kScaleBlock);
  for (const char* size : {"g", "r"})
    if (c.integer(size) < 0)
      core::fail(ErrorCode::bad_argument, c.schema().op, ": ", size, " expects 0 or more, got ",
                 c.integer(size));
  Random random(c.seed(), "counts");
  const std::vector<std::int64_t> counts = counts_of(c, random);
  const bool masked = c.choice("rows") == "masked";
  std::int64_t m = 0;
  std::vector<std::int64_t> ids;
  for (std::size_t expert = 0; expert < counts.size(); ++expert) {
    const std::int64_t end = m + counts[expert];
    const bool ragged = c.choice("counts") == "last_ragged" && expert + 1 == counts.size();
    m = ragged ? end : core::align_up(end, kSegment);
    if (!problem.drawn()) continue;
    ids.resize(static_cast<std::size_t>(end), static_cast<std::int64_t>(expert));
    ids.resize(static_cast<std::size_t>(m), -1);
  }
  const auto rows_of = [&](std::int64_t last) {
    return masked ? std::vector<std::int64_t>{g, r, last} : std::vector<std::int64_t>{m, last};
  };
  args.a = make_operand(c, problem, "a", rows_of(k), c.choice("regime"));
  args.b = make_operand(c, problem, "b", {g, n, k}, c.choice("bregime"));
  args.a_s =
      make_scales(problem, "a_s", rows_of(blocks), c.choice("a_s"), c.choice("scales"), c.real("scale"));
  args.b_s = make_scales(problem, "b_s", {g, core::ceil_div(n, kScaleBlock), blocks}, c.choice("b_s"),
                         c.choice("scales"), 1.0);
  const Outputs out = make_outputs(c, problem, rows_of(n), {g, n});
  args.c = out.c;
  args.bias = out.bias;
  args.addend = out.addend;
  // A repeated row of a cannot be stale in one place and not in another.
  const bool stale = problem.drawn() && c.choice("layout") != "broadcast";
  if (masked) {
    args.row_counts = problem.make("row_counts", DType::i32, {g}, counts);
    for (std::int64_t expert = 0; expert < g && stale; ++expert)
      for (std::int64_t row = counts[static_cast<std::size_t>(expert)]; row < r; ++row)
        make_stale(args.a.select(0, expert).select(0, row), args.a_s.select(0, expert).select(0, row));
  } else {
    args.expert_ids = problem.make("expert_ids", DType::i32, {m}, ids);
    for (std::int64_t row = 0; row < m && stale; ++row)
      if (ids[static_cast<std::size_t>(row)] < 0) make_stale(args.a.select(0, row), args.a_s.select(0, row));
  }
  problem.bind(bind(args, options));
}

std::vector<std::string> features(const Case& c) {
  std::vector<std::string> list = operand_features(c);
  for (std::string& feature : list) feature.insert(0, c.choice("rows") + "_");
  return list;
}

std::vector<Case> bench_cases() {
  const Case base = Case(schema()).set("dtype", "bf16").set("g", 8).set("n", 1024).set("k", 1024);
  return {Case(base).set("r", 128).set("counts", "all"),
          Case(base).set("rows", "masked").set("r", 128).set("counts", "all"),
          Case(base).set("rows", "masked").set("r", 8)};
}

}  // namespace
}  // namespace grouped

oracle::Oracle grouped_oracle() {
  return {.contract = &grouped_contract(),
          .schema = &grouped::schema(),
          .cases = grouped::cases,
          .make = grouped::make,
          .reference = grouped_reference,
          .variations = grouped_variations(),
          .bench_cases = grouped::bench_cases,
          .features = grouped::features,
          .originals = grouped_originals()};
}

}  // namespace isomer::ops::fp8_gemm
