#include "planted.hpp"

namespace isomer::planted {
namespace {

constexpr std::string_view kKernel = "ops/attention/kernels/attention_sm90.cu";
constexpr std::string_view kProducer = "ops/attention/kernels/attention_sm90_producer.cuh";
/// Several blocks of keys and a masked tail, two tiles for a block, both warpgroups with rows.
constexpr std::string_view kCase = "attention b=2 sq=300 sk=300 hq=4 hkv=2 d=128 causal num_splits=1 pack_gqa=never seed=7";

}  // namespace

Planted attention_faults() {
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
  return {kKernel, "emulated/sm90", kCase, kFaults};
}

}  // namespace isomer::planted
