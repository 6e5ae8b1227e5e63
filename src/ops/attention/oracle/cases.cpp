#include "ops/attention/oracle/cases.hpp"

#include "ops/attention/attention.hpp"
#include "ops/attention/oracle/oracle.hpp"
#include "oracle/online_softmax.hpp"

#include <algorithm>

namespace isomer::ops::attention {
namespace {

using oracle::Case;

/// A list in the making: lines of the schema, each once.
class List {
 public:
  void add(const std::string& line) { add(Case::parse(schema(), line)); }
  void add(const Case& c) {
    if (std::find(cases.begin(), cases.end(), c) == cases.end()) cases.push_back(c);
  }
  template <class... Parts>
  void say(const Parts&... parts) {
    std::string line;
    ((line += text(parts)), ...);
    add(line);
  }
  std::vector<Case> cases;

 private:
  static std::string text(const std::string& part) { return part; }
  static std::string text(const char* part) { return part; }
  static std::string text(std::int64_t part) { return std::to_string(part); }
};

constexpr const char* kTypes[] = {"f16", "bf16", "f32", "e4m3fn"};

/// Small and awkward: what the pairs of features stand on.
const std::string& ground(int variant) {
  static const std::string lines[] = {
      "b=2 sq=5 sk=37 hq=2 d=64 f16",         "b=3 sq=1 sk=70 hq=2 d=32 bf16",
      "b=2 sq=17 sk=64 hq=1 d=64 f32 lse",    "b=3 sq=9 sk=41 hq=3 d=80 f16 lse",
      "b=2 sq=33 sk=33 hq=1 d=16 bf16",       "b=2 sq=3 sk=100 hq=2 d=128 f32",
      "b=4 sq=8 sk=23 hq=2 d=64 bf16 lse",    "b=3 sq=19 sk=30 hq=2 d=96 f16 lse",
      "b=2 sq=4 sk=65 hq=1 d=112 f16 padded", "b=2 sq=7 sk=31 hq=2 d=32 f32 transposed",
  };
  return lines[variant % 10];
}

/// Each feature alone, first of all: most faults fail here already.
void singles(List& list) {
  int variant = 0;
  for (const std::string& name : feature_names()) {
    Case c = Case::parse(schema(), "b=3 sq=11 sk=40 hq=2 d=32 lse");
    enable(c, name, variant++);
    list.add(c);
  }
}

/// Every pair of features that may meet, in a case of its own, so that a failure says which.
void pairs(List& list) {
  const std::vector<std::string>& names = feature_names();
  int variant = 0;
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t j = i + 1; j < names.size(); ++j) {
      if (!cannot_meet(names[i], names[j]).empty()) continue;
      Case c = Case::parse(schema(), ground(variant));
      enable(c, names[i], variant);
      enable(c, names[j], variant);
      list.add(c);
      ++variant;
    }
}

/// Many features at once, chosen by a fixed generator among those that may meet.
void crowds(List& list) {
  oracle::Random random(29);
  const std::vector<std::string>& names = feature_names();
  for (int variant = 0; variant < 40; ++variant) {
    std::vector<bool> in(names.size(), false);
    for (const std::int64_t pick : random.permutation(static_cast<std::int64_t>(names.size()))) {
      const std::string& name = names[static_cast<std::size_t>(pick)];
      const bool meets = std::all_of(names.begin(), names.end(), [&](const std::string& other) {
        return !in[static_cast<std::size_t>(&other - names.data())] || cannot_meet(name, other).empty();
      });
      if (meets && random.below(names.size()) < 9) in[static_cast<std::size_t>(pick)] = true;
    }
    Case c = Case::parse(schema(), ground(variant));
    for (std::size_t i = 0; i < names.size(); ++i)
      if (in[i]) enable(c, names[i], variant + static_cast<int>(i));
    list.add(c);
  }
}

void sizes(List& list) {
  constexpr int lengths[][2] = {{1, 1},    {1, 2},    {2, 1},     {1, 15},    {3, 16},   {1, 17},
                                {7, 31},   {8, 32},   {9, 33},    {15, 63},   {16, 64},  {17, 65},
                                {63, 1},   {64, 63},  {65, 64},   {64, 65},   {31, 127}, {32, 128},
                                {33, 129}, {127, 17}, {128, 128}, {129, 130}, {5, 257},  {100, 7}};
  int variant = 0;
  for (const auto& [sq, sk] : lengths) {
    list.say("b=2 sq=", sq, " sk=", sk, " hq=2 lse ", kTypes[variant % 3]);
    list.say("sq=", sq, " sk=", sk, " hq=2 hkv=1 lse causal ", kTypes[++variant % 4]);
  }
  for (const char* dims :
       {"d=8",        "d=16",       "d=24",        "d=40",       "d=48",       "d=72",         "d=80",
        "d=88",       "d=96",       "d=104",       "d=112",      "d=128",      "d=136",        "d=160",
        "d=192",      "d=200",      "d=224",       "d=248",      "d=256",      "d=192 dv=128", "d=64 dv=256",
        "d=256 dv=8", "d=8 dv=256", "d=128 dv=64", "d=40 dv=72", "d=64 dv=128"})
    list.say("b=2 sq=5 sk=39 hq=2 hkv=1 lse causal ", dims, " ", kTypes[variant++ % 3]);
  for (const char* dims :
       {"d=16", "d=32", "d=48", "d=80", "d=96", "d=128", "d=192", "d=256", "d=192 dv=128", "d=64 dv=16"})
    list.say("b=2 sq=5 sk=39 hq=2 descale lse ", variant++ % 2 == 0 ? "e4m3fn " : "bf16 kv=e4m3fn ", dims);
  for (const char* heads : {"hq=1", "hq=8 hkv=1", "hq=8 hkv=2", "hq=6 hkv=3", "hq=5", "hq=12 hkv=4",
                            "hq=14 hkv=2", "hq=17 hkv=1"})
    for (const char* pack : {"plan", "never", "always"}) {
      const std::int64_t sq = 1 + ++variant / 3 % 3 * 5;
      list.say("b=2 sq=", sq, " sk=44 d=32 causal ", heads, " pack_gqa=", pack, " ", kTypes[variant % 3]);
    }
  // Nothing to attend to, or nobody to attend.
  for (const char* line : {"b=0 sq=4 sk=4 hq=2 lse", "b=2 sq=0 sk=4 hq=2 lse", "b=2 sq=4 sk=0 hq=2 lse",
                           "b=2 sq=4 sk=0 hq=2 lse sink=f32", "b=2 sq=4 sk=4 hq=0 hkv=2 lse",
                           "b=3 sq=4 sk=9 hq=2 lse lengths=empty varlen_q varlen_k",
                           "b=3 sq=6 sk=9 hq=2 lse lengths=empty varlen_q seqused_k sink=same",
                           "b=2 sq=5 sk=0 hq=2 varlen_q varlen_k lse",
                           "b=3 sq=5 sk=20 hq=2 page=4 lengths=empty lse num_splits=3",
                           "b=2 sq=9 sk=4 hq=2 causal lse num_splits=2"})
    list.add(line);
}

void memory(List& list) {
  for (const char* type : kTypes)
    for (const char* layout : {"contiguous", "padded", "offset", "transposed", "broadcast"}) {
      list.say("b=2 sq=6 sk=21 hq=4 hkv=2 d=48 dv=32 lse causal ", layout, " ", type);
      list.say("b=2 sq=6 sk=21 hq=2 d=32 lse varlen_q page=8 ", layout, " ", type);
      list.say("b=2 sq=6 sk=21 hq=2 d=32 varlen_q varlen_k ", layout, " ", type);
      list.say("b=2 sq=6 sk=21 hq=2 d=32 append=2 rotary=neox causal ", layout, " ", type);
    }
  for (const char* layout : {"padded", "offset", "transposed", "broadcast"}) {
    list.say("b=2 sq=6 sk=21 hq=2 d=32 v_colmajor descale e4m3fn ", layout);
    list.say("b=2 sq=6 sk=21 hq=2 d=32 v_colmajor page=8 kv=e4m3fn ", layout);
  }
  for (const char* line :
       {"sq=6 sk=208 hq=2 d=32 lse", "sq=9 sk=80 hq=2 d=256", "sq=6 sk=200 hq=2 d=64 page=128 lse",
        "sq=70 sk=304 hq=4 hkv=2 d=128 causal lse", "sq=9 sk=80 hq=2 d=64 leftpad_k lse",
        "sq=20 sk=320 hq=2 d=64 causal leftpad_k num_splits=2 lse",
        "sq=5 sk=400 hq=4 hkv=1 d=96 num_splits=2"})
    list.say("b=2 v_colmajor descale e4m3fn ", line);
  list.add("b=2 sq=4 sk=24 hq=2 d=64 dv=32 v_in_k");
  list.add("b=2 sq=4 sk=24 hq=4 hkv=1 d=64 dv=48 v_in_k page=8 lse bf16");
  list.add("b=2 sq=4 sk=20 hq=2 d=32 far page=8");
  list.add("b=2 sq=4 sk=20 hq=2 d=32 far page=16 kv=e4m3fn v_colmajor");
}

void values(List& list) {
  for (const std::string& regime : oracle::regime_names())
    for (const char* type : kTypes) {
      list.say("b=2 sq=6 sk=14 hq=4 hkv=2 d=32 lse regime=", regime, " ", type);
      if (regime != "nan" && regime != "inf")
        list.say("sq=9 sk=50 hq=2 d=64 causal num_splits=2 regime=", regime, " ", type);
    }
  for (const char* regime : {"huge", "outlier", "nan", "inf", "ties"}) {
    list.say("b=2 sq=3 sk=40 hq=2 page=16 lse f16 kv=e4m3fn descale regime=", regime);
    list.say("b=2 sq=3 sk=40 hq=2 page=16 lse bf16 regime=", regime);
    list.say("b=2 sq=3 sk=40 hq=2 num_splits=3 lse f32 sink=f32 regime=", regime);
  }
  for (const char* scale : {"0.001", "1", "4", "30"}) {
    list.say("sq=7 sk=33 hq=2 lse scale=", scale, " f32");
    list.say("sq=7 sk=33 hq=2 lse scale=", scale, " bf16 softcap=5");
  }
  // Rows in which every logit is far below 0.
  for (const char* type : {"f32", "f16", "bf16"})
    list.say("b=2 sq=8 sk=1 hq=4 hkv=2 d=64 lse scale=30 ", type);
  for (const char* cap : {"0.01", "1", "30", "1000"})
    list.say("b=2 sq=12 sk=33 hq=2 lse causal scale=1 softcap=", cap);
}

void masks(List& list) {
  int variant = 0;
  for (const char* window : {"left=0 right=0", "left=1 right=0", "left=0 right=1", "right=5", "left=5",
                             "right=0", "left=63 right=0", "left=64", "left=1000 right=1000",
                             "left=9223372036854775807 right=9223372036854775807", "left=3 right=100",
                             "left=100 right=3", "left=16 causal", "left=15 right=7 causal"})
    for (const char* lengths : {"sq=37 sk=37", "sq=9 sk=80", "sq=50 sk=20"})
      list.say("hq=2 hkv=1 lse ", window, " ", lengths, " d=32 ", kTypes[variant++ % 4]);
  for (const char* chunk : {"chunk=1", "chunk=7 causal", "chunk=16 left=5", "chunk=33 causal left=9",
                            "chunk=64 right=3", "chunk=9223372036854775807 causal"})
    for (const char* lengths : {"sq=37 sk=37", "sq=9 sk=80", "sq=50 sk=20"})
      list.say("hq=2 hkv=1 lse ", chunk, " ", lengths, " d=32 ", kTypes[variant++ % 4]);
  for (const char* how :
       {"sq=5 sk=40 d=64 lse", "sq=150 sk=90 d=64 bf16 causal", "sq=1 sk=300 hq=4 hkv=1 d=192 num_splits=2"})
    list.say("dv=512 ", how);
  for (const char* line :
       {"b=2 sq=3 sk=200 hq=4 hkv=2 chunk=64 causal page=16",
        "b=3 sq=20 sk=70 varlen_q varlen_k chunk=12 lse", "b=2 sq=5 sk=30 hq=2 append=5 rotary=neox chunk=8",
        "b=2 sq=1 sk=600 hq=4 hkv=1 chunk=300 num_splits=3 lse",
        "b=2 sq=4 sk=90 hq=2 leftpad_k sink=f32 chunk=20 bf16 lse",
        "b=1 sq=300 sk=300 d=128 bf16 chunk=100 causal"})
    list.say(line);
}

void caches(List& list) {
  int variant = 0;
  for (const int page : {1, 2, 3, 8, 16, 17, 64, 128, 256, 1000}) {
    list.say("b=3 sq=4 sk=150 hq=4 hkv=2 d=32 causal lse page=", page, " ", kTypes[variant++ % 4]);
    list.say("b=2 sq=1 sk=130 hq=8 hkv=2 d=128 page=", page, " ", kTypes[variant % 2]);
    list.say("b=2 sq=3 sk=50 hq=2 d=16 page=", page, " append=5 causal ", kTypes[variant % 4]);
    list.say("b=2 sq=3 sk=50 hq=2 d=16 page=", page, " leftpad_k lse ", kTypes[variant % 4]);
  }
  for (const int n : {1, 2, 17, 40})
    for (const char* how :
         {"", "varlen_new", "varlen_new lengths=empty", "lengths=empty", "lengths=full causal"})
      list.say("b=3 sq=6 sk=40 hq=2 lse append=", n, " ", how, " ", kTypes[variant++ % 4]);
  for (const char* rotary : {"rotary=neox", "rotary=interleaved"})
    for (const char* how :
         {"rotary_dim=16", "rotary_dim=32 causal", "rotary_dim=64 left=9", "rotary_dim=48 kv=e4m3fn page=4",
          "rotary_dtype=same", "rotary_dtype=same bf16 causal", "f32 lse", "e4m3fn lse causal",
          "leftpad_k lse causal", "kv_batch_idx varlen_q varlen_new"})
      list.say("b=2 sq=5 sk=30 hq=2 append=5 ", rotary, " ", how);
}

/// int8 caches as quantize_copy_kv leaves them, and e4m3 caches that the call itself quantises into.
void quantised(List& list) {
  for (const char* how : {"f16 kv=i8", "bf16 kv=i8x8", "f32 kv=i8 kv_scale=f16", "f16 kv=i8x8 kv_scale=f16",
                          "bf16 kv=i8 kv_scale=bf16"}) {
    list.say("b=2 sq=1 sk=70 hq=8 hkv=2 d=64 lse page=16 ", how);
    list.say("b=2 sq=40 sk=90 hq=4 hkv=2 d=128 causal lse ", how);
    list.say("b=3 sq=9 sk=33 hq=2 d=40 dv=24 varlen_q varlen_k padded lse ", how);
    list.say("b=2 sq=3 sk=50 hq=2 d=72 lse regime=nan transposed ", how);
    list.say("b=2 sq=3 sk=50 hq=2 d=256 lse regime=inf num_splits=2 ", how);
    list.say("b=2 sq=2 sk=300 hq=4 hkv=1 d=96 split_size=64 offset ", how);
  }
  list.add("b=2 sq=1 sk=40 hq=2 d=32 dv=512 kv=i8 lse");
  for (const char* how :
       {"f16 kv=e4m3fn new=f16", "bf16 kv=e4m3fn new=bf16", "e4m3fn new=f32", "e4m3fn new=bf16 v_colmajor"}) {
    list.say("b=2 sq=3 sk=40 hq=4 hkv=2 d=64 append=3 causal lse descale ", how);
    list.say("b=3 sq=5 sk=40 hq=2 d=32 append=9 page=8 varlen_new descale padded ", how);
    list.say("b=2 sq=5 sk=40 hq=2 d=48 append=5 rotary=neox causal descale ", how);
    list.say("b=2 sq=5 sk=40 hq=2 d=64 append=5 rotary=interleaved rotary_dim=32 leftpad_k ", how);
    for (const char* regime : {"ties", "outlier", "tiny", "huge"})
      list.say("b=2 sq=3 sk=20 hq=2 d=32 append=4 descale lse regime=", regime, " ", how);
  }
}

/// Queries of v beside those of k, as DeepSeek's decode has them: k is the rotary part, v the latent one.
void queries_of_values(List& list) {
  int variant = 0;
  for (const char* how : {"", "causal", "scale=0.25 softcap=2", "page=8", "varlen_q varlen_k", "num_splits=3",
                          "append=3 causal", "append=3 rotary=neox causal", "leftpad_k seqused_k",
                          "sink=f32 left=9", "hkv=1 pack_gqa=always", "padded", "offset", "transposed",
                          "broadcast", "regime=outlier", "regime=tiny", "regime=zero"}) {
    list.say("b=2 sq=5 sk=39 hq=4 d=24 dv=", variant % 2 == 0 ? 40 : 72, " qv lse ", how, " ",
             kTypes[variant % 3]);
    ++variant;
  }
  for (const char* line :
       {"b=2 sq=3 sk=50 hq=2 d=64 dv=256 regime=nan qv lse",
        "b=2 sq=3 sk=50 hq=2 d=64 dv=256 regime=inf bf16 qv lse",
        "b=2 sq=1 sk=70 hq=16 hkv=1 d=64 dv=512 page=16 bf16 qv lse",
        "b=1 sq=1 sk=40 hq=2 d=64 dv=512 f32 qv", "b=1 sq=40 sk=70 hq=2 d=256 dv=256 causal qv lse",
        "b=1 sq=1 sk=0 hq=2 d=64 dv=64 qv lse",
        // More rows, blocks and tiles than one of a kernel of 64 by 64.
        "b=2 sq=1 sk=150 hq=128 hkv=1 d=64 dv=512 page=64 bf16 qv lse",
        "b=2 sq=2 sk=200 hq=24 hkv=2 d=64 dv=512 page=7 causal num_splits=3 qv lse",
        "b=2 sq=2 sk=200 hq=24 hkv=2 d=64 dv=512 page=16 num_splits=2 bf16 lse",
        "b=3 sq=30 sk=200 hq=4 hkv=1 d=64 dv=512 varlen_q varlen_k causal lengths=empty bf16 qv lse",
        "b=1 sq=64 sk=400 hq=2 d=64 dv=256 scale=3 num_splits=1 qv lse",
        "b=9 sq=40 sk=70 hq=16 hkv=1 d=64 dv=256 causal num_splits=1 qv",
        "b=1 sq=70 sk=330 hq=2 hkv=1 d=64 dv=512 causal bf16 lse",
        "b=2 sq=30 sk=100 hq=1 d=64 dv=512 seqused_k regime=nan lse"})
    list.add(line);
}

void splits(List& list) {
  for (const char* split :
       {"num_splits=1", "num_splits=2", "num_splits=5", "num_splits=8", "num_splits=16", "num_splits=256",
        "split_size=1", "split_size=7", "split_size=64", "split_size=128", "split_size=1000"}) {
    list.say("b=2 sq=2 sk=200 hq=4 hkv=2 lse ", split);
    list.say("b=2 sq=3 sk=200 hq=2 lse bf16 causal left=30 sink=f32 varlen_q page=16 ", split);
    list.say("b=2 sq=1 sk=3 hq=2 lse f32 ", split);
  }
  for (const char* line :
       {"b=1 sq=1 sk=2100 hq=8 hkv=1 d=128 lse", "b=2 sq=1 sk=2048 hq=4 hkv=2 bf16 page=16 lse",
        "b=1 sq=16 sk=2100 hq=2 causal f32 lse", "b=1 sq=3 sk=2500 hq=2 e4m3fn descale page=64",
        "b=1 sq=300 sk=300 hq=2 hkv=1 causal lse", "b=1 sq=260 sk=200 hq=1 d=128 bf16 left=40 right=9",
        "b=2 sq=150 sk=513 hq=1 f32 seqused_k seqused_q lse",
        "b=1 sq=200 sk=400 hq=1 d=192 dv=128 causal bf16",
        "b=2 sq=130 sk=300 hq=2 hkv=1 e4m3fn causal varlen_q varlen_k descale",
        "b=1 sq=2 sk=1999 hq=2 split_size=256 softcap=10 lse bf16",
        // Few queries over bytes: 16 rows, rows of 64 and of 256 columns, places beyond 32 bits.
        "b=2 sq=1 sk=700 hq=16 hkv=1 d=128 page=5 descale lse bf16 kv=e4m3fn",
        "b=3 sq=2 sk=1100 hq=8 hkv=2 d=192 dv=64 causal descale lse kv=e4m3fn",
        "b=1 sq=1 sk=600 hq=8 hkv=1 d=256 num_splits=3 page=16 lse bf16 kv=e4m3fn regime=nan",
        "b=2 sq=1 sk=20 hq=2 d=32 far page=16 bf16 kv=e4m3fn",
        // One query and whole heads, which the decode kernel has code of its own for.
        "b=5 sq=1 sk=700 hq=8 hkv=2 d=128 page=16 lengths=empty causal sink=f32 lse bf16",
        "b=3 sq=1 sk=400 hq=4 hkv=1 d=64 seqused_k lengths=ragged lse",
        "b=4 sq=1 sk=900 hq=12 hkv=1 d=128 page=64 lengths=full descale lse bf16 kv=e4m3fn regime=nan",
        "b=2 sq=1 sk=330 hq=8 hkv=2 d=256 page=3 offset lse bf16", "b=9 sq=1 sk=150 hq=2 d=192 dv=128 lse",
        "b=1 sq=1 sk=1500 hq=5 hkv=1 d=64 dv=128 transposed regime=inf lse kv=e4m3fn",
        "b=130 sq=1 sk=140 hq=1 d=64 seqused_k lengths=empty bf16"})
    list.add(line);
}

/// Longer than the tiles of any kernel, with their edges inside, over them and on them.
void tiles(List& list) {
  int variant = 0;
  for (const char* dims : {"d=128", "d=64", "d=96", "d=192 dv=128", "d=192", "d=256", "d=80", "d=40 dv=72"})
    for (const char* how : {"sq=129 sk=300 causal", "sq=300 sk=129", "sq=256 sk=513 left=100 right=50",
                            "sq=190 sk=190 causal left=64", "b=2 sq=200 sk=257 varlen_q varlen_k causal",
                            "b=2 sq=130 sk=384 softcap=3 sink=f32"})
      list.say("hq=2 hkv=1 lse ", how, " ", dims, " ", kTypes[variant++ % 2]);
  for (const char* line :
       {// More tiles than multiprocessors, short and long.
        "b=3 sq=1030 sk=170 hq=8 hkv=2 d=128 causal bf16 lse", "b=40 sq=10 sk=20 hq=8 d=64 f16 lse",
        "b=9 sq=400 sk=90 hq=8 hkv=4 d=128 varlen_q varlen_k bf16 lse",
        // Rows that see nothing beside rows that do.
        "sq=400 sk=150 hq=2 d=128 causal f16 lse",
        "sq=700 sk=40 hq=1 d=64 left=30 right=0 bf16 lse sink=same",
        "b=4 sq=150 sk=150 hq=2 d=128 varlen_q varlen_k lengths=empty f16 lse",
        "b=4 sq=300 sk=280 hq=2 d=128 seqused_q seqused_k leftpad_k kv_batch_idx causal bf16 lse",
        "b=4 sq=140 sk=280 hq=2 d=64 seqused_k leftpad_k lengths=empty f16 lse",
        "b=3 sq=257 sk=130 hq=4 hkv=2 d=192 dv=128 seqused_q varlen_k f16",
        // Strides.
        "b=2 sq=200 sk=200 hq=4 hkv=2 d=128 padded causal bf16 lse",
        "b=2 sq=200 sk=200 hq=4 hkv=2 d=128 offset f16 lse",
        "b=2 sq=200 sk=200 hq=4 hkv=2 d=64 transposed causal bf16 lse",
        "b=2 sq=140 sk=200 hq=2 d=128 v_in_k dv=64 f16",
        // Values: references that must move, weights that run over, what is not finite.
        "sq=200 sk=900 hq=2 d=128 scale=3 f16 lse", "sq=200 sk=900 hq=2 d=128 scale=3 causal bf16 lse",
        "sq=150 sk=600 hq=2 d=64 regime=outlier f16 lse", "sq=150 sk=600 hq=2 d=128 regime=outlier bf16 lse",
        "sq=150 sk=300 hq=2 d=128 regime=huge bf16 lse", "sq=150 sk=300 hq=2 d=128 regime=huge f16 lse",
        "sq=150 sk=300 hq=2 d=128 regime=nan bf16 lse", "sq=150 sk=300 hq=2 d=128 regime=nan f16 lse causal",
        "sq=150 sk=300 hq=2 d=64 regime=inf f16 lse", "sq=150 sk=300 hq=2 d=192 regime=inf bf16 lse",
        "b=3 sq=150 sk=300 hq=2 d=128 regime=nan seqused_k bf16 lse",
        // The largest weight of a row meets a value of 0: with this seed a weight of 2^-28 is all of out.
        "b=2 sq=3 sk=20 hq=2 d=32 bf16 kv=e4m3fn append=4 new=bf16 descale regime=outlier seed=304523492 lse",
        // Tiles of 192 rows where there are more of them than multiprocessors: four of an emulated device.
        "sq=300 sk=400 hq=2 d=64 bf16 lse", "sq=300 sk=1200 hq=2 hkv=1 d=64 f16 causal lse",
        "sq=300 sk=300 hq=2 d=64 seqused_k regime=nan bf16 lse",
        "sq=330 sk=200 hq=2 hkv=1 d=56 regime=inf f16",
        // Bytes, whose tiles are larger likewise.
        "sq=300 sk=420 hq=4 hkv=4 d=128 e4m3fn causal descale lse",
        "sq=260 sk=200 hq=4 d=96 e4m3fn causal lse",
        "b=3 sq=200 sk=330 hq=2 hkv=1 d=64 e4m3fn left=70 right=9 lse",
        "b=2 sq=200 sk=600 hq=4 d=128 e4m3fn regime=outlier causal lse",
        "sq=260 sk=260 hq=4 d=64 e4m3fn scale=3 causal lse", "sq=150 sk=300 hq=2 d=128 e4m3fn scale=3 lse",
        "sq=150 sk=300 hq=6 d=128 e4m3fn regime=nan causal lse",
        "b=3 sq=200 sk=300 hq=2 d=128 e4m3fn varlen_q varlen_k causal lse",
        "b=3 sq=200 sk=300 hq=2 d=64 e4m3fn seqused_q seqused_k leftpad_k causal lse",
        "sq=200 sk=200 hq=6 d=128 e4m3fn causal softcap=3 sink=f32 lse",
        "sq=400 sk=150 hq=4 d=128 e4m3fn causal chunk=100 lse",
        "sq=100 sk=200 hq=2 d=128 e4m3fn causal softcap=3 sink=f32 lse",
        "sq=200 sk=150 hq=1 d=128 e4m3fn causal chunk=100 lse",
        "sq=200 sk=700 hq=6 d=128 e4m3fn causal num_splits=3 lse",
        "b=40 sq=140 sk=150 hq=4 d=64 e4m3fn causal lse",
        "b=2 sq=70 sk=700 hq=5 d=64 e4m3fn descale sink=f32 lse"})
    list.add(line);
}

/// Each feature with each head dimension that a kernel has code of its own for, by 16 bits and by bytes, over
/// one tile of queries or two and several of keys.
void dimensions(List& list) {
  int variant = 0;
  for (const char* dims :
       {"d=64", "d=96", "d=128", "d=192", "d=256", "d=192 dv=128", "d=64 dv=256", "d=64 dv=512"})
    for (const std::string& name : feature_names()) {
      if (name == "d_and_dv") continue;
      ++variant;
      for (const bool bytes : {false, true}) {
        if (bytes && (name == "fp8" || !cannot_meet(name, "fp8").empty())) continue;
        // So few rows in many parts that devices of any size join them with the same program.
        const int queries = name == "split_size" ? 3 : 3 + variant % 4 * 21;
        Case c = Case::parse(schema(), "b=2 sk=134 hq=1 lse sq=" + std::to_string(queries) + " " + dims +
                                           " " + (bytes ? "e4m3fn" : kTypes[variant % 2]));
        enable(c, name, variant);
        list.add(c);
      }
    }
}

}  // namespace

std::vector<Case> cases() {
  List list;
  singles(list);
  sizes(list);
  masks(list);
  memory(list);
  values(list);
  caches(list);
  quantised(list);
  queries_of_values(list);
  splits(list);
  tiles(list);
  pairs(list);
  crowds(list);
  dimensions(list);
  for (const Case& c : cases_of_programs()) list.add(c);
  return list.cases;
}

std::vector<Case> bench_cases() {
  List list;
  for (const char* line :
       {"b=1 sq=2048 hq=8 d=128 f32", "b=1 sq=2048 hq=8 d=128 causal bf16",
        "b=4 sq=1 sk=4096 hq=16 hkv=2 d=128 bf16 page=16", "b=1 sq=1285 hq=16 hkv=2 d=128 causal"})
    list.add(line);
  return list.cases;
}

oracle::Oracle oracle() {
  return {.contract = &contract(),
          .schema = &schema(),
          .cases = cases,
          .make = make,
          .reference = reference,
          .variations = oracle::with_tiles(variations()),
          .bench_cases = bench_cases,
          .device_bench_lines = {"attention b=1 sq=1285 hq=16 hkv=2 d=128 f16 causal",
                                 "attention b=4 sq=4096 hq=16 d=128 bf16",
                                 "attention b=4 sq=4096 hq=16 d=128 bf16 causal",
                                 "attention b=16 sq=1 sk=16384 hq=64 hkv=8 d=128 bf16 page=16"},
          .features = features,
          .cannot_meet = cannot_meet,
          .originals = originals()};
}

}  // namespace isomer::ops::attention
