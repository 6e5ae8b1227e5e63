#include "core/codec.hpp"
#include "core/sentence.hpp"
#include "ops/flash_decode/flash_decode.hpp"
#include "ops/flash_decode/oracle/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isomer::ops::flash_decode::stage2 {
namespace {

using oracle::Case;
using oracle::Regime;

const oracle::CaseSchema& schema() {
  static const std::vector<DType> floats = {DType::f32, DType::f16, DType::bf16};
  oracle::Field block = oracle::option(contract(), "block_seq", "tokens of one block");
  block.fallback = "32";
  static const oracle::CaseSchema schema(
      "flash_decode_stage2",
      {oracle::integer("b", 4, "sequences"), oracle::integer("h", 3, "heads"),
       oracle::integer("nb", 5, "blocks of mid_out"), oracle::integer("d", 64, "head dimension"), block,
       oracle::choice("lengths", {"ragged", "full", "one", "zero"},
                      "lengths: mixed, one of 0; all that fit; all 1; all 0"),
       oracle::dtype("dtype", floats, DType::f32, "of mid_out", true),
       oracle::dtype("out", floats, DType::f32, "of out"),
       oracle::dtype("index", {DType::i32, DType::i64}, DType::i32, "of b_seqlen"),
       oracle::choice("layout", oracle::layout_names(), "how every tensor lies in memory", true),
       oracle::choice("regime", oracle::regime_names(), "values of mid_out"),
       oracle::choice("weightless", {"none", "first", "some", "all"},
                      "blocks whose lse is −inf; their mid_out is NaN"),
       oracle::real("lse_scale", 1.0, "standard deviation of lse"),
       oracle::real("lse_shift", 0.0, "mean of lse")});
  return schema;
}

std::int64_t length_of(const Case& c, std::int64_t b, oracle::Random& random) {
  const std::int64_t room = c.integer("nb") * c.integer("block_seq");
  const std::string& kind = c.choice("lengths");
  if (kind == "zero" || (kind == "ragged" && b % 4 == 1)) return 0;
  if (kind == "one") return std::min<std::int64_t>(room, 1);
  // A short last block, whole blocks, then anything.
  if (kind == "ragged" && b % 4 == 0) return std::max<std::int64_t>(0, room - c.integer("block_seq") / 2 - 1);
  if (kind == "ragged" && b % 4 == 3) return random.below(room + 1);
  return room;
}

bool weightless(const Case& c, std::int64_t b, std::int64_t h, std::int64_t j) {
  const std::string& kind = c.choice("weightless");
  if (kind == "first") return j == 0;
  if (kind == "some") return (b + 2 * h + j) % 3 == 0;
  return kind == "all";
}

/// The lse of every part, lengths, and NaN in the parts that weigh nothing.
void draw(const Case& c, const FlashDecodeStage2Args& args) {
  const std::int64_t batch = args.mid_out.size(0), heads = args.mid_out.size(1), nb = args.mid_out.size(2),
                     d = args.mid_out.size(3);
  const bool broadcast = c.choice("layout") == "broadcast";
  oracle::Random random(c.seed(), "mid_lse");
  for (std::int64_t b = 0; b < batch; ++b) {
    core::encode(args.b_seqlen.dtype, static_cast<double>(length_of(c, b, random)), args.b_seqlen.at<>(b));
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t j = 0; j < nb; ++j)
        *args.mid_lse.at<float>(b, h, j) =
            static_cast<float>(c.real("lse_shift") + c.real("lse_scale") * random.normal());
  }
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t j = 0; j < nb; ++j) {
        if (!weightless(c, b, h, j)) continue;
        *args.mid_lse.at<float>(b, h, j) = -std::numeric_limits<float>::infinity();
        // A broadcast batch shares this memory with rows that have weight.
        for (std::int64_t i = 0; !broadcast && i < d; ++i)
          core::encode(args.mid_out.dtype, std::numeric_limits<double>::quiet_NaN(),
                       args.mid_out.at<>(b, h, j, i));
      }
}

void make(const Case& c, oracle::Problem& problem) {
  auto& args = problem.args<FlashDecodeStage2Args>();
  auto& options = problem.options<FlashDecodeStage2Options>();
  for (const char* size : {"b", "h", "nb", "d"})
    if (c.integer(size) < 0)
      core::fail(ErrorCode::bad_argument, c.schema().op, ": ", size, " expects 0 or more, got ",
                 c.integer(size));
  const std::int64_t batch = c.integer("b"), heads = c.integer("h"), nb = c.integer("nb"), d = c.integer("d");
  const oracle::Layout layout = oracle::layout_of(c.choice("layout"));
  const Regime regime = oracle::regime_of(c.choice("regime"));
  // Weighted sums of the largest values stay finite, and averages of subnormal f32 keep some bits.
  const bool wide = c.dtype("dtype") != DType::f16 && (regime == Regime::huge || regime == Regime::mixed);
  const double room = wide                                                            ? 0x1p-16
                      : c.dtype("dtype") == DType::f32 && regime == Regime::subnormal ? 4096.0
                                                                                      : 1.0;
  args.mid_out = problem.make("mid_out", c.dtype("dtype"), {batch, heads, nb, d}, layout, regime, room);
  args.mid_lse = problem.make("mid_lse", DType::f32, {batch, heads, nb}, layout);
  args.b_seqlen = problem.make("b_seqlen", c.dtype("index"), {batch}, layout);
  args.out = problem.make("out", c.dtype("out"), {batch, heads, d},
                          layout == oracle::Layout::broadcast ? oracle::Layout::contiguous : layout);
  oracle::set_options(c, contract(), &options);
  problem.bind(bind(args, options));
  if (problem.drawn()) draw(c, args);
}

std::vector<Case> cases() {
  std::vector<Case> list;
  const auto add = [&](std::string_view line) { list.push_back(Case::parse(schema(), line)); };
  for (const std::string dtype : {"f32", "f16", "bf16"}) {
    for (const std::string& layout : oracle::layout_names()) add(dtype + " d=24 nb=4 " + layout);
    for (const std::string& regime : oracle::regime_names())
      add(dtype + " d=20 nb=6 out=" + dtype + " regime=" + regime);
    for (const std::string out : {"f32", "f16", "bf16"}) add(dtype + " d=33 nb=7 lse_scale=3 out=" + out);
    for (const std::string kind : {"first", "some", "all"}) {
      add(dtype + " d=17 weightless=" + kind);
      add(dtype + " d=17 lengths=full out=" + dtype + " weightless=" + kind);
    }
    // Weights far beyond the exponent range of f32, either way.
    for (const std::string shift : {"-200", "200", "10000"}) add(dtype + " d=16 lse_shift=" + shift);
    add(dtype + " d=16 lse_scale=60");
  }
  for (const std::string d :
       {"1", "2", "7", "8", "9", "15", "16", "31", "32", "63", "65", "96", "128", "256", "257", "600"})
    add("b=2 h=2 nb=3 d=" + d);
  // Blocks: round the 64 weights that are computed together.
  for (const std::string nb : {"1", "2", "63", "64", "65", "130"}) add("b=3 h=1 d=16 nb=" + nb);
  for (const std::string block : {"1", "8", "100", "4096"}) add("f16 d=32 block_seq=" + block);
  for (const std::string kind : {"full", "one", "zero"}) add("bf16 d=32 lengths=" + kind);
  add("b=0");
  add("h=0");
  add("d=0");
  add("nb=0");
  add("index=i64 d=8");
  add("index=i64 d=8 inner");
  add("b=3 h=7 d=128 nb=9 inner out=f16");
  add("b=2 h=64 d=128 nb=17 f32 out=bf16");
  return list;
}

std::vector<std::string> features(const Case& c) {
  std::vector<std::string> list;
  if (c.integer("nb") > 64) list.emplace_back("many blocks");
  if (c.integer("d") > 256) list.emplace_back("wide head");
  if (std::fabs(c.real("lse_shift")) > 88) list.emplace_back("weights beyond f32");
  return list;
}

}  // namespace
}  // namespace isomer::ops::flash_decode::stage2

namespace isomer::ops::flash_decode {

oracle::Oracle stage2::oracle() {
  return {.contract = &stage2::contract(),
          .schema = &schema(),
          .cases = cases,
          .make = make,
          .reference = stage2::reference,
          .variations = stage2::variations(),
          .bench_cases =
              [] {
                std::vector<Case> list;
                for (const char* line :
                     {"b=16 h=64 d=128 nb=64 lengths=full", "b=64 h=32 d=128 nb=8 lengths=full out=f16"})
                  list.push_back(Case::parse(schema(), line));
                return list;
              },
          .features = features,
          .originals = stage2::originals()};
}

}  // namespace isomer::ops::flash_decode
