#pragma once
#include "../isomer_emulator/half.h"
#include "../isomer_emulator/hip_runtime.h"
