#include <isomer/attention.hpp>

#include "c_api/entry.hpp"

using isomer::c::Entry;
using isomer::c::guarded;

isomer_status isomer_merge_attention(isomer_queue* queue, const isomer_merge_attention_args* args,
                                     const isomer_merge_attention_options* options) {
  return guarded([&] {
    const Entry op("merge_attention", queue);
    const auto a = op.args(args, isomer_merge_attention_args ISOMER_MERGE_ATTENTION_ARGS_INIT);
    op.options(options, isomer_merge_attention_options ISOMER_MERGE_ATTENTION_OPTIONS_INIT);
    isomer::merge_attention(op.queue(),
                            {.out_a = op.tensor("out_a", a.out_a),
                             .lse_a = op.tensor("lse_a", a.lse_a),
                             .out_b = op.tensor("out_b", a.out_b),
                             .lse_b = op.tensor("lse_b", a.lse_b),
                             .out = op.tensor("out", a.out),
                             .lse = op.tensor("lse", a.lse)},
                            {});
  });
}
