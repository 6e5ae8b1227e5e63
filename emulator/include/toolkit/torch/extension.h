#pragma once
#include <torch/all.h>

// As in PyTorch, whose headers name it so.
namespace py = pybind11;
