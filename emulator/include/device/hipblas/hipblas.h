#pragma once
#include "../isomer_emulator/blas_hip.h"
