#include <isomer/act_quant.hpp>

#include "c_api/entry.hpp"

isomer_status isomer_act_quant(isomer_queue* queue, const isomer_act_quant_args* args,
                               const isomer_act_quant_options* options) {
  return isomer::c::guarded([&] {
    const isomer::c::Entry op("act_quant", queue);
    const auto a = op.args(args, isomer_act_quant_args ISOMER_ACT_QUANT_ARGS_INIT);
    const auto o = op.options(options, isomer_act_quant_options ISOMER_ACT_QUANT_OPTIONS_INIT);
    isomer::act_quant(
        op.queue(), {.x = op.tensor("x", a.x), .y = op.tensor("y", a.y), .s = op.tensor("s", a.s)},
        {.block_size = o.block_size,
         .amax_floor = static_cast<float>(o.amax_floor),
         .scale_format = static_cast<isomer::ScaleFormat>(op.choice("scale_format", o.scale_format, 2)),
         .scale_layout = static_cast<isomer::ScaleLayout>(op.choice("scale_layout", o.scale_layout, 2))});
  });
}
