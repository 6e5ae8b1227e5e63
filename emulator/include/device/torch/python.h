#pragma once
#include <torch/all.h>

namespace py = pybind11;
