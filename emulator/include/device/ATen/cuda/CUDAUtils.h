#pragma once
#include "../../isomer_emulator/torch_cuda.h"
