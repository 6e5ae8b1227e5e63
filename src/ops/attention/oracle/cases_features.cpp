#include "ops/attention/oracle/cases.hpp"

#include <algorithm>

namespace isomer::ops::attention {
namespace {

using oracle::Case;

std::int64_t keys_of(const Case& c) { return c.integer("sk") < 0 ? c.integer("sq") : c.integer("sk"); }
bool has_fp8_kv(const Case& c) { return c.choice("kv") == "e4m3fn" && c.dtype("dtype") != DType::e4m3fn; }
bool has_int8_kv(const Case& c) { return c.choice("kv") == "i8" || c.choice("kv") == "i8x8"; }
std::int64_t group(const Case& c) { return c.integer("hkv") == 0 ? 1 : c.integer("hq") / c.integer("hkv"); }

/// Whether some query of the case sees no key, whatever the seed.
bool has_empty_row(const Case& c) {
  if (c.integer("b") == 0 || c.integer("sq") == 0) return false;
  const bool lengths_vary =
      c.flag("varlen_k") || c.flag("seqused_k") || c.integer("page") > 0 || c.flag("leftpad_k");
  const bool without_keys = c.integer("append") > 0 ? c.flag("varlen_new") : lengths_vary;
  if (c.choice("lengths") == "empty" && without_keys) return true;
  return keys_of(c) == 0 || (c.flag("causal") && c.integer("sq") > keys_of(c) && !c.flag("seqused_q"));
}

/// A row of the table: its name, whether a case has it, and how to turn it on.
struct Feature {
  const char* name;
  bool (*present)(const Case&);
  void (*enable)(Case&, int variant);
};

void enable_fp8(Case& c, int variant) {
  if (c.dtype("dtype") == DType::e4m3fn || c.choice("kv") != "same") return;
  c.set("dtype", "e4m3fn")
      .set("out", variant % 4 == 0   ? "same"
                  : variant % 4 == 1 ? "f16"
                  : variant % 4 == 2 ? "f32"
                                     : "bf16");
}

void enable_append(Case& c, int variant) {
  if (c.integer("append") == 0) c.set("append", 1 + variant % 4);
}

void enable_rotary(Case& c, int variant, const char* style) {
  enable_append(c, variant);
  c.set("rotary", style)
      .set("rotary_dim", variant % 3 == 0 ? 16 : 0)
      .set("rotary_dtype", variant % 2 == 0 ? "f32" : "same");
  if (c.integer("d") < 16) c.set("d", 16);
}

void enable_group(Case& c, int variant) {
  if (group(c) > 1) return;
  const int kv = 1 + variant % 3;
  c.set("hkv", kv).set("hq", kv * (2 + variant % 2));
}

void enable_empty_row(Case& c, int variant) {
  if (c.flag("varlen_k") || c.flag("seqused_k") || c.flag("leftpad_k") || c.integer("append") > 0 ||
      c.integer("page") > 0) {
    c.set("lengths", "empty");
    if (c.integer("append") > 0) c.set("varlen_new", "1");
    return;
  }
  c.set("causal", "1").set("sk", 1 + variant % 9).set("sq", 12 + variant % 9);
}

const std::vector<Feature>& table() {
  static const std::vector<Feature> rows = {
      {"scale", [](const Case& c) { return c.real("scale") != 0; },
       [](Case& c, int) { c.set("scale", "0.3"); }},
      {"causal", [](const Case& c) { return c.flag("causal"); }, [](Case& c, int) { c.set("causal", "1"); }},
      {"window", [](const Case& c) { return c.integer("left") >= 0 || c.integer("right") >= 0; },
       [](Case& c, int variant) { c.set("left", 9 + variant % 7).set("right", variant % 5 - 1); }},
      {"softcap", [](const Case& c) { return c.real("softcap") != 0; },
       [](Case& c, int) { c.set("softcap", "1.5"); }},
      {"sink", [](const Case& c) { return c.choice("sink") != "none"; },
       [](Case& c, int variant) { c.set("sink", variant % 2 == 0 ? "f32" : "same"); }},
      {"varlen_q", [](const Case& c) { return c.flag("varlen_q"); },
       [](Case& c, int variant) { c.set("varlen_q", "1").set("max_seqlen", variant % 2 == 0 ? "1" : "0"); }},
      {"varlen_k", [](const Case& c) { return c.flag("varlen_k"); },
       [](Case& c, int) { c.set("varlen_k", "1"); }},
      {"seqused_q", [](const Case& c) { return c.flag("seqused_q"); },
       [](Case& c, int) { c.set("seqused_q", "1"); }},
      {"seqused_k",
       [](const Case& c) {
         return c.flag("seqused_k") || (c.integer("page") > 0 && c.integer("append") == 0);
       },
       [](Case& c, int) { c.set("seqused_k", "1"); }},
      {"leftpad_k", [](const Case& c) { return c.flag("leftpad_k"); },
       [](Case& c, int) { c.set("leftpad_k", "1"); }},
      {"paged", [](const Case& c) { return c.integer("page") > 0; },
       [](Case& c, int variant) {
         constexpr int sizes[] = {16, 1, 5, 64, 128, 7};
         c.set("page", sizes[variant % 6]);
       }},
      {"append", [](const Case& c) { return c.integer("append") > 0; }, enable_append},
      {"rotary_neox", [](const Case& c) { return c.choice("rotary") == "neox"; },
       [](Case& c, int variant) { enable_rotary(c, variant, "neox"); }},
      {"rotary_interleaved", [](const Case& c) { return c.choice("rotary") == "interleaved"; },
       [](Case& c, int variant) { enable_rotary(c, variant, "interleaved"); }},
      {"kv_batch_idx", [](const Case& c) { return c.flag("kv_batch_idx"); },
       [](Case& c, int) { c.set("kv_batch_idx", "1"); }},
      {"fp8", [](const Case& c) { return c.dtype("dtype") == DType::e4m3fn; }, enable_fp8},
      {"fp8_kv", has_fp8_kv,
       [](Case& c, int variant) { c.set("dtype", variant % 2 == 0 ? "f16" : "bf16").set("kv", "e4m3fn"); }},
      {"descale", [](const Case& c) { return c.flag("descale"); },
       [](Case& c, int variant) {
         enable_fp8(c, variant);
         c.set("descale", "1");
       }},
      {"v_colmajor", [](const Case& c) { return c.flag("v_colmajor"); },
       [](Case& c, int variant) {
         enable_fp8(c, variant);
         c.set("v_colmajor", "1");
       }},
      {"gqa", [](const Case& c) { return group(c) > 1; }, enable_group},
      {"pack_gqa", [](const Case& c) { return c.choice("pack_gqa") == "always"; },
       [](Case& c, int variant) {
         enable_group(c, variant);
         c.set("pack_gqa", "always");
       }},
      {"num_splits", [](const Case& c) { return c.integer("num_splits") > 1; },
       [](Case& c, int variant) { c.set("num_splits", 2 + variant % 4); }},
      {"split_size", [](const Case& c) { return c.integer("split_size") > 0; },
       [](Case& c, int variant) { c.set("split_size", variant % 2 == 0 ? 16 : 11); }},
      {"d_and_dv", [](const Case& c) { return c.integer("dv") != 0 && c.integer("dv") != c.integer("d"); },
       [](Case& c, int variant) { c.set("dv", c.integer("d") == 32 || variant % 2 == 0 ? 48 : 32); }},
      {"int8_kv", has_int8_kv,
       [](Case& c, int variant) {
         constexpr const char* scales[] = {"f32", "f16", "bf16"};
         c.set("kv", variant % 2 == 0 ? "i8x8" : "i8").set("kv_scale", scales[variant % 3]);
       }},
      {"quantising_append",
       [](const Case& c) { return c.integer("append") > 0 && c.choice("new") != "same"; },
       [](Case& c, int variant) {
         constexpr const char* types[] = {"bf16", "f16", "f32"};
         enable_append(c, variant);
         if (c.dtype("dtype") == DType::f32) c.set("dtype", "f16");
         if (c.dtype("dtype") != DType::e4m3fn) c.set("kv", "e4m3fn");
         c.set("new", types[variant % 3]).set("descale", variant % 4 == 3 ? "0" : "1");
       }},
      {"qv", [](const Case& c) { return c.flag("qv"); }, [](Case& c, int) { c.set("qv", "1"); }},
      {"lse", [](const Case& c) { return c.flag("lse"); }, [](Case& c, int) { c.set("lse", "1"); }},
      // Last, because how a row becomes empty depends on the others.
      {"empty_row", has_empty_row, enable_empty_row},
  };
  return rows;
}

}  // namespace

const std::vector<std::string>& feature_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Feature& row : table()) list.emplace_back(row.name);
    return list;
  }();
  return names;
}

std::vector<std::string> features(const Case& c) {
  std::vector<std::string> list;
  for (const Feature& row : table())
    if (row.present(c)) list.emplace_back(row.name);
  return list;
}

void enable(Case& c, const std::string& feature, int variant) {
  for (const Feature& row : table())
    if (feature == row.name) row.enable(c, variant);
}

std::string cannot_meet(const std::string& a, const std::string& b) {
  struct Pair {
    const char *a, *b, *reason;
  };
  static constexpr Pair pairs[] = {
      {"varlen_k", "leftpad_k", "keys by cu_seqlens_k are no cache: their first row says where they start"},
      {"varlen_k", "paged", "pages and cu_seqlens_k are two ways to find a key"},
      {"varlen_k", "append", "keys by cu_seqlens_k have no room to append to"},
      {"varlen_k", "rotary_neox", "rotary comes with an append, which cu_seqlens_k excludes"},
      {"varlen_k", "rotary_interleaved", "rotary comes with an append, which cu_seqlens_k excludes"},
      {"varlen_k", "kv_batch_idx", "keys by cu_seqlens_k have no cache rows to choose from"},
      {"seqused_k", "append", "with an append the length is cache_seqlens plus the new keys"},
      {"seqused_k", "rotary_neox",
       "rotary comes with an append, whose length is cache_seqlens plus the new keys"},
      {"seqused_k", "rotary_interleaved",
       "rotary comes with an append, whose length is cache_seqlens plus the new keys"},
      {"rotary_neox", "rotary_interleaved", "two styles of one embedding"},
      {"fp8", "fp8_kv", "fp8_kv is e4m3fn keys under a 16-bit q"},
      {"int8_kv", "fp8", "int8 keys stand under a wider q"},
      {"int8_kv", "fp8_kv", "keys are int8 or e4m3fn"},
      {"int8_kv", "descale", "descales are of e4m3fn, int8 has scales"},
      {"int8_kv", "v_colmajor", "a column-major v is e4m3fn"},
      {"int8_kv", "append", "quantize_copy_kv writes an int8 cache"},
      {"int8_kv", "quantising_append", "quantize_copy_kv writes an int8 cache"},
      {"int8_kv", "rotary_neox", "rotary comes with an append, which an int8 cache has not"},
      {"int8_kv", "rotary_interleaved", "rotary comes with an append, which an int8 cache has not"},
      {"quantising_append", "varlen_k", "keys by cu_seqlens_k have no room to append to"},
      {"quantising_append", "seqused_k", "with an append the length is cache_seqlens plus the new keys"},
      {"qv", "fp8", "qv goes with f16, bf16 and f32"},
      {"qv", "fp8_kv", "qv goes with v of its own type"},
      {"qv", "descale", "descales are of e4m3fn, and qv goes with f16, bf16 and f32"},
      {"qv", "v_colmajor", "a column-major v is e4m3fn, and qv goes with f16, bf16 and f32"},
      {"qv", "int8_kv", "qv goes with v of its own type"},
      {"qv", "quantising_append", "qv goes with v of its own type"},
      {"num_splits", "split_size", "two ways to split the keys"},
  };
  for (const Pair& pair : pairs)
    if ((a == pair.a && b == pair.b) || (a == pair.b && b == pair.a)) return pair.reason;
  return {};
}

}  // namespace isomer::ops::attention
