// Launches with events round them.
#pragma once
#include "../isomer_emulator/hip_runtime.h"

#define hipExtLaunchKernelGGL(KERNEL, GRID, BLOCK, SHARED, STREAM, START, STOP, FLAGS, ...) \
  do {                                                                                      \
    hipStream_t isomer_stream = (STREAM);                                                   \
    hipEvent_t isomer_start = (START), isomer_stop = (STOP);                                \
    (void)(FLAGS);                                                                          \
    if (isomer_start != nullptr) hipEventRecord(isomer_start, isomer_stream);               \
    hipLaunchKernelGGL(KERNEL, GRID, BLOCK, SHARED, isomer_stream, __VA_ARGS__);            \
    if (isomer_stop != nullptr) hipEventRecord(isomer_stop, isomer_stream);                 \
  } while (0)
