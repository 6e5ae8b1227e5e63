#pragma once
#include "isomer_emulator/cuda_runtime.h"
#include "isomer_emulator/complex.h"
