#pragma once
#include "isomer_emulator/ranges.h"
