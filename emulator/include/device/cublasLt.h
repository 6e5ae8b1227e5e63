#pragma once
#include "isomer_emulator/blas_lt.h"
