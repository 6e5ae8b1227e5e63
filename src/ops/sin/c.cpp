#include <isomer/sin.hpp>

#include "c_api/entry.hpp"

isomer_status isomer_sin(isomer_queue* queue, const isomer_sin_args* args,
                         const isomer_sin_options* options) {
  return isomer::c::guarded([&] {
    const isomer::c::Entry op("sin", queue);
    const auto a = op.args(args, isomer_sin_args ISOMER_SIN_ARGS_INIT);
    op.options(options, isomer_sin_options ISOMER_SIN_OPTIONS_INIT);
    isomer::sin(op.queue(), {.x = op.tensor("x", a.x), .y = op.tensor("y", a.y)}, {});
  });
}
