// <cmath> as nvcc gives it to every source. Its special functions of C++17 take most of its time to compile:
// a source that names none of them (source/special_functions.cpp looks) does without.
#pragma once

#include <cstddef>

#if defined(__GLIBCXX__) && defined(_GLIBCXX_USE_STD_SPEC_FUNCS) && \
    !defined(ISOMER_EMULATOR_SPECIAL_FUNCTIONS)
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
// What else comes with them: std::min, std::max, std::swap, std::fill.
#include <bits/stl_algobase.h>

#include <cmath>
#include <limits>
#define _GLIBCXX_USE_STD_SPEC_FUNCS 1
#else
#include <cmath>
#endif
