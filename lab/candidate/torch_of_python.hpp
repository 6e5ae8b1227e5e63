#pragma once

#include <filesystem>

namespace isomer::lab {

/// The folder of the PyTorch that python3 would import, asked once; empty where it has none.
std::filesystem::path torch_of_python();

}  // namespace isomer::lab
