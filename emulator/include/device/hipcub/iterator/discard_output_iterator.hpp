#pragma once
#include "../../isomer_emulator/cub.h"

namespace hipcub = cub;
