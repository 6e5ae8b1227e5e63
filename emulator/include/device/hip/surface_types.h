#pragma once
#include "../isomer_emulator/hip_runtime.h"
