/* The driver's functions are there in C++ alone; hosts in C that include this call the runtime's. */
#include "cuda_runtime.h"
