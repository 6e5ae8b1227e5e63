// CUB's collectives of a block and of a warp. Those over the whole device (DeviceReduce …) are not here.
#pragma once

#include "cub_block.h"
#include "cub_load.h"
