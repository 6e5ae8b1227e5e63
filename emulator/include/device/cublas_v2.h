#pragma once
#include "isomer_emulator/blas.h"
