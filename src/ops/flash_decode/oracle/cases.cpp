#include "core/ceil_div.hpp"
#include "core/codec.hpp"
#include "core/sentence.hpp"
#include "ops/flash_decode/flash_decode.hpp"
#include "ops/flash_decode/oracle/oracle.hpp"
#include "oracle/online_softmax.hpp"

#include <algorithm>
#include <limits>

namespace isomer::ops::flash_decode {
namespace {

using oracle::Case;
using oracle::Layout;
using oracle::Problem;
using oracle::Random;
using oracle::Regime;

const std::vector<DType> kFloats = {DType::f32, DType::f16, DType::bf16};

std::vector<std::string> with_first(std::string first, std::vector<std::string> rest) {
  rest.insert(rest.begin(), std::move(first));
  return rest;
}

/// The fields of both entries that have a first stage.
std::vector<oracle::Field> fields(const core::Contract& contract, std::int64_t block_seq,
                                  std::vector<oracle::Field> more) {
  oracle::Field block = oracle::option(contract, "block_seq", "tokens of one block");
  block.fallback = std::to_string(block_seq);
  std::vector<oracle::Field> list = {
      oracle::integer("b", 4, "sequences"),
      oracle::integer("hq", 4, "query heads"),
      oracle::integer("hkv", 2, "kv heads"),
      oracle::integer("d", 64, "head dimension"),
      oracle::integer("len", 100, "tokens of the longest sequence"),
      oracle::choice("lengths", {"ragged", "full", "one", "zero"},
                     "lengths: mixed with one of 0, all len, all 1, all 0"),
      block,
      oracle::option(contract, "max_len", "the option; 0: not given"),
      oracle::integer("slots", 0, "slots that the sequences share; 0: one for each token, and some unused"),
      oracle::dtype("dtype", kFloats, DType::f32, "of q, k and v", true),
      oracle::choice("kv", {"same", "i8", "i8x8"},
                     "dtype of k and v; i8: a scale for each row, i8x8: for each 8 channels"),
      oracle::choice("kv_scale", {"f32", "f16", "bf16"}, "dtype of the scales of int8 k and v"),
      oracle::dtype("index", {DType::i32, DType::i64}, DType::i32, "of b_req_idx and b_seqlen"),
      oracle::choice("layout", oracle::layout_names(), "how every tensor lies in memory", true),
      oracle::choice("v_layout", with_first("same", oracle::layout_names()),
                     "how v does, where not as the others"),
      oracle::flag("one_kv", "k and v are the halves of one buffer [slots, 2, Hkv, D]"),
      oracle::choice("regime", oracle::regime_names(), "values of v"),
      oracle::choice("k_regime", oracle::regime_names(), "values of k"),
      oracle::real("q_scale", 1.0, "multiplies the values of q: large logits"),
      oracle::option(contract, "scale", "the option; 0: 1/sqrt(D)")};
  for (oracle::Field& field : more) list.push_back(std::move(field));
  return list;
}

const oracle::CaseSchema& schema() {
  static const oracle::CaseSchema schema(
      "flash_decode",
      fields(contract(), 0,
             {oracle::choice("out", {"same", "f32", "f16", "bf16"}, "dtype of out, where not q's")}));
  return schema;
}

const oracle::CaseSchema& stage1_schema() {
  static const oracle::CaseSchema schema(
      "flash_decode_stage1",
      fields(stage1::contract(), 32, {oracle::integer("spare", 0, "blocks of mid_out beyond the needed")}));
  return schema;
}

std::vector<std::int64_t> lengths_of(const Case& c, Random& random) {
  const std::int64_t longest = c.integer("len"), block = std::max<std::int64_t>(c.integer("block_seq"), 16);
  const std::string& kind = c.choice("lengths");
  std::vector<std::int64_t> lengths;
  for (std::int64_t b = 0; b < c.integer("b"); ++b) {
    std::int64_t length = longest;
    if (kind == "one") length = std::min<std::int64_t>(longest, 1);
    if (kind == "zero") length = 0;
    // The longest, an empty one, whole blocks, then anything.
    if (kind == "ragged" && b % 4 == 1) length = 0;
    if (kind == "ragged" && b % 4 == 2) length = longest / block * block;
    if (kind == "ragged" && b % 4 == 3) length = random.below(longest + 1);
    lengths.push_back(length);
  }
  return lengths;
}

/// What multiplies a regime's values: largest ones whose weighted sums stay finite in f32, and subnormal f32
/// that leave room for the subnormal intermediate results of an average.
double room_of(Regime regime, DType dtype) {
  if (dtype != DType::f16 && (regime == Regime::huge || regime == Regime::mixed)) return 0x1p-16;
  return dtype == DType::f32 && regime == Regime::subnormal ? 4096.0 : 1.0;
}

void set(const Tensor& tensor, std::int64_t value, std::initializer_list<std::int64_t> index) {
  std::int64_t offset = 0;
  int dim = 0;
  for (const std::int64_t i : index) offset += i * tensor.stride(dim++);
  core::encode(tensor.dtype, static_cast<double>(value),
               static_cast<std::byte*>(tensor.data) + offset * size_of(tensor.dtype));
}

/// NaN where no sequence looks: a slot that is read by mistake shows.
void poison(const Tensor& tensor, std::int64_t slot) {
  if (tensor.rank == 2) {
    for (std::int64_t h = 0; h < tensor.size(1); ++h)
      core::encode(tensor.dtype, std::numeric_limits<double>::quiet_NaN(), tensor.at<>(slot, h));
    return;
  }
  for (std::int64_t h = 0; h < tensor.size(1); ++h)
    for (std::int64_t d = 0; d < tensor.size(2); ++d)
      core::encode(tensor.dtype, std::numeric_limits<double>::quiet_NaN(), tensor.at<>(slot, h, d));
}

/// The tables: random slots for the tokens, garbage past each length and for the request of an empty
/// sequence.
template <class Args>
void make_tables(const Case& c, Problem& problem, Args& args, std::int64_t slots, std::int64_t used,
                 const std::vector<std::int64_t>& lengths) {
  const Layout layout = oracle::layout_of(c.choice("layout"));
  const auto batch = static_cast<std::int64_t>(lengths.size());
  const std::int64_t requests = batch + 2, room = c.integer("len") + 3;
  Random& random = problem.random();
  args.req_to_tokens = problem.make("req_to_tokens", DType::i32, {requests, room}, layout);
  args.b_req_idx = problem.make("b_req_idx", c.dtype("index"), {batch}, layout);
  args.b_seqlen = problem.make("b_seqlen", c.dtype("index"), {batch}, layout);
  if (!problem.drawn()) return;
  constexpr std::int64_t kGarbage[] = {INT32_MIN, -1, INT32_MAX, 1 << 30};
  for (std::int64_t r = 0; r < requests; ++r)
    for (std::int64_t t = 0; t < room; ++t) set(args.req_to_tokens, kGarbage[(r + t) % 4], {r, t});
  const std::vector<std::int64_t> rows = random.permutation(requests);
  const std::vector<std::int64_t> order = random.permutation(slots);
  std::size_t next = 0;
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int64_t length = lengths[static_cast<std::size_t>(b)], row = rows[static_cast<std::size_t>(b)];
    set(args.b_seqlen, length, {b});
    set(args.b_req_idx, length > 0 ? row : -7, {b});
    for (std::int64_t t = 0; t < length; ++t)
      set(args.req_to_tokens, used < slots ? order[next++] : random.below(slots), {row, t});
  }
  // Slots that no token has; where every slot shares its memory with another there are none.
  for (; used < slots && next < order.size(); ++next)
    for (const Tensor* tensor :
         {args.k_scale.defined() ? &args.k_scale : &args.k, args.v_scale.defined() ? &args.v_scale : &args.v})
      if (tensor->stride(0) != 0) poison(*tensor, order[next]);
}

/// The whole of int8, and scales as quantize_copy_kv makes them of values of order 1; [slots, Hkv] or
/// [slots, Hkv, 1] by the parity of D / 8. A regime of inf or NaN is that of some row's scale.
Tensor make_scales(const Case& c, Problem& problem, const char* name, const Tensor& rows, Layout layout,
                   Regime regime) {
  const std::int64_t slots = rows.size(0), heads = rows.size(1), groups = rows.size(2) / 8;
  std::vector<std::int64_t> shape = {slots, heads};
  if (c.choice("kv") == "i8x8") shape.push_back(groups);
  if (c.choice("kv") == "i8" && groups % 2 == 0) shape.push_back(1);
  const Tensor scale = problem.make(name, *dtype_of(c.choice("kv_scale")), shape, layout);
  if (!problem.drawn()) return scale;
  Random random(c.seed(), name);
  for (std::int64_t s = 0; s < slots; ++s)
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t d = 0; d < rows.size(2); ++d) set(rows, random.below(256) - 128, {s, h, d});
      for (std::int64_t g = 0; g < (shape.size() == 3 ? shape[2] : 1); ++g) {
        double value = std::exp2(3.0 * random.uniform() - 2.0) * 2 / 127;
        if (regime == Regime::nan && random.below(40) == 0) value = std::numeric_limits<double>::quiet_NaN();
        if (regime == Regime::inf && random.below(40) == 0) value = std::numeric_limits<double>::infinity();
        core::encode(scale.dtype, value, shape.size() == 3 ? scale.at<>(s, h, g) : scale.at<>(s, h));
      }
    }
  return scale;
}

template <class Args>
void make_inputs(const Case& c, Problem& problem, Args& args) {
  for (const char* size : {"b", "hq", "hkv", "d", "len", "slots"})
    if (c.integer(size) < 0)
      core::fail(ErrorCode::bad_argument, c.schema().op, ": ", size, " expects 0 or more, got ",
                 c.integer(size));
  const std::vector<std::int64_t> lengths = lengths_of(c, problem.random());
  std::int64_t used = 0;
  for (const std::int64_t length : lengths) used += length;
  const std::int64_t slots = c.integer("slots") > 0 ? c.integer("slots") : used + 5;
  const std::int64_t hkv = c.integer("hkv"), d = c.integer("d");
  const DType dtype = c.dtype("dtype"), kv_dtype = c.choice("kv") == "same" ? dtype : DType::i8;
  const Layout layout = oracle::layout_of(c.choice("layout"));
  const Layout v_layout = c.choice("v_layout") == "same" ? layout : oracle::layout_of(c.choice("v_layout"));
  args.q = problem.make("q", dtype, {c.integer("b"), c.integer("hq"), d}, layout, Regime::normal,
                        c.real("q_scale"));
  if (c.flag("one_kv")) {
    const Tensor both = problem.make("kv", kv_dtype, {slots, 2, hkv, d}, layout);
    args.k = both.select(1, 0);
    args.v = both.select(1, 1);
  } else {
    args.k = problem.make("k", kv_dtype, {slots, hkv, d}, layout);
    args.v = problem.make("v", kv_dtype, {slots, hkv, d}, v_layout);
  }
  const Regime k_regime = oracle::regime_of(c.choice("k_regime")),
               regime = oracle::regime_of(c.choice("regime"));
  Random k_random(c.seed(), "k"), v_random(c.seed(), "v");
  const bool wide = k_regime == Regime::huge || k_regime == Regime::mixed;
  if (kv_dtype == DType::i8) {
    args.k_scale = make_scales(c, problem, "k_scale", args.k, layout, k_regime);
    args.v_scale = make_scales(c, problem, "v_scale", args.v, v_layout, regime);
  } else if (problem.drawn()) {
    oracle::fill(args.k, k_regime, k_random, wide ? 1000.0 / core::max_finite(dtype) : 1.0);
    oracle::fill(args.v, regime, v_random, room_of(regime, dtype));
  }
  make_tables(c, problem, args, slots, used, lengths);
}

Layout out_layout(const Case& c) {
  const Layout layout = oracle::layout_of(c.choice("layout"));
  return layout == Layout::broadcast ? Layout::contiguous : layout;
}

void make(const Case& c, Problem& problem) {
  auto& args = problem.args<FlashDecodeArgs>();
  auto& options = problem.options<FlashDecodeOptions>();
  make_inputs(c, problem, args);
  const std::string& out = c.choice("out");
  args.out = problem.make("out", out == "same" ? c.dtype("dtype") : *dtype_of(out),
                          {c.integer("b"), c.integer("hq"), c.integer("d")}, out_layout(c));
  oracle::set_options(c, contract(), &options);
  problem.bind(bind(args, options));
}

void make_stage1(const Case& c, Problem& problem) {
  auto& args = problem.args<FlashDecodeStage1Args>();
  auto& options = problem.options<FlashDecodeStage1Options>();
  make_inputs(c, problem, args);
  oracle::set_options(c, stage1::contract(), &options);
  const std::int64_t nb = core::ceil_div(c.integer("len"), std::max<std::int64_t>(options.block_seq, 1)) +
                          std::max<std::int64_t>(c.integer("spare"), 0);
  args.mid_out = problem.make("mid_out", DType::f32, {c.integer("b"), c.integer("hq"), nb, c.integer("d")},
                              out_layout(c));
  args.mid_lse = problem.make("mid_lse", DType::f32, {c.integer("b"), c.integer("hq"), nb}, out_layout(c));
  problem.bind(stage1::bind(args, options));
}

/// The cases that both entries have.
std::vector<Case> common(const oracle::CaseSchema& schema) {
  std::vector<Case> list;
  const auto add = [&](std::string_view line) { list.push_back(Case::parse(schema, line)); };
  for (const std::string dtype : {"f32", "f16", "bf16"}) {
    for (const std::string& layout : oracle::layout_names())
      add(dtype + " d=24 len=70 block_seq=32 " + layout);
    for (const std::string& regime : oracle::regime_names())
      add(dtype + " d=40 len=90 block_seq=48 hq=6 hkv=3 regime=" + regime);
    for (const std::string& regime : oracle::regime_names())
      if (regime != "normal")
        add(dtype + " d=40 len=90 lengths=full block_seq=48 hq=6 hkv=3 k_regime=" + regime);
    for (const std::string& layout : oracle::layout_names())
      add(dtype + " d=16 len=50 block_seq=16 b=2 v_layout=" + layout);
    add(dtype + " d=32 len=75 block_seq=64 one_kv");
    // Logits far beyond the exponent range of f32; no block of a few tokens, in which all of them may cancel
    // to almost nothing and the bound, which knows only the largest, with them.
    add(dtype + " d=64 len=100 lengths=full block_seq=64 q_scale=40");
    add(dtype + " d=64 len=120 block_seq=64 q_scale=0.01 scale=3");
    // Rows in which every logit is far below 0: a maximum that begins there is none of theirs.
    add(dtype + " d=64 len=1 lengths=full block_seq=16 hq=8 hkv=4 q_scale=400");
  }
  // Head dimensions: below, at and past the vectors of every instruction set.
  for (const std::string d :
       {"8", "16", "48", "56", "72", "80", "96", "120", "128", "136", "160", "192", "248", "256"})
    add("d=" + d + " len=45 block_seq=32 b=2 hq=5 hkv=1");
  // Groups: every way in which heads are taken four, two or one at a time.
  for (const std::string heads : {"hq=1 hkv=1", "hq=2 hkv=1", "hq=3 hkv=1", "hq=7 hkv=1", "hq=8 hkv=8",
                                  "hq=12 hkv=3", "hq=16 hkv=2", "hq=32 hkv=4", "hq=40 hkv=1"})
    add("f16 d=32 len=40 block_seq=32 b=1 " + heads);
  // Lengths: round the tile of tokens and round the block.
  for (const std::string len :
       {"1", "2", "7", "8", "9", "15", "16", "17", "31", "32", "33", "63", "64", "65", "97"})
    add("bf16 d=32 block_seq=32 b=1 lengths=full len=" + len);
  for (const std::string block : {"16", "48", "80", "256", "512"})
    add("f16 d=64 b=3 len=513 hq=2 hkv=1 block_seq=" + block);
  // int8 caches as quantize_copy_kv leaves them.
  for (const std::string how : {"f16 kv=i8", "bf16 kv=i8x8", "f32 kv=i8 kv_scale=f16",
                                "f16 kv=i8x8 kv_scale=f16", "bf16 kv=i8 kv_scale=bf16"}) {
    for (const std::string& layout : oracle::layout_names()) add(how + " d=24 len=70 block_seq=32 " + layout);
    for (const std::string d : {"8", "40", "64", "128", "136", "256"})
      add(how + " d=" + d + " b=2 len=90 block_seq=48 hq=6 hkv=3");
    add(how + " d=128 b=2 len=300 block_seq=128 hq=8 hkv=1 lengths=full");
    add(how + " d=64 len=40 block_seq=16 one_kv");
    add(how + " d=64 len=40 block_seq=32 hq=12 hkv=3 k_regime=nan");
    add(how + " d=64 len=40 block_seq=32 hq=12 hkv=3 regime=inf");
  }
  add("b=0");
  add("len=0");
  add("hq=0 hkv=0");
  add("lengths=zero block_seq=32");
  add("lengths=one block_seq=32");
  add("index=i64 len=33 block_seq=32");
  add("index=i64 len=33 block_seq=32 inner");
  add("len=200 block_seq=64 max_len=200");
  add("len=200 block_seq=64 max_len=201 f16");
  add("len=300 block_seq=64 slots=17 lengths=full");
  add("len=300 block_seq=128 slots=1 bf16");
  add("f16 b=1 hq=4 hkv=1 d=128 len=2500 lengths=full block_seq=1024");
  add("one_kv padded bf16 block_seq=32");
  add("one_kv transposed f16 block_seq=32");
  return list;
}

std::vector<Case> cases() {
  std::vector<Case> list = common(schema());
  for (const std::string dtype : {"f32", "f16", "bf16"}) {
    for (const std::string out : {"f32", "f16", "bf16"})
      list.push_back(Case::parse(schema(), dtype + " d=72 len=60 block_seq=16 out=" + out));
    // The plan's own blocks.
    for (const std::string len : {"1", "255", "600"})
      list.push_back(Case::parse(schema(), dtype + " b=2 d=64 lengths=full len=" + len));
  }
  list.push_back(Case::parse(schema(), "b=1 hq=2 hkv=1 d=16 len=9000 lengths=full"));
  return list;
}

std::vector<Case> stage1_cases() {
  std::vector<Case> list = common(stage1_schema());
  for (const std::string spare : {"1", "3"})
    for (const std::string layout : {"contiguous", "padded", "inner", "transposed"})
      list.push_back(Case::parse(stage1_schema(), "d=16 len=50 spare=" + spare + " " + layout));
  return list;
}

std::vector<std::string> features(const Case& c) {
  std::vector<std::string> list;
  const std::int64_t hq = c.integer("hq"), hkv = c.integer("hkv");
  if (hkv == 1 && hq > 1) list.emplace_back("one kv head");
  if (hkv > 1) list.emplace_back(hq == hkv ? "a kv head per query head" : "groups");
  if (c.flag("one_kv")) list.emplace_back("k and v in one buffer");
  if (c.choice("kv") != "same") list.emplace_back("int8 k and v");
  if (c.integer("slots") > 0) list.emplace_back("shared slots");
  if (c.integer("max_len") > 0) list.emplace_back("max_len");
  if (c.choice("v_layout") != "same" && c.choice("v_layout") != c.choice("layout"))
    list.emplace_back("own strides of v");
  return list;
}

std::vector<Case> bench_cases(const oracle::CaseSchema& schema) {
  std::vector<Case> list;
  for (const char* line :
       {"b=2 hq=32 hkv=8 d=128 len=8192 lengths=full f16", "b=1 hq=8 hkv=8 d=128 len=16384 bf16",
        "b=8 hq=32 hkv=4 d=64 len=4096 lengths=full f32"})
    list.push_back(Case::parse(schema, line));
  return list;
}

}  // namespace

oracle::Oracle oracle() {
  return {.contract = &contract(),
          .schema = &schema(),
          .cases = cases,
          .make = make,
          .reference = reference,
          .variations = oracle::with_tiles(variations()),
          .bench_cases = [] { return bench_cases(schema()); },
          .device_bench_lines = {"flash_decode b=16 hq=64 hkv=8 d=128 len=16384 lengths=full bf16",
                                 "flash_decode b=1 hq=32 hkv=8 d=128 len=65536 lengths=full f16"},
          .features = features,
          .originals = originals()};
}

oracle::Oracle stage1::oracle() {
  return {.contract = &stage1::contract(),
          .schema = &stage1_schema(),
          .cases = stage1_cases,
          .make = make_stage1,
          .reference = stage1::reference,
          .variations = oracle::with_tiles(stage1::variations()),
          .bench_cases =
              [] {
                std::vector<Case> list = bench_cases(stage1_schema());
                for (Case& c : list) c.set("block_seq", 256);
                return list;
              },
          .device_bench_lines =
              {"flash_decode_stage1 b=16 hq=64 hkv=8 d=128 len=16384 block_seq=256 lengths=full bf16"},
          .features = features,
          .originals = stage1::originals()};
}

}  // namespace isomer::ops::flash_decode
