// Inline PTX of what runs beside the threads: copies in groups, barriers that count bytes, bulk copies
// without a tensor map, and what goes with them; and what lanes compute together. They become calls, most of
// them those that the words of the project's own kernels are.
#include <algorithm>
#include <set>

#include "source/ptx_table.hpp"
#include "source/ptx_text.hpp"

namespace isomer::emulator::source {
namespace {

struct UnitRow {
  const char* name;         ///< the words with which it begins
  const char* words;        ///< those that have to follow somewhere
  std::size_t least, most;  ///< operands
  const char* expression;
};

const UnitRow kRows[] = {
    {"mbarrier.init", "", 2, 2, "isomer_emulator_barrier_init(@0, #1)"},
    {"mbarrier.inval", "", 1, 1, "isomer_emulator_barrier_invalidate(@0)"},
    {"mbarrier.expect_tx", "", 2, 2, "isomer_emulator_barrier_arrive(@0, 0, #1)"},
    {"mbarrier.arrive.expect_tx", "", 3, 3, "=0arrived(@1, 1, #2)"},
    {"mbarrier.arrive", "shared::cluster", 2, 2, "arrived_in(&1, 1)"},
    {"mbarrier.arrive", "shared::cluster", 3, 3, "arrived_in(&1, #2)"},
    {"mbarrier.arrive", "", 2, 2, "=0arrived(@1, 1, 0)"},
    {"mbarrier.arrive", "", 3, 3, "=0arrived(@1, #2, 0)"},
    {"mbarrier.arrive_drop", "", 2, 2, "=0dropped(@1, 1)"},
    {"mbarrier.arrive_drop", "", 3, 3, "=0dropped(@1, #2)"},
    {"mbarrier.test_wait", "", 3, 3, "=0waited(@1, #2, true)"},
    {"mbarrier.try_wait", "", 3, 4, "=0waited(@1, #2, true)"},
    {"cp.async.mbarrier.arrive", "noinc", 1, 1, "arrived_behind(@0)"},
    {"cp.async.mbarrier.arrive", "", 1, 1, "arrived_beside(@0)"},
    {"cp.async.commit_group", "", 0, 0, "isomer_emulator_copies_commit()"},
    {"cp.async.wait_group", "", 1, 1, "isomer_emulator_copies_wait(#0)"},
    {"cp.async.wait_all", "", 0, 0, "isomer_emulator_copies_wait_for_all()"},
    {"cp.async.bulk", "global mbarrier::complete_tx::bytes shared::cluster", 4, 5,
     "isomer_emulator_stretch_load(&1, #2, @0, @3)"},
    {"cp.async.bulk", "global mbarrier::complete_tx::bytes shared::cta", 4, 5,
     "isomer_emulator_stretch_load(&1, #2, @0, @3)"},
    {"cp.async.bulk", "bulk_group global shared::cta", 3, 4, "isomer_emulator_stretch_store(&0, #2, @1)"},
    {"cp.async.bulk.commit_group", "", 0, 0, "isomer_emulator_stores_commit()"},
    {"cp.async.bulk.wait_group", "", 1, 1, "isomer_emulator_stores_wait(#0)"},
    {"cp.async.bulk.prefetch.L2", "global", 2, 3, "0"},
    {"createpolicy.fractional", "", 1, 2, "=0 0"},
    {"mapa", "shared::cluster", 3, 3, "=0in_block(#1, #2)"},
    {"barrier.cluster.arrive", "", 0, 0, "isomer_emulator_cluster_arrive()"},
    {"barrier.cluster.wait", "", 0, 0, "isomer_emulator_cluster_wait()"},
    {"wgmma.fence", "", 0, 0, "isomer_emulator_product_fence()"},
    {"wgmma.commit_group", "", 0, 0, "isomer_emulator_product_commit()"},
    {"wgmma.wait_group", "", 1, 1, "isomer_emulator_product_wait(#0)"},
    {"prefetch.tensormap", "", 1, 1, "0"},
    {"fence.proxy.async", "", 0, 0, "isomer_emulator_proxy_fence()"},
    {"fence.mbarrier_init", "", 0, 0, "isomer_emulator_proxy_fence()"},
    {"dp4a.s32.s32", "", 4, 4, "=0__dp4a(s32(#1), s32(#2), s32(#3))"},
    {"dp4a.u32.u32", "", 4, 4, "=0__dp4a(#1, #2, #3)"},
    {"vadd4.u32.u32.u32", "", 4, 4, "=0__vadd4(#1, #2)"},
    {"vsub4.u32.u32.u32", "", 4, 4, "=0__vsub4(#1, #2)"},
    {"vabsdiff4.u32.u32.u32", "", 4, 4, "=0__vabsdiffu4(#1, #2)"},
    {"vabsdiff4.u32.u32.u32.add", "", 4, 4, "=0__vsadu4(#1, #2) + u32(#3)"},
    {"match.any.sync", "", 3, 3, "=0u32(__match_any_sync(#2, #1))"},
    {"redux.sync.add", "", 3, 3, "=0__reduce_add_sync(#2, #1)"},
    {"redux.sync.min", "", 3, 3, "=0__reduce_min_sync(#2, #1)"},
    {"redux.sync.max", "", 3, 3, "=0__reduce_max_sync(#2, #1)"},
    {"redux.sync.and", "", 3, 3, "=0__reduce_and_sync(#2, #1)"},
    {"redux.sync.or", "", 3, 3, "=0__reduce_or_sync(#2, #1)"},
    {"redux.sync.xor", "", 3, 3, "=0__reduce_xor_sync(#2, #1)"},
    {"redux.sync.add.s32", "", 3, 3, "=0__reduce_add_sync(#2, s32(#1))"},
    {"redux.sync.min.s32", "", 3, 3, "=0__reduce_min_sync(#2, s32(#1))"},
    {"redux.sync.max.s32", "", 3, 3, "=0__reduce_max_sync(#2, s32(#1))"},
    {"setmaxnreg.inc", "", 1, 1, "isomer_emulator_set_registers(#0, 1)"},
    {"setmaxnreg.dec", "", 1, 1, "isomer_emulator_set_registers(#0, 0)"},
};

/// Words that change nothing here: types, scopes, the order of memory, hints.
bool is_modifier(const std::string& word) {
  static const std::set<std::string> known = {"b64",     "u32",     "b32",  "shared",  "shared::cta",
                                              "release", "acquire", "cta",  "relaxed", "shared::cluster",
                                              "parity",  "cluster", "sync", "aligned", "noComplete",
                                              "global",  "read"};
  return known.count(word) != 0 || word.rfind("L2::", 0) == 0;
}

}  // namespace

std::string ptx_of_units(const Words& parts, std::size_t operands, bool waits_only) {
  const UnitRow* found = nullptr;
  std::size_t longest = 0;
  for (const UnitRow& row : kRows) {
    const Words name = split(row.name, '.'), words = split(row.words, ' ');
    if (operands < row.least || operands > row.most || parts.size() < name.size() || name.size() < longest ||
        !std::equal(name.begin(), name.end(), parts.begin()))
      continue;
    const Words rest(parts.begin() + static_cast<std::ptrdiff_t>(name.size()), parts.end());
    const bool fits =
        std::all_of(words.begin(), words.end(), [&](const std::string& w) { return has(rest, w.c_str()); }) &&
        std::all_of(rest.begin(), rest.end(),
                    [&](const std::string& w) { return has(words, w.c_str()) || is_modifier(w); });
    if (!fits || (found != nullptr && name.size() == longest)) continue;
    found = &row;
    longest = name.size();
  }
  if (found == nullptr) return "";
  std::string expression = found->expression;
  // A loop that does nothing but look is a wait, of which more can be said where it never ends.
  if (const auto look = expression.find("true"); waits_only && look != std::string::npos)
    expression.replace(look, 4, "false");
  return expression;
}

}  // namespace isomer::emulator::source
