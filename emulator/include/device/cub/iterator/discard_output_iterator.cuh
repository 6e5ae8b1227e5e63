#pragma once
#include "../../isomer_emulator/cub.h"
