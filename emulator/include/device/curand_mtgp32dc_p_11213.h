#pragma once
#include "isomer_emulator/random_twister.h"
