#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace isomer::lab {

/// What a source's text says about the headers it needs, its own quoted includes read as well.
struct SourceTraits {
  bool torch = false;      ///< includes ATen, c10 or torch
  bool torch_all = false;  ///< names the neural-network half of torch's headers
  bool float8 = false;     ///< names PyTorch's 8-bit floats
};
SourceTraits traits_of(const std::filesystem::path& source,
                       const std::vector<std::string>& include_directories);

/// How a source is compiled against PyTorch's C++ headers: Debian's libtorch-dev, or the `torch` folder of
/// another PyTorch that ISOMER_TORCH names.
struct TorchFlags {
  std::filesystem::path folder;  ///< of the chosen PyTorch; empty for Debian's
  std::vector<std::string> system_directories, definitions, link_flags;
  std::string standard = "gnu++17";
  bool float8 = false;  ///< these headers have 8-bit floats: PyTorch 2.1 and later
};
/// Throws Error unsupported, one sentence, where there are no such headers.
TorchFlags torch_flags();
/// The same for the PyTorch whose `torch` folder that is.
TorchFlags torch_flags(const std::filesystem::path& folder);

}  // namespace isomer::lab
