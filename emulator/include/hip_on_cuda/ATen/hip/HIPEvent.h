#pragma once
#include <ATen/cuda/CUDAEvent.h>

#include "../../c10/hip/HIPStream.h"

namespace at::cuda {
using HIPEvent = CUDAEvent;
}
