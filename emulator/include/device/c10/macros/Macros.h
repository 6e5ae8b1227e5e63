// What PyTorch's own header gives to device compilers alone.
#pragma once
// With these its headers ask for the toolkits' own.
#undef __CUDACC__
#undef __NVCC__
#undef __HIPCC__
#undef __HIP__
#include_next <c10/macros/Macros.h>

#ifndef C10_LAUNCH_BOUNDS_1
#define C10_LAUNCH_BOUNDS_0 __launch_bounds__(256, 4)
#define C10_LAUNCH_BOUNDS_1(THREADS) __launch_bounds__((THREADS))
#define C10_LAUNCH_BOUNDS_2(THREADS, BLOCKS) __launch_bounds__((THREADS), (BLOCKS))
#endif
#if defined(ISOMER_EMULATOR_HIP)
#undef C10_WARP_SIZE
#define C10_WARP_SIZE warpSize
#endif
