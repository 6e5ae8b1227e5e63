#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace isomer::lab {

/// What a source's text says about the headers it needs, its own quoted includes read as well.
struct SourceTraits {
  bool torch = false;      ///< includes ATen, c10 or torch
  bool torch_all = false;  ///< names the neural-network half of torch's headers
  bool concepts = false;   ///< declares some, as C++20 has them
};
SourceTraits traits_of(const std::filesystem::path& source,
                       const std::vector<std::string>& include_directories);

/// How a source is compiled against PyTorch's C++ headers: Debian's libtorch-dev, or the `torch` folder of
/// another PyTorch that ISOMER_TORCH names.
struct TorchFlags {
  std::filesystem::path folder;  ///< of the chosen PyTorch; empty for Debian's
  std::vector<std::string> system_directories, definitions, link_flags;
  std::string standard = "gnu++17";
  std::string version;  ///< "1.13.1", as far as the headers say
};
/// Throws Error unsupported, one sentence, where there are no such headers.
TorchFlags torch_flags();
/// The same for the PyTorch whose `torch` folder that is.
TorchFlags torch_flags(const std::filesystem::path& folder);

/// "of 2.1 or later (…)" where a compiler's complaint, or the header that it misses, is about what older
/// PyTorch headers do not have; empty otherwise.
std::string newer_torch_for(const std::string& complaint, const std::string& missing_header);

}  // namespace isomer::lab
