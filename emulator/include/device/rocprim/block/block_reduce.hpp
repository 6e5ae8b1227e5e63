#pragma once
#include "../../isomer_emulator/rocprim.h"
