// Everything of the language that both runtimes share.
#pragma once

#include "atomics.h"
#include "language.h"
#include "math.h"
#include "special_functions.h"
#include "warp.h"
