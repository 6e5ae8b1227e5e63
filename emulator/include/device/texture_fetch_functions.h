#pragma once
#include "isomer_emulator/cuda_runtime.h"
