// TORCH_LIBRARY: the functions are kept by name; no dispatcher hears of them.
#pragma once
#include_next <torch/library.h>

#include "../../device/isomer_emulator/torch_library.h"
