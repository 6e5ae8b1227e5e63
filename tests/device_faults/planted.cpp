#include "planted.hpp"

#include <deque>
#include <vector>

namespace isomer::planted {
namespace {

std::string_view original_of(const Fault& fault) {
  for (const gpu::Source& source : embedded())
    if (source.path == fault.file) return source.text;
  return {};
}

/// The library's table, and a file for each fault.
std::vector<gpu::Source> with_faults() {
  static std::deque<std::string> texts;
  std::vector<gpu::Source> all(embedded().begin(), embedded().end());
  for (const Fault& fault : attention_faults()) {
    std::string& text = texts.emplace_back(original_of(fault));
    if (const auto at = text.find(fault.find); at != std::string::npos)
      text.replace(at, fault.find.size(), fault.replace);
    const std::string& path = texts.emplace_back(path_of(fault));
    all.push_back({path, text});
  }
  return all;
}

}  // namespace

std::string path_of(const Fault& fault) { return "planted/" + std::string(fault.name) + ".cu"; }

int occurrences(const Fault& fault) {
  const std::string_view text = original_of(fault);
  int count = 0;
  for (auto at = text.find(fault.find); at != std::string_view::npos; at = text.find(fault.find, at + 1))
    ++count;
  return count;
}

std::span<const Fault> attention_faults() {
  constexpr std::string_view kFile = "ops/attention/kernels/attention_sm90.cu";
  static constexpr Fault kFaults[] = {
      {"fresh_barriers_unseen", kFile, "    fence_barriers();\n", "", "missing-proxy-fence"},
      {"producer_begins_with_the_other_parity", kFile, "k_empty()[key.stage].wait(key.phase ^ 1)",
       "k_empty()[key.stage].wait(key.phase)", "waits for ever in phase 0 (parity 0) of the barrier"},
      {"k_not_waited_for", kFile, "{ shared.k_full()[key.stage].wait(key.phase); }", "{}", "in-flight"},
      {"v_of_the_phase_before", kFile, ".wait(key.phase ^ (key.stage == 0)); }",
       ".wait(key.phase ^ (key.stage == 0) ^ 1); }", "in-flight"},
      {"k_given_back_before_it_is_read", kFile, "    warpgroup_wait<1>();\n    pin(x);\n    free_k();",
       "    free_k();\n    warpgroup_wait<1>();\n    pin(x);", "early-reuse"},
      {"k_announced_with_too_few_bytes", kFile, "arrive_expect(kLayout.k_bytes)",
       "arrive_expect(kLayout.k_bytes - 128)", "byte-count"},
      {"v_announced_with_too_many_bytes", kFile, "arrive_expect(kLayout.v_bytes)",
       "arrive_expect(kLayout.v_bytes + 128)", "byte-count"},
      {"s_without_a_fence", kFile, "    warpgroup_fence();\n#pragma unroll\n    for (int d = 0;",
       "#pragma unroll\n    for (int d = 0;", "missing-fence"},
      {"s_touched_in_flight", kFile, "    warpgroup_wait<1>();\n    pin(x);",
       "    warpgroup_wait<2>();\n    pin(x);", "in-flight"},
      {"sums_touched_in_flight", kFile, "    warpgroup_wait<0>();\n    pin(o);\n    if (grown) {",
       "    rows.sum[0] += o[0];\n    warpgroup_wait<0>();\n    pin(o);\n    if (grown) {", "in-flight"},
      {"q_read_with_another_swizzle", kFile, "static_cast<u32>(which * 64 * 128), 16, 1024)",
       "static_cast<u32>(which * 64 * 128), 16, 1024, Swizzle::bytes_64)", "wrong-swizzle"},
      {"more_registers_than_there_are", kFile, "take_registers<232>()", "take_registers<240>()",
       "register-pool"},
      {"nobody_begins", kFile, "if (group == 1) arrive_threads<256>(1);", "", "waits in a named barrier"},
      {"out_written_while_it_is_stored", kFile, "if (first_thread()) wait_stores_read<0>();", "",
       "early-reuse"},
      {"out_stored_unfenced", kFile, "      fence_async_shared();\n", "", "missing-proxy-fence"},
      {"ends_before_its_stores", kFile, "    if (first_thread()) wait_stores<0>();\n", "", "unfinished"},
      {"q_buffer_given_back_twice", kFile, "    if (n == begin) free_q();\n    cap(s);",
       "    free_q();\n    cap(s);", "barrier"},
      {"last_block_of_the_tile_before", kFile, "    n = range.end - 1;", "    n = range.end;",
       "waits for ever"},
      {"mask_ends_a_block_late", kFile, "k_len), 0) / kKeys;", "k_len), 0) / kKeys + 1;", "expected"},
  };
  return kFaults;
}

}  // namespace isomer::planted

namespace isomer::gpu {

std::span<const Source> sources() {
  static const std::vector<Source> all = planted::with_faults();
  return all;
}

}  // namespace isomer::gpu
