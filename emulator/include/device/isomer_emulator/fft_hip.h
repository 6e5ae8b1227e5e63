// hipFFT's names.
#pragma once

#include "fft.h"
#include "hip_runtime.h"

typedef cufftHandle hipfftHandle;
typedef cufftResult hipfftResult;
typedef cufftResult hipfftResult_t;
typedef cufftType hipfftType;
typedef cufftType hipfftType_t;
typedef cufftReal hipfftReal;
typedef cufftDoubleReal hipfftDoubleReal;
typedef cufftComplex hipfftComplex;
typedef cufftDoubleComplex hipfftDoubleComplex;
#define HIPFFT_SUCCESS CUFFT_SUCCESS
#define HIPFFT_INVALID_PLAN CUFFT_INVALID_PLAN
#define HIPFFT_ALLOC_FAILED CUFFT_ALLOC_FAILED
#define HIPFFT_INVALID_TYPE CUFFT_INVALID_TYPE
#define HIPFFT_INVALID_VALUE CUFFT_INVALID_VALUE
#define HIPFFT_INTERNAL_ERROR CUFFT_INTERNAL_ERROR
#define HIPFFT_EXEC_FAILED CUFFT_EXEC_FAILED
#define HIPFFT_SETUP_FAILED CUFFT_SETUP_FAILED
#define HIPFFT_INVALID_SIZE CUFFT_INVALID_SIZE
#define HIPFFT_C2C CUFFT_C2C
#define HIPFFT_R2C CUFFT_R2C
#define HIPFFT_C2R CUFFT_C2R
#define HIPFFT_Z2Z CUFFT_Z2Z
#define HIPFFT_D2Z CUFFT_D2Z
#define HIPFFT_Z2D CUFFT_Z2D
#define HIPFFT_FORWARD CUFFT_FORWARD
#define HIPFFT_BACKWARD CUFFT_INVERSE
#define hipfftCreate cufftCreate
#define hipfftDestroy cufftDestroy
#define hipfftPlan1d cufftPlan1d
#define hipfftPlan2d cufftPlan2d
#define hipfftPlan3d cufftPlan3d
#define hipfftPlanMany cufftPlanMany
#define hipfftMakePlan1d cufftMakePlan1d
#define hipfftMakePlan2d cufftMakePlan2d
#define hipfftMakePlan3d cufftMakePlan3d
#define hipfftMakePlanMany cufftMakePlanMany
#define hipfftSetStream cufftSetStream
#define hipfftSetWorkArea cufftSetWorkArea
#define hipfftSetAutoAllocation cufftSetAutoAllocation
#define hipfftGetVersion cufftGetVersion
#define hipfftGetSize cufftGetSize
#define hipfftExecC2C cufftExecC2C
#define hipfftExecZ2Z cufftExecZ2Z
#define hipfftExecR2C cufftExecR2C
#define hipfftExecD2Z cufftExecD2Z
#define hipfftExecC2R cufftExecC2R
#define hipfftExecZ2D cufftExecZ2D
