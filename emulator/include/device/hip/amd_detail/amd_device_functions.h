#pragma once

#include "hip/device_functions.h"
