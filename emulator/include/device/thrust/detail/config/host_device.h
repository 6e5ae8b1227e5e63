// In place of Thrust's own, which makes __host__ and __device__ nothing: the rewriter reads them in the source.
#pragma once
#include <thrust/detail/config.h>
