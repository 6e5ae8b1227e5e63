#include "planted.hpp"

namespace isomer::planted {
namespace {

constexpr std::string_view kKernel = "ops/attention/kernels/attention_sm90.cu";
constexpr std::string_view kProducer = "ops/attention/kernels/attention_sm90_producer.cuh";
constexpr std::string_view kPieces = "ops/attention/kernels/attention_sm90_pieces.cuh";
constexpr std::string_view kSoftmax = "ops/attention/kernels/attention_sm90_softmax.cuh";
constexpr std::string_view kTurn = "ops/attention/kernels/attention_sm90_turn.cuh";
/// Blocks that use both stages twice, two kv heads with factors of their own.
constexpr std::string_view kBytes =
    "attention sq=130 sk=600 hq=4 hkv=2 d=64 e4m3fn causal descale lse num_splits=1 pack_gqa=never seed=7";
/// Several blocks of keys and a masked tail, two tiles for a block, both warpgroups with rows.
constexpr std::string_view kCase =
    "attention b=2 sq=300 sk=300 hq=4 hkv=2 d=128 causal num_splits=1 pack_gqa=never seed=7";

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
      {"more_registers_than_there_are", kKernel, "take_registers<252 - kProducerRegisters / 2>()",
       "take_registers<260 - kProducerRegisters / 2>()", "register-pool"},
      {"nobody_begins", kKernel, "if (group == 1) arrive_threads<256>(1);", "", "waits in a named barrier"},
      {"out_written_while_it_is_stored", kKernel, "if (first_thread()) wait_stores_read<0>();", "",
       "early-reuse"},
      {"out_stored_unfenced", kKernel, "      fence_async_shared();\n", "", "missing-proxy-fence"},
      {"ends_before_its_stores", kKernel, "    if (first_thread()) wait_stores<0>();\n", "", "unfinished"},
      {"q_buffer_given_back_twice", kKernel, "    if (n == begin) free_q();\n    cap(s);",
       "    free_q();\n    cap(s);", "barrier"},
      {"last_block_of_the_tile_before", kKernel, "    n = range.end - 1;", "    n = range.end;",
       "waits for ever"},
      {"descale_of_another_head", kPieces, "k_descale, tile.entry, head);", "k_descale, tile.entry, 0);",
       "expected", kBytes},
      {"lse_keeps_the_shift_of_p", kKernel, "if constexpr (kFp8) base -= kShift;", "", "expected", kBytes},
      {"saturated_weights_unseen", kSoftmax, "return (bytes + 0x02020202u) & 0x80808080u;",
       "return 0 & bytes;", "expected", kBytes},
      {"v_not_turned", kTurn, "odd_bytes(words[0], words[1]),\n", "words[1],\n", "expected", kBytes},
      {"turned_v_unfenced", kTurn, "      fence_async_shared();\n", "", "missing-proxy-fence", kBytes},
      {"v_turned_before_it_is_there", kTurn, "      shared.v_rows_full()[stage].wait(parity);\n", "",
       "in-flight", kBytes},
      {"v_turned_while_it_is_read", kTurn, "      shared.v_empty()[stage].wait(parity ^ 1);\n", "",
       "early-reuse", kBytes},
      {"v_announced_by_one_of_three_warps", kKernel, "init(kFp8 ? kTurners : 1)", "init(1)", "race", kBytes},
      {"one_key_too_many_cleared", kTurn, "first + i >= used)", "first + i >= used - 1)", "expected",
       "attention sq=40 sk=5 hq=2 d=64 e4m3fn seed=7"},
      {"columns_in_the_order_of_memory", kTurn, "words[0] & 0xffff | words[2] << 16,", "words[0],",
       "expected", "attention sq=40 sk=160 hq=2 d=64 e4m3fn v_colmajor seed=7"},
      {"mask_ends_a_block_late", kKernel, "k_len), 0) / kKeys;", "k_len), 0) / kKeys + 1;", "expected"},
  };
  return {kKernel, "emulated/sm90", kCase, kFaults};
}

}  // namespace isomer::planted
