// CUB's collectives of a block and of a warp, and the commonest of its algorithms of a whole device.
#pragma once

// As CUB's own types know them.
#include "bfloat16.h"
#include "cub_block.h"
#include "cub_device.h"
#include "cub_exchange.h"
#include "cub_host.h"
#include "cub_iterators.h"
#include "cub_load.h"
#include "cub_segments.h"
#include "cub_sort.h"
#include "cuda_atomic.h"
#include "fp8.h"
#include "half.h"
