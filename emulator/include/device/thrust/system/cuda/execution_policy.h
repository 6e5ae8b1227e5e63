#pragma once
#include "../../../isomer_emulator/thrust_policies.h"
