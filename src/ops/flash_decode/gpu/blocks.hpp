#pragma once

#include <cstdint>

namespace isomer::ops::flash_decode {

/// Tokens of a block where the options leave them to the plan, a multiple of 16: so many blocks that the ones
/// of `rows` sequences and kv heads, all `longest` tokens long, fill the device's `places` in whole waves.
std::int64_t even_blocks(std::int64_t longest, std::int64_t rows, std::int64_t places);

}  // namespace isomer::ops::flash_decode
