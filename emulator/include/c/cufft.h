/* cuFFT for hosts in C. */
#ifndef ISOMER_EMULATOR_CUFFT_C_H
#define ISOMER_EMULATOR_CUFFT_C_H
#include "cuda_runtime.h"
#include "../device/isomer_emulator/fft_types.inc"
typedef cufftResult_t cufftResult;
typedef cufftType_t cufftType;
typedef int cufftHandle;
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef float2 cufftComplex;
typedef double2 cufftDoubleComplex;
#define CUFFT_FORWARD (-1)
#define CUFFT_INVERSE 1
#define ISOMER_EMULATOR_C_FFT 1
#include "isomer_emulator/library_c.inc"
#undef ISOMER_EMULATOR_C_FFT
#endif
