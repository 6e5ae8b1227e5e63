#include "lab/judge/emulated/not_built.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace isomer::lab {
namespace {

bool says(const BuildFailure& failure, const char* words) {
  return failure.message.find(words) != std::string::npos;
}

std::string fix_of(const BuildFailure& failure, const std::string& source) {
  if (!failure.missing_header.empty())
    return fmt::format(
        "install the package that has {}, name its folder in case.toml (include_directories), or do not "
        "include it",
        failure.missing_header);
  if (says(failure, "nowhere defined") || says(failure, "undefined symbol"))
    return source.empty() ? "link the code that defines it into the library"
                          : "define it in this file, which alone is compiled";
  if (says(failure, "cannot be loaded")) return "build the library again, for this machine";
  if (says(failure, "conflicting declaration of C function"))
    return "give it another name, or leave extern \"C\" off: the C library has a function of this name";
  const bool extension =
      source.find("ATen/") != std::string::npos || source.find("torch/") != std::string::npos;
  constexpr const char* kOfTorch[] = {"at::", "c10::", "torch", "AT_", "TORCH_", "C10_"};
  if (extension && std::any_of(std::begin(kOfTorch), std::end(kOfTorch),
                               [&](const char* each) { return says(failure, each); }))
    return "mend what the compiler complains of; where a newer PyTorch has it, name that one's torch folder "
           "in "
           "ISOMER_TORCH";
  return "mend what the compiler complains of";
}

/// A header that comes with CUDA, ROCm or what is installed beside them: that it is missing is this machine's
/// lack, not the candidate's.
bool is_of_toolkit(const std::string& header) {
  constexpr const char* kFolders[] = {"cuda/", "cub/",     "thrust/",  "nv/",      "cooperative_groups/",
                                      "hip/",  "rocprim/", "hipcub/",  "rocwmma/", "cutlass/",
                                      "cute/", "ck/",      "ck_tile/", "nvtx3/",   "crt/",
                                      "cuda_", "cublas",   "cudnn",    "curand",   "cusparse",
                                      "nccl",  "rocblas/", "hipblas/", "rccl/"};
  return std::any_of(std::begin(kFolders), std::end(kFolders),
                     [&](const char* each) { return header.starts_with(each); });
}

}  // namespace

bool lacks_on_device(const BuildFailure& failure) {
  return says(failure, "is not on the emulated device") || says(failure, "cannot be emulated") ||
         is_of_toolkit(failure.missing_header);
}

Finding not_built(const BuildFailure& failure, const std::string& source) {
  Finding finding;
  finding.code = Code::does_not_compile;
  finding.argument = failure.missing_header;
  finding.evidence = failure.message;
  finding.location = failure.place;
  finding.fix = fix_of(failure, source);
  // It compiles; what its static objects and its module's initialisation do when it is loaded is its own.
  if (says(failure, "a static constructor") || says(failure, "initialisation threw")) {
    finding.code = says(failure, "does not end") ? Code::timeout : Code::crash;
    finding.fix = "leave to the first call what is done when the module is loaded";
  }
  return finding;
}

}  // namespace isomer::lab
