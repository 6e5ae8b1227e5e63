#pragma once
#include "isomer_emulator/solver.h"
