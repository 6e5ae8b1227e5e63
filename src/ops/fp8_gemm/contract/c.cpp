#include <isomer/fp8_gemm.hpp>

#include "c_api/entry.hpp"

using isomer::c::Entry;
using isomer::c::guarded;

isomer_status isomer_fp8_gemm(isomer_queue* queue, const isomer_fp8_gemm_args* args,
                              const isomer_fp8_gemm_options* options) {
  return guarded([&] {
    const Entry op("fp8_gemm", queue);
    const auto a = op.args(args, isomer_fp8_gemm_args ISOMER_FP8_GEMM_ARGS_INIT);
    op.options(options, isomer_fp8_gemm_options ISOMER_FP8_GEMM_OPTIONS_INIT);
    isomer::fp8_gemm(op.queue(),
                     {.a = op.tensor("a", a.a),
                      .a_s = op.tensor("a_s", a.a_s),
                      .b = op.tensor("b", a.b),
                      .b_s = op.tensor("b_s", a.b_s),
                      .c = op.tensor("c", a.c),
                      .bias = op.tensor("bias", a.bias),
                      .addend = op.tensor("addend", a.addend)},
                     {});
  });
}

isomer_status isomer_grouped_fp8_gemm(isomer_queue* queue, const isomer_grouped_fp8_gemm_args* args,
                                      const isomer_grouped_fp8_gemm_options* options) {
  return guarded([&] {
    const Entry op("grouped_fp8_gemm", queue);
    const auto a = op.args(args, isomer_grouped_fp8_gemm_args ISOMER_GROUPED_FP8_GEMM_ARGS_INIT);
    op.options(options, isomer_grouped_fp8_gemm_options ISOMER_GROUPED_FP8_GEMM_OPTIONS_INIT);
    isomer::grouped_fp8_gemm(op.queue(),
                             {.a = op.tensor("a", a.a),
                              .a_s = op.tensor("a_s", a.a_s),
                              .b = op.tensor("b", a.b),
                              .b_s = op.tensor("b_s", a.b_s),
                              .c = op.tensor("c", a.c),
                              .expert_ids = op.tensor("expert_ids", a.expert_ids),
                              .row_counts = op.tensor("row_counts", a.row_counts),
                              .bias = op.tensor("bias", a.bias),
                              .addend = op.tensor("addend", a.addend)},
                             {});
  });
}
