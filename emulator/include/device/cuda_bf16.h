#pragma once
#include "isomer_emulator/bfloat16.h"
#include "isomer_emulator/cuda_runtime.h"
