#pragma once
#include "../isomer_emulator/random_hip.h"
