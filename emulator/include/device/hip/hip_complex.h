#pragma once
#include "../isomer_emulator/hip_runtime.h"
#include "../isomer_emulator/complex.h"
