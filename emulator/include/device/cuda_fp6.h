#pragma once
#define __CUDA_FP6_H__
#include "isomer_emulator/cuda_runtime.h"
#include "isomer_emulator/fp6.h"
