// As in the toolkit, whose header brings thrust::device and more algorithms with it.
#pragma once
#include_next <thrust/reduce.h>

#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
