#pragma once
#include "../isomer_emulator/fp8.h"
#include "../isomer_emulator/hip_runtime.h"
