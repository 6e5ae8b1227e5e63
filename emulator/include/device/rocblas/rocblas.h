#pragma once
#include "../isomer_emulator/blas_roc.h"
