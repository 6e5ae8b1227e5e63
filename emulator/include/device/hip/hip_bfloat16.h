#pragma once
#include "../isomer_emulator/bfloat16.h"
#include "../isomer_emulator/hip_runtime.h"
