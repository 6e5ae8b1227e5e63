// As in the toolkit, whose header brings thrust::device with it.
#pragma once
#include_next <thrust/extrema.h>

#include <thrust/execution_policy.h>
