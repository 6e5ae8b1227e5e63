#include "core/ceil_div.hpp"
#include "ops/fp8_gemm/fp8_gemm.hpp"
#include "ops/fp8_gemm/oracle/cases_operands.hpp"
#include "ops/fp8_gemm/oracle/oracle.hpp"

namespace isomer::ops::fp8_gemm {
namespace {

using oracle::Case;
using oracle::Problem;

const oracle::CaseSchema& schema() {
  static const oracle::CaseSchema fields(
      "fp8_gemm",
      operand_fields({oracle::integer("rank", 2, "dimensions of a: [k], [m k], [b m k] or [b 2 m k]"),
                      oracle::integer("b", 2, "size of a third dimension of a"),
                      oracle::integer("m", 33, "rows of a"), oracle::integer("n", 140, "rows of b"),
                      oracle::integer("k", 300, "columns of a and b"),
                      oracle::option(contract(), "b_ready", "b_ready")}));
  return fields;
}

void add_sizes(std::vector<Case>& list, const Case& base) {
  const auto add = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    list.push_back(Case(base).set("m", m).set("n", n).set("k", k));
  };
  // Rows round the strips of every target (3, 6, 12), round the few that stream b (8), and beyond one tile
  // (240).
  for (const std::int64_t m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 25}) add(m, 45, 160);
  add(241, 20, 136);
  // Columns round vectors, panels, blocks of b_s, the tile and the 64 that few rows take at a time.
  for (const std::int64_t n : {1, 7, 8, 15, 16, 17, 31, 32, 33, 64, 127, 128, 129, 255, 256, 257, 390}) {
    add(10, n, 144);
    add(3, n, 144);
  }
  // K round lanes and blocks of scales, and beyond one chunk of decoded a for 1, 2, 4 and 8 rows.
  for (const std::int64_t k : {1, 2, 15, 16, 17, 33, 127, 128, 129, 255, 256, 257, 384, 1000}) {
    add(14, 21, k);
    add(2, 21, k);
  }
  add(1, 5, 8200);
  add(2, 5, 4100);
  add(4, 6, 2100);
  add(7, 6, 1100);
  for (const char* empty : {"m", "n", "k"}) list.push_back(Case(base).set(empty, std::int64_t{0}));
  list.push_back(Case(base).set("k", std::int64_t{0}).set("bias", "f32").set("addend", "own"));
  for (const std::int64_t rank : {1, 2, 3, 4})
    list.push_back(Case(base).set("rank", rank).set("m", rank == 4 ? 3 : 5).set("n", 33));
}

void add_layouts(std::vector<Case>& list, const Case& base) {
  for (const std::string& layout : operand_layouts())
    for (const std::int64_t rank : {2, 3, 4})
      list.push_back(Case(base)
                         .set("rank", rank)
                         .set("m", 5)
                         .set("n", 50)
                         .set("layout", layout)
                         .set("bias", "f32")
                         .set("addend", "own"));
  for (const char* a_s : {"row_major", "column_major", "padded", "inner"})
    for (const char* b_s : {"row_major", "column_major", "inner"})
      list.push_back(Case(base).set("m", 11).set("n", 150).set("a_s", a_s).set("b_s", b_s));
  for (const char* a_s : {"column_major", "padded"})
    list.push_back(Case(base).set("rank", 3).set("m", 3).set("a_s", a_s).set("layout", "padded"));
}

void add_values(std::vector<Case>& list, const Case& base) {
  // f16 holds no more than 65504: the sums of large values are scaled into its range.
  const auto scaled = [&](Case c, const std::string& regime) {
    const bool large =
        regime != "normal" && regime != "tiny" && regime != "subnormal" && regime != "zero_rows";
    return base.dtype("dtype") == DType::f16 && large ? c.set("scale", "0.0005") : c;
  };
  std::vector<std::string> regimes = oracle::regime_names();
  regimes.emplace_back("patterns");
  for (const std::string& regime : regimes)
    for (const std::int64_t m : {7, 14}) {
      const Case one = Case(base).set("m", m).set("n", 40);
      list.push_back(scaled(Case(one).set("regime", regime).set("bias", "bf16"), regime));
      list.push_back(scaled(Case(one).set("bregime", regime).set("bias", "f16"), regime));
      list.push_back(scaled(Case(one).set("regime", regime).set("bregime", regime).set("n", 30), regime));
    }
  for (const char* scales : {"one", "signed", "tiny", "huge", "zero", "inf", "nan"})
    for (const std::int64_t m : {4, 13}) {
      Case c = Case(base).set("m", m).set("n", 150).set("scales", scales).set("bias", "f32");
      // Where blocks of both signs overflow, a fused sum keeps the first infinity and another one makes NaN.
      if (std::string_view(scales) == "huge") c.set("k", std::int64_t{100});
      list.push_back(c);
    }
}

void add_epilogues(std::vector<Case>& list, const Case& base) {
  for (const char* bias : {"none", "f32", "f16", "bf16"})
    for (const char* addend : {"none", "own", "c"})
      list.push_back(Case(base).set("bias", bias).set("addend", addend));
  list.push_back(Case(base).set("m", 3).set("bias", "f32").set("addend", "c"));
  list.push_back(Case(base).set("addend", "c").set("layout", "padded"));
  list.push_back(Case(base).set("addend", "c").set("layout", "transposed").set("rank", 3).set("m", 4));
}

/// Rows that begin at multiples of 16 bytes, as bulk copies want them: round tiles of 64, 128, 192 and 256, K
/// in parts of a block and in as many blocks as a cluster divides.
void add_bulk(std::vector<Case>& list, const Case& base) {
  const auto add = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    Case c = Case(base).set("m", m).set("n", n).set("k", k);
    if (m % 3 == 0) c.set("a_s", m % 2 == 0 ? "column_major" : "padded");
    if (n % 3 == 0) c.set("bias", "f32").set("addend", n % 2 == 0 ? "c" : "own");
    list.push_back(c);
  };
  for (const std::int64_t m : {1, 16, 63, 64, 65, 127, 128, 129, 200}) {
    add(m, 8, 512);
    add(m, 64, 16);
    add(m, 72, 528);
    add(m, 136, 144);
    add(m, 192, 128);
    add(m, 200, 640);
    add(m, 261, 256);
    add(m, 264, 112);
  }
  add(5, 64, 2048);
  add(64, 72, 1552);
  add(100, 136, 1040);
  add(128, 128, 1536);
  // b ahead of the launch before: fewer blocks of K than stages, and more.
  for (const std::int64_t m : {7, 70}) {
    list.push_back(Case(base).set("b_ready", "1").set("m", m).set("n", 72).set("k", 256));
    list.push_back(Case(base).set("b_ready", "1").set("m", m).set("n", 400).set("k", 1536));
  }
  // Enough tiles for large ones, in clusters.
  add(2056, 1544, 32);
  if (base.dtype("dtype") != DType::f16) add(1160, 1544, 144);
}

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const char* dtype : {"bf16", "f16", "f32"}) {
    const Case base = Case(schema()).set("dtype", dtype);
    // The sums do not know the type of c: every size once, in f32, where the tolerance is sharpest.
    if (base.dtype("dtype") == DType::f32) add_sizes(list, base);
    add_layouts(list, base);
    add_values(list, base);
    add_epilogues(list, base);
    list.push_back(Case(base).set("m", 250).set("n", 300).set("k", 260));
    add_bulk(list, base);
  }
  // Layouts, values and epilogues again, with rows that bulk copies take.
  for (std::size_t i = 0, count = list.size(); i < count; ++i)
    if (list[i].integer("k") == 300) list.push_back(Case(list[i]).set("k", std::int64_t{304}));
  return distinct(list);
}

void make(const Case& c, Problem& problem) {
  auto& args = problem.args<Fp8GemmArgs>();
  auto& options = problem.options<Fp8GemmOptions>();
  const std::int64_t n = c.integer("n"), k = c.integer("k"), blocks = core::ceil_div(k, kScaleBlock);
  const auto rows_of = [&](std::int64_t last) {
    std::vector<std::int64_t> shape = {c.integer("b"), 2, c.integer("m"), last};
    if (c.integer("rank") == 3) shape.erase(shape.begin() + 1);
    if (c.integer("rank") < 3) shape.erase(shape.begin(), shape.begin() + 4 - c.integer("rank"));
    return shape;
  };
  args.a = make_operand(c, problem, "a", rows_of(k), c.choice("regime"));
  args.b = make_operand(c, problem, "b", {n, k}, c.choice("bregime"));
  args.a_s =
      make_scales(problem, "a_s", rows_of(blocks), c.choice("a_s"), c.choice("scales"), c.real("scale"));
  args.b_s = make_scales(problem, "b_s", {core::ceil_div(n, kScaleBlock), blocks}, c.choice("b_s"),
                         c.choice("scales"), 1.0);
  const Outputs out = make_outputs(c, problem, rows_of(n), {n});
  args.c = out.c;
  args.bias = out.bias;
  args.addend = out.addend;
  oracle::set_options(c, contract(), &options);
  problem.bind(bind(args, options));
}

std::vector<std::string> features(const Case& c) {
  std::vector<std::string> list = operand_features(c);
  list.push_back("rank_" + std::to_string(c.integer("rank")));
  return list;
}

std::vector<Case> bench_cases() {
  const Case base = Case(schema()).set("dtype", "bf16");
  const auto size = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    return Case(base).set("m", m).set("n", n).set("k", k);
  };
  return {size(512, 512, 512), size(512, 2112, 1536), size(16, 7168, 2048), size(1, 7168, 2048)};
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
          .device_bench_lines = {"fp8_gemm m=4096 n=7168 k=16384 bf16", "fp8_gemm m=4096 n=2112 k=7168 bf16",
                                 "fp8_gemm m=64 n=7168 k=16384 bf16", "fp8_gemm m=128 n=7168 k=16384 bf16"},
          .features = features,
          .originals = originals()};
}

}  // namespace isomer::ops::fp8_gemm
