#pragma once

#include <rocprofiler-sdk/rocprofiler.h>
