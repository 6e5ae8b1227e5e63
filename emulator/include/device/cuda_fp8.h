#pragma once
#define __CUDA_FP8_H__
#include "isomer_emulator/cuda_runtime.h"
#include "isomer_emulator/fp8.h"
