// Everything that a portable kernel needs: one source for NVIDIA, AMD and the emulator. No toolkit header.
#pragma once

#include "gpu/device/numeric.cuh"
#include "gpu/device/platform.cuh"
#include "gpu/device/reduce.cuh"
#include "gpu/device/types.h"
#include "gpu/device/vector.cuh"
