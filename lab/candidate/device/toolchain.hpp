#pragma once

#include "lab/candidate/candidate.hpp"

#include <isomer/emulator/module.hpp>

namespace isomer::lab {

/// Fills in how a source is compiled for a real device: the vendor's compiler (ISOMER_NVCC or ISOMER_HIPCC,
/// else in CUDA_HOME or ROCM_PATH, else by PATH, else where the toolkits install themselves) and, for a
/// PyTorch extension, the user's own PyTorch (ISOMER_TORCH, else the one that python3 imports). Throws Error
/// unsupported, one sentence, for what is missing here.
void choose_toolchain(const std::filesystem::path& source, const BuildSettings& settings,
                      emulator::BuildOptions& options);

}  // namespace isomer::lab
