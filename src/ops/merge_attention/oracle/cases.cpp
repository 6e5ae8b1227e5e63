#include "core/codec.hpp"
#include "core/sentence.hpp"
#include "ops/merge_attention/merge_attention.hpp"
#include "ops/merge_attention/oracle/oracle.hpp"

#include <cmath>
#include <limits>

namespace isomer::ops::merge_attention {
namespace {

using oracle::Case;
using oracle::Layout;
using oracle::Regime;

const oracle::CaseSchema& schema() {
  static const std::vector<DType> floats = {DType::f32, DType::f16, DType::bf16};
  static const oracle::CaseSchema schema(
      "merge_attention",
      {oracle::integer("b", 2, "batch"), oracle::integer("s", 5, "query positions"),
       oracle::integer("h", 3, "heads"), oracle::integer("d", 64, "head dimension Dv"),
       oracle::choice("shape", {"bshd", "shd", "hd"}, "of out: [b, s, h, d], [s, h, d] or [h, d]"),
       oracle::dtype("dtype", floats, DType::f32, "of out_a and out_b", true),
       oracle::dtype("out", floats, DType::f32, "of out"),
       oracle::choice("layout", {"contiguous", "padded", "offset", "transposed", "broadcast"},
                      "how the outs lie", true),
       oracle::choice("lse_layout",
                      {"heads_first", "contiguous", "padded", "offset", "transposed", "broadcast", "inner"},
                      "how every lse lies; heads_first: a view of [..., h, s]"),
       oracle::choice("regime", oracle::regime_names(), "values of the parts"),
       oracle::choice("weightless", {"none", "a", "b", "both", "some"},
                      "parts whose lse is −inf; their out is NaN"),
       oracle::choice("lse", {"given", "absent", "in_place"}, "the output lse; in_place: lse_a"),
       oracle::flag("in_place", "out is out_a"),
       oracle::real("lse_scale", 1.0, "standard deviation of the parts' lse"),
       oracle::real("lse_shift", 0.0, "mean of the parts' lse")});
  return schema;
}

std::vector<std::int64_t> rows_of(const Case& c) {
  const std::string& shape = c.choice("shape");
  if (shape == "hd") return {c.integer("h")};
  if (shape == "shd") return {c.integer("s"), c.integer("h")};
  return {c.integer("b"), c.integer("s"), c.integer("h")};
}

Tensor make_lse(const Case& c, oracle::Problem& problem, const std::string& name, bool output) {
  std::vector<std::int64_t> shape = rows_of(c);
  const std::string& layout = c.choice("lse_layout");
  if (layout != "heads_first")
    return problem.make(name, DType::f32, shape,
                        output && layout == "broadcast" ? Layout::contiguous : oracle::layout_of(layout));
  if (shape.size() == 1) return problem.make(name, DType::f32, shape);
  const int last = static_cast<int>(shape.size()) - 1;
  std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  return problem.make(name, DType::f32, shape).transpose(last - 1, last);
}

template <class Visit>
void each_row(const Tensor& lse, Visit visit) {
  for (std::int64_t row = 0; row < lse.numel(); ++row) {
    std::int64_t offset = 0, index = row;
    for (int i = lse.rank - 1; i >= 0; --i) {
      offset += index % lse.size(i) * lse.stride(i);
      index /= lse.size(i);
    }
    visit(row, static_cast<float*>(lse.data)[offset]);
  }
}

bool weightless(const Case& c, std::int64_t row, int part) {
  const std::string& kind = c.choice("weightless");
  if (kind == "some") return (row + part) % 3 == 0 || row % 4 == 1;
  return kind == "both" || kind == (part == 0 ? "a" : "b");
}

/// A row of a part that weighs nothing holds NaN, which must not show.
void poison(const Tensor& out, std::int64_t row) {
  for (std::int64_t d = 0; d < out.size(-1); ++d) {
    std::int64_t offset = d * out.stride(-1), index = row;
    for (int i = out.rank - 2; i >= 0; --i) {
      offset += index % out.size(i) * out.stride(i);
      index /= out.size(i);
    }
    core::encode(out.dtype, std::numeric_limits<double>::quiet_NaN(),
                 static_cast<std::byte*>(out.data) + offset * size_of(out.dtype));
  }
}

/// The lse of both parts, and NaN in the rows that weigh nothing.
void draw(const Case& c, const MergeAttentionArgs& args) {
  oracle::Random random(c.seed(), "lse");
  for (int part = 0; part < 2; ++part)
    each_row(part == 0 ? args.lse_a : args.lse_b, [&](std::int64_t, float& lse) {
      lse = static_cast<float>(c.real("lse_shift") + c.real("lse_scale") * random.normal());
    });
  const bool shared = c.choice("layout") == "broadcast" || c.choice("lse_layout") == "broadcast";
  for (int part = 0; part < 2; ++part)
    each_row(part == 0 ? args.lse_a : args.lse_b, [&](std::int64_t row, float& lse) {
      if (!weightless(c, row, part)) return;
      lse = -std::numeric_limits<float>::infinity();
      if (!shared) poison(part == 0 ? args.out_a : args.out_b, row);
    });
}

void make(const Case& c, oracle::Problem& problem) {
  auto& args = problem.args<MergeAttentionArgs>();
  auto& options = problem.options<MergeAttentionOptions>();
  for (const char* size : {"b", "s", "h", "d"})
    if (c.integer(size) < 0)
      core::fail(ErrorCode::bad_argument, c.schema().op, ": ", size, " expects 0 or more, got ",
                 c.integer(size));
  if (c.flag("in_place") && (c.choice("layout") == "broadcast" || c.dtype("out") != c.dtype("dtype")))
    core::fail(ErrorCode::bad_argument,
               "merge_attention: in_place expects out of the parts' dtype and no broadcast");
  if (c.choice("lse") == "in_place" && c.choice("lse_layout") == "broadcast")
    core::fail(ErrorCode::bad_argument, "merge_attention: lse=in_place expects no broadcast lse");
  std::vector<std::int64_t> shape = rows_of(c);
  shape.push_back(c.integer("d"));
  const Layout layout = oracle::layout_of(c.choice("layout"));
  const Regime regime = oracle::regime_of(c.choice("regime"));
  // Averages of subnormal f32 keep some bits.
  const double room = c.dtype("dtype") == DType::f32 && regime == Regime::subnormal ? 4096.0 : 1.0;
  args.out_a = problem.make("out_a", c.dtype("dtype"), shape, layout, regime, room);
  args.out_b = problem.make("out_b", c.dtype("dtype"), shape, layout, regime, room);
  args.lse_a = make_lse(c, problem, "lse_a", c.choice("lse") == "in_place");
  args.lse_b = make_lse(c, problem, "lse_b", false);
  if (c.flag("in_place"))
    args.out = args.out_a;
  else
    args.out =
        problem.make("out", c.dtype("out"), shape, layout == Layout::broadcast ? Layout::contiguous : layout);
  if (c.choice("lse") == "given") args.lse = make_lse(c, problem, "lse", true);
  if (c.choice("lse") == "in_place") args.lse = args.lse_a;
  problem.bind(bind(args, options));
  if (problem.drawn()) draw(c, args);
}

std::vector<Case> cases() {
  std::vector<Case> list;
  const auto add = [&](std::string_view line) { list.push_back(Case::parse(schema(), line)); };
  for (const std::string dtype : {"f32", "f16", "bf16"}) {
    for (const std::string layout : {"contiguous", "padded", "offset", "transposed", "broadcast"})
      add(dtype + " d=20 " + layout);
    for (const std::string layout :
         {"heads_first", "contiguous", "padded", "offset", "transposed", "broadcast", "inner"})
      add(dtype + " d=12 s=4 out=" + dtype + " lse_layout=" + layout);
    for (const std::string& regime : oracle::regime_names())
      add(dtype + " d=18 out=" + dtype + " regime=" + regime);
    for (const std::string out : {"f32", "f16", "bf16"}) add(dtype + " d=33 lse_scale=3 out=" + out);
    for (const std::string kind : {"a", "b", "both", "some"})
      add(dtype + " d=17 out=" + dtype + " weightless=" + kind);
    for (const std::string shift : {"-200", "200", "10000"}) add(dtype + " d=16 lse_shift=" + shift);
    add(dtype + " d=16 lse_scale=60");
    add(dtype + " d=40 in_place lse=in_place out=" + dtype);
    add(dtype + " d=40 in_place lse=in_place weightless=some padded out=" + dtype);
    add(dtype + " d=24 lse=absent");
  }
  for (const std::string d :
       {"1", "2", "7", "8", "9", "15", "16", "31", "32", "63", "65", "96", "128", "256", "257"})
    add("s=3 d=" + d);
  // Rows: round the 64 that are weighed together, and several tasks.
  for (const std::string s : {"1", "20", "21", "22", "43", "129"}) add("b=1 d=8 s=" + s);
  add("b=2 s=300 h=8 d=128 out=f16");
  add("b=1 s=2 h=2 d=40000 f16");
  for (const std::string shape : {"shd", "hd"}) {
    add("h=70 d=24 shape=" + shape);
    add("h=5 d=24 weightless=some lse_layout=inner padded shape=" + shape);
    add("h=5 d=24 offset f16 lse=in_place in_place out=f16 shape=" + shape);
  }
  add("b=0");
  add("h=0");
  add("d=0");
  return list;
}

std::vector<std::string> features(const Case& c) {
  std::vector<std::string> list;
  if (c.flag("in_place")) list.emplace_back("out is out_a");
  if (std::fabs(c.real("lse_shift")) > 88) list.emplace_back("weights beyond f32");
  return list;
}

}  // namespace

oracle::Oracle oracle() {
  return {.contract = &contract(),
          .schema = &schema(),
          .cases = cases,
          .make = make,
          .reference = reference,
          .variations = variations(),
          .bench_cases =
              [] {
                std::vector<Case> list;
                for (const char* line : {"b=4 s=1024 h=32 d=128 f32", "b=4 s=2048 h=32 d=128 f16 out=f16"})
                  list.push_back(Case::parse(schema(), line));
                return list;
              },
          .device_bench_lines = {"merge_attention b=4 s=4096 h=32 d=128 f32",
                                 "merge_attention b=4 s=4096 h=32 d=128 f16 out=f16"},
          .features = features,
          .originals = originals()};
}

}  // namespace isomer::ops::merge_attention
