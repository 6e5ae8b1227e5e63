#pragma once
#include "../isomer_emulator/solver_hip.h"
