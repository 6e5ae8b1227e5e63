#include <isomer/weight_dequant.hpp>

#include "c_api/entry.hpp"

isomer_status isomer_weight_dequant(isomer_queue* queue, const isomer_weight_dequant_args* args,
                                    const isomer_weight_dequant_options* options) {
  return isomer::c::guarded([&] {
    const isomer::c::Entry op("weight_dequant", queue);
    const auto a = op.args(args, isomer_weight_dequant_args ISOMER_WEIGHT_DEQUANT_ARGS_INIT);
    const auto o = op.options(options, isomer_weight_dequant_options ISOMER_WEIGHT_DEQUANT_OPTIONS_INIT);
    isomer::weight_dequant(op.queue(),
                           {.x = op.tensor("x", a.x), .s = op.tensor("s", a.s), .y = op.tensor("y", a.y)},
                           {.block_size = o.block_size});
  });
}
