#pragma once
// PyTorch's own asks for Python.h; what it gives to extensions is there.
#include <torch/python.h>
