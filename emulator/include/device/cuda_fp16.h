#pragma once
#define __CUDA_FP16_H__
#include "isomer_emulator/cuda_runtime.h"
#include "isomer_emulator/half.h"
