#pragma once

#include "hip/math_functions.h"
