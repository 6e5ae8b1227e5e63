#pragma once
#include "isomer_emulator/random.h"
#include "isomer_emulator/random_twister.h"
