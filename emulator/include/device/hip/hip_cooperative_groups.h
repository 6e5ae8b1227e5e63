#pragma once
#include "../isomer_emulator/cooperative_groups.h"
#include "../isomer_emulator/hip_runtime.h"
