#pragma once
#include "isomer_emulator/random.h"
