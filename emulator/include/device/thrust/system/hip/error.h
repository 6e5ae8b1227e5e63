#pragma once
#include "../../../isomer_emulator/thrust_errors.h"
