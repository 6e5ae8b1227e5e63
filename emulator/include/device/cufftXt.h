#pragma once
#include "isomer_emulator/fft.h"
