#include <isomer/quantize_copy_kv.hpp>

#include "c_api/entry.hpp"

isomer_status isomer_quantize_copy_kv(isomer_queue* queue, const isomer_quantize_copy_kv_args* args,
                                      const isomer_quantize_copy_kv_options* options) {
  return isomer::c::guarded([&] {
    const isomer::c::Entry op("quantize_copy_kv", queue);
    const auto a = op.args(args, isomer_quantize_copy_kv_args ISOMER_QUANTIZE_COPY_KV_ARGS_INIT);
    const auto o = op.options(options, isomer_quantize_copy_kv_options ISOMER_QUANTIZE_COPY_KV_OPTIONS_INIT);
    isomer::quantize_copy_kv(op.queue(),
                             {.k = op.tensor("k", a.k),
                              .dest = op.tensor("dest", a.dest),
                              .out = op.tensor("out", a.out),
                              .out_scale = op.tensor("out_scale", a.out_scale)},
                             {.group = o.group});
  });
}
