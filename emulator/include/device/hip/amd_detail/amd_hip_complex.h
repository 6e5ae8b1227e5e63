#pragma once

#include "hip/hip_complex.h"
