#pragma once
#include "../../isomer_emulator/torch_hip.h"
