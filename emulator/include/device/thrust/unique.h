// As in the toolkit, whose header brings thrust::device with it.
#pragma once
#include_next <thrust/unique.h>

#include <thrust/execution_policy.h>
