#include "ops/attention/oracle/cases.hpp"

namespace isomer::ops::attention {
namespace {

using oracle::Case;

/// Chunks, a softcap and lengths on the device each make programs of their own, alone and beside one another;
/// so do 16 bits, bytes and 16 bits over bytes, and what out holds.
struct Family {
  std::vector<const char*> types, dims, how;
};
const std::vector<Family>& families() {
  static const std::vector<Family> list = {
      {{"f16", "bf16"},
       {"d=64", "d=96", "d=128", "d=192", "d=256", "d=192 dv=128"},
       {"chunk=30", "softcap=2 page=16", "chunk=30 causal softcap=2", "seqused_k softcap=2"}},
      {{"e4m3fn", "e4m3fn out=f16"},
       {"d=64", "d=96", "d=128", "d=192", "d=256"},
       {"causal", "chunk=30", "softcap=2", "causal softcap=2", "causal chunk=30 softcap=2"}},
      {{"f16 kv=e4m3fn", "bf16 kv=e4m3fn"},
       {"d=64", "d=96", "d=128", "d=192", "d=256", "d=192 dv=128"},
       {"causal", "chunk=30", "softcap=2", "causal chunk=30 softcap=2"}}};
  return list;
}

/// Tiles of 192 and 256 rows, where there are several for each multiprocessor of a large device: so many
/// rows, and few keys, which the choice of a tile does not ask for.
constexpr const char* kLargeTiles[] = {
    "sk=16 sq=200 hq=200 hkv=20 d=64 f16",
    "sk=16 sq=200 hq=200 hkv=20 d=64 bf16",
    "sk=16 sq=200 hq=200 hkv=20 d=64 f16 softcap=2",
    "sk=16 sq=200 hq=200 hkv=20 d=64 bf16 softcap=2",
    "sk=16 sq=200 hq=200 hkv=20 d=64 e4m3fn out=f16",
    "sk=16 sq=200 hq=200 hkv=20 d=64 e4m3fn softcap=2",
    "sk=16 sq=200 hq=200 hkv=20 d=64 e4m3fn out=f16 softcap=2",
    "sk=40 sq=200 hq=200 hkv=20 d=64 e4m3fn chunk=30",
    "sk=40 sq=200 hq=200 hkv=20 d=64 e4m3fn out=f16 chunk=30",
    "sk=40 sq=200 hq=200 hkv=20 d=64 e4m3fn chunk=30 causal softcap=2",
    "sk=40 sq=200 hq=200 hkv=20 d=64 e4m3fn out=f16 chunk=30 causal softcap=2",
    "sk=16 sq=600 hq=80 hkv=8 d=96 e4m3fn",
    "sk=16 sq=600 hq=80 hkv=8 d=96 e4m3fn out=f16",
    "sk=16 sq=600 hq=80 hkv=8 d=96 e4m3fn softcap=2",
    "sk=16 sq=600 hq=80 hkv=8 d=96 e4m3fn out=f16 softcap=2",
    "sk=40 sq=200 hq=200 hkv=20 d=96 e4m3fn chunk=30",
    "sk=40 sq=200 hq=200 hkv=20 d=96 e4m3fn out=f16 chunk=30",
    "sk=16 sq=600 hq=80 hkv=8 d=128 e4m3fn",
    "sk=16 sq=600 hq=80 hkv=8 d=128 e4m3fn out=f16",
    "sk=16 sq=600 hq=80 hkv=8 d=128 e4m3fn softcap=2",
    "sk=16 sq=600 hq=80 hkv=8 d=128 e4m3fn out=f16 softcap=2",
    "sk=40 sq=200 hq=200 hkv=20 d=128 e4m3fn chunk=30",
    "sk=40 sq=200 hq=200 hkv=20 d=128 e4m3fn out=f16 chunk=30",
};
/// Longer ones, for which 192 rows are enough.
constexpr const char* kLongTiles[] = {"bf16 varlen_q", "e4m3fn out=f16 varlen_q",
                                      "e4m3fn chunk=256 varlen_q varlen_k"};

}  // namespace

std::vector<Case> cases_of_programs() {
  std::vector<Case> cases;
  const auto add = [&](const std::string& line) { cases.push_back(Case::parse(schema(), line)); };
  int variant = 0;
  for (const Family& family : families())
    for (const char* type : family.types)
      for (const char* dims : family.dims)
        for (const char* how : family.how)
          add("b=2 sk=134 hq=2 hkv=1 lse sq=" + std::to_string(3 + variant++ % 4 * 21) + " " + dims + " " +
              type + " " + how);
  for (const char* line : kLargeTiles) add(std::string("lse ") + line);
  for (const char* line : kLongTiles) add(std::string("b=2 sq=500 sk=500 hq=16 hkv=2 d=64 lse ") + line);
  return cases;
}

}  // namespace isomer::ops::attention
