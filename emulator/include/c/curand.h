/* cuRAND's generators for hosts in C. */
#ifndef ISOMER_EMULATOR_CURAND_C_H
#define ISOMER_EMULATOR_CURAND_C_H
#include "cuda_runtime.h"
#include "../device/isomer_emulator/random_types.inc"
typedef curandStatus_t curandStatus;
typedef struct isomer_emulator_random* curandGenerator_t;
#define ISOMER_EMULATOR_C_RANDOM 1
#include "isomer_emulator/library_c.inc"
#undef ISOMER_EMULATOR_C_RANDOM
#endif
