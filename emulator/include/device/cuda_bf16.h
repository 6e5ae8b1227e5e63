#pragma once
#define __CUDA_BF16_H__
#include "isomer_emulator/bfloat16.h"
#include "isomer_emulator/cuda_runtime.h"
