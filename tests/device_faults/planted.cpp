#include "planted.hpp"

#include <deque>
#include <vector>

namespace isomer::planted {
namespace {

constexpr std::string_view kKernel = "ops/attention/kernels/attention_sm90.cu";
constexpr std::string_view kProducer = "ops/attention/kernels/attention_sm90_producer.cuh";

std::string_view text_of(std::string_view path) {
  for (const gpu::Source& source : embedded())
    if (source.path == path) return source.text;
  return {};
}

/// The text with the one place replaced where it stands.
std::string replaced(std::string_view original, std::string_view find, std::string_view replace) {
  std::string text(original);
  if (const auto at = text.find(find); at != std::string::npos) text.replace(at, find.size(), replace);
  return text;
}

/// The library's table and, for each fault, the file that has it, and a kernel that includes that file where
/// it is not the kernel's own.
std::vector<gpu::Source> with_faults() {
  static std::deque<std::string> texts;
  std::vector<gpu::Source> all(embedded().begin(), embedded().end());
  const auto add = [&](std::string path, std::string text) {
    const std::string& kept = texts.emplace_back(std::move(path));
    all.push_back({kept, texts.emplace_back(std::move(text))});
  };
  for (const Fault& fault : attention_faults()) {
    add(place_of(fault), replaced(text_of(fault.file), fault.find, fault.replace));
    if (fault.file != kKernel) add(path_of(fault), replaced(text_of(kKernel), fault.file, place_of(fault)));
  }
  return all;
}

}  // namespace

std::string path_of(const Fault& fault) { return "planted/" + std::string(fault.name) + ".cu"; }

std::string place_of(const Fault& fault) {
  return "planted/" + std::string(fault.name) + std::string(fault.file.substr(fault.file.rfind('.')));
}

int occurrences(const Fault& fault) {
  const std::string_view text = text_of(fault.file);
  int count = 0;
  for (auto at = text.find(fault.find); at != std::string_view::npos; at = text.find(fault.find, at + 1))
    ++count;
  return count;
}

std::span<const Fault> attention_faults() {
  static constexpr Fault kFaults[] = {
      {"fresh_barriers_unseen", kKernel, "    fence_barriers();\n", "", "missing-proxy-fence"},
      {"producer_begins_with_the_other_parity", kProducer, "k_empty()[key.stage].wait(key.phase ^ 1)",
       "k_empty()[key.stage].wait(key.phase)", "waits for ever in phase 0 (parity 0) of the barrier"},
      {"k_not_waited_for", kKernel, "{ shared.k_full()[key.stage].wait(key.phase); }", "{}", "in-flight"},
      {"v_of_the_phase_before", kKernel, ".wait(key.phase ^ (key.stage == 0)); }",
       ".wait(key.phase ^ (key.stage == 0) ^ 1); }", "in-flight"},
      {"k_given_back_before_it_is_read", kKernel, "    warpgroup_wait<1>();\n    pin(x);\n    free_k();",
       "    free_k();\n    warpgroup_wait<1>();\n    pin(x);", "early-reuse"},
      {"k_announced_with_too_few_bytes", kProducer, "arrive_expect(kLayout.k_bytes)",
       "arrive_expect(kLayout.k_bytes - 128)", "byte-count"},
      {"v_announced_with_too_many_bytes", kProducer, "arrive_expect(kLayout.v_bytes)",
       "arrive_expect(kLayout.v_bytes + 128)", "byte-count"},
      {"s_without_a_fence", kKernel, "    warpgroup_fence();\n#pragma unroll\n    for (int d = 0;",
       "#pragma unroll\n    for (int d = 0;", "missing-fence"},
      {"s_touched_in_flight", kKernel, "    warpgroup_wait<1>();\n    pin(x);",
       "    warpgroup_wait<2>();\n    pin(x);", "in-flight"},
      {"sums_touched_in_flight", kKernel, "    warpgroup_wait<0>();\n    pin(o);\n    if (grown) {",
       "    rows.sum[0] += o[0];\n    warpgroup_wait<0>();\n    pin(o);\n    if (grown) {", "in-flight"},
      {"q_read_with_another_swizzle", kKernel, "static_cast<u32>(which * 64 * 128), 16, 1024)",
       "static_cast<u32>(which * 64 * 128), 16, 1024, Swizzle::bytes_64)", "wrong-swizzle"},
      {"more_registers_than_there_are", kKernel, "take_registers<232>()", "take_registers<240>()",
       "register-pool"},
      {"nobody_begins", kKernel, "if (group == 1) arrive_threads<256>(1);", "", "waits in a named barrier"},
      {"out_written_while_it_is_stored", kKernel, "if (first_thread()) wait_stores_read<0>();", "",
       "early-reuse"},
      {"out_stored_unfenced", kKernel, "      fence_async_shared();\n", "", "missing-proxy-fence"},
      {"ends_before_its_stores", kKernel, "    if (first_thread()) wait_stores<0>();\n", "", "unfinished"},
      {"q_buffer_given_back_twice", kKernel, "    if (n == begin) free_q();\n    cap(s);",
       "    free_q();\n    cap(s);", "barrier"},
      {"last_block_of_the_tile_before", kKernel, "    n = range.end - 1;", "    n = range.end;",
       "waits for ever"},
      {"mask_ends_a_block_late", kKernel, "k_len), 0) / kKeys;", "k_len), 0) / kKeys + 1;", "expected"},
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
