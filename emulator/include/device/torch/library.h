// TORCH_LIBRARY: the functions are kept by name for the emulator; no dispatcher hears of them.
#pragma once
#include_next <torch/library.h>

#include "../isomer_emulator/torch_library.h"
