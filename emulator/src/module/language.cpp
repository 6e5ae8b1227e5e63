// Which language a source is written in.
#include "module/language.hpp"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string_view>

#include "module/compiler.hpp"

namespace isomer::emulator {

namespace {

namespace fs = std::filesystem;

/// The text of a source and of the headers beside it that it names in quotes.
std::string text_with_own_headers(const fs::path& source, std::set<fs::path>& seen) {
  constexpr std::string_view kInclude = "#include \"";
  std::string all = read_file(source);
  const std::string text = all;
  for (std::size_t at = 0; (at = text.find(kInclude, at)) != std::string::npos;) {
    at += kInclude.size();
    const fs::path header = source.parent_path() / text.substr(at, text.find('"', at) - at);
    std::error_code none;
    if (fs::is_regular_file(header, none) && seen.insert(header.lexically_normal()).second)
      all += text_with_own_headers(header, seen);
  }
  return all;
}

}  // namespace

bool is_hip(const std::vector<std::filesystem::path>& sources) {
  for (const std::filesystem::path& source : sources) {
    std::set<fs::path> seen;
    const std::string text = text_with_own_headers(source, seen);
    const auto has = [&](std::initializer_list<const char*> marks) {
      return std::any_of(marks.begin(), marks.end(),
                         [&](const char* mark) { return text.find(mark) != std::string::npos; });
    };
    if (has({"hip/hip_", "<ATen/hip/", "<c10/hip/", "hipLaunchKernelGGL", "<hipcub/", "<hipblas", "<hiprand",
             "<hipfft", "<hipsparse", "<hipsolver", "<rocprim/", "<rocblas", "<rocsparse", "<rocrand",
             "<rocsolver"}))
      return true;
    // Folders name every candidate .hip.cpp; what includes CUDA's headers alone is CUDA.
    const bool cuda = has({"cuda_runtime", "<ATen/cuda/", "<c10/cuda/", "<cuda_fp16.h>", "<cuda_bf16.h>"});
    if (!cuda && source.filename().string().find(".hip") != std::string::npos) return true;
  }
  return false;
}

bool has_kernels(const std::filesystem::path& source) {
  const std::string text = read_file(source);
  return text.find("__global__") != std::string::npos || text.find("<<<") != std::string::npos;
}

bool may_be_c(const std::filesystem::path& source) {
  return source.extension() == ".c" && !has_kernels(source) &&
         read_file(source).find("namespace ") == std::string::npos;
}

bool names_runtime(const std::filesystem::path& source) {
  const std::string text = read_file(source);
  for (const char* mark :
       {"<cuda", "\"cuda", "cudaMalloc", "cudaMemcpy", "<cu", "<hip", "\"hip", "hipMalloc"})
    if (text.find(mark) != std::string::npos) return true;
  return false;
}

std::string at_least_17(const std::string& standard) {
  const std::string year = standard.substr(std::min(standard.size(), standard.find("++") + 2));
  for (const char* older : {"98", "03", "0x", "11", "1y", "14"})
    if (year == older) return "gnu++17";
  return standard;
}

}  // namespace isomer::emulator
