#pragma once
#include "../isomer_emulator/fft_hip.h"
