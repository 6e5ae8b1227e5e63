// What a host in C calls: the runtime's functions, which are the headers' own and C++, under names that C can link to.
// Compiled once for each program that has such a host.
#if defined(ISOMER_EMULATOR_HIP)
#include "isomer_emulator/hip_runtime.h"
#define API(NAME) hip##NAME
#define ISOMER_EMULATOR_PROPERTIES hipDeviceProp_t
#define ISOMER_EMULATOR_ATTRIBUTES hipDeviceAttribute_t
#else
#include "isomer_emulator/cuda_runtime.h"
#define API(NAME) cuda##NAME
#define ISOMER_EMULATOR_PROPERTIES cudaDeviceProp
#define ISOMER_EMULATOR_ATTRIBUTES cudaDeviceAttr
#endif

#define ISOMER_EMULATOR_FROM_C(RESULT, NAME, PARAMETERS, ARGUMENTS) \
  ISOMER_EMULATOR_FROM_C_AS(RESULT, NAME, PARAMETERS, ARGUMENTS)
#define ISOMER_EMULATOR_FROM_C_AS(RESULT, NAME, PARAMETERS, ARGUMENTS) \
  extern "C" RESULT isomer_emulator_c_##NAME PARAMETERS { return NAME ARGUMENTS; }
#include "runtime_functions.inc"

#if defined(ISOMER_EMULATOR_C_BLAS)
#include "isomer_emulator/blas.h"
#endif
#if defined(ISOMER_EMULATOR_C_FFT)
#include "isomer_emulator/fft.h"
#endif
#if defined(ISOMER_EMULATOR_C_RANDOM)
#include "isomer_emulator/random_host.h"
#endif
#if defined(ISOMER_EMULATOR_C_DRIVER)
#include "isomer_emulator/driver.h"
#endif
#include "library_functions.inc"
