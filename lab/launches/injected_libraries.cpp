#include "lab/launches/injected_libraries.hpp"

#include "core/sentence.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_there(const fs::path& path) {
  std::error_code none;
  return fs::exists(path, none);
}

}  // namespace

std::string injected_library(const std::string& vendor) {
  const char* named = std::getenv(vendor == "hip"      ? "ISOMER_TRACE_HIP"
                                  : vendor == "driver" ? "ISOMER_TRACE_DRIVER"
                                                       : "ISOMER_TRACE_CUDA");
  if (named != nullptr) return is_there(named) ? fs::absolute(named).string() : "";
  std::error_code none;
  const fs::path here = fs::read_symlink("/proc/self/exe", none).parent_path();
  for (const char* folder :
       {"../lib", "../lib64", "../lib/x86_64-linux-gnu", "../lib/aarch64-linux-gnu", "."})
    if (const fs::path library = here / folder / ("libisomer_trace_" + vendor + ".so"); is_there(library))
      return fs::canonical(library, none).string();
  return {};
}

std::string rocprofiler_library() {
  if (const char* named = std::getenv("ISOMER_ROCPROFILER"); named != nullptr)
    return is_there(named) ? fs::absolute(named).string() : "";
  std::vector<std::string> folders;
  std::istringstream path(variable("LD_LIBRARY_PATH"));
  for (std::string folder; std::getline(path, folder, ':');)
    if (!folder.empty()) folders.push_back(folder);
  if (const std::string rocm = variable("ROCM_PATH"); !rocm.empty()) folders.push_back(rocm + "/lib");
  for (const char* folder :
       {"/opt/rocm/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"})
    folders.emplace_back(folder);
  for (const std::string& folder : folders)
    for (const char* name : {"librocprofiler-sdk.so.1", "librocprofiler-sdk.so"})
      if (const fs::path library = fs::path(folder) / name; is_there(library))
        return fs::absolute(library).string();
  return {};
}

std::string why_not_recorded(const std::string& vendor) {
  const bool hip = vendor == "hip";
  if (injected_library(vendor).empty())
    return hip ? "this build has no library for HIP programs (it needs rocprofiler-sdk's headers, ROCm's "
                 "rocprofiler-sdk-dev)"
               : "this build has no library for CUDA programs (it needs CUPTI's headers, CUDA's "
                 "cuda-cupti-dev)";
  if (hip && rocprofiler_library().empty())
    return "HIP programs are recorded through rocprofiler-sdk, and librocprofiler-sdk.so is not on this "
           "machine (ROCm's rocprofiler-sdk; ISOMER_ROCPROFILER names the file)";
  return {};
}

std::vector<std::string> traced_environment(const std::string& folder, bool by_driver_calls) {
  std::vector<std::pair<std::string, std::string>> ours = {{"ISOMER_TRACE", folder}};
  // Whatever else is there is another profiler's, which would take this one's place.
  ours.emplace_back("CUDA_INJECTION64_PATH", by_driver_calls ? "" : injected_library("cuda"));
  if (by_driver_calls) {
    const std::string library = injected_library("driver"), others = variable("LD_PRELOAD");
    if (library.empty()) core::fail(ErrorCode::unsupported, "trace: --driver: ", why_not_recorded("driver"));
    ours.back().second = variable("CUDA_INJECTION64_PATH");
    ours.emplace_back("LD_PRELOAD", others.empty() ? library : library + ":" + others);
  }
  if (why_not_recorded("hip").empty()) {
    const std::string others = variable("ROCP_TOOL_LIBRARIES");
    const std::string library = injected_library("hip");
    // Of several, the reader of 1.0 takes those that a colon follows.
    ours.emplace_back("ROCP_TOOL_LIBRARIES", others.empty() ? library : others + ":" + library + ":");
    ours.emplace_back("ROCPROFILER_REGISTER_FORCE_LOAD", "1");
    if (variable("ROCPROFILER_REGISTER_LIBRARY").empty())
      ours.emplace_back("ROCPROFILER_REGISTER_LIBRARY", rocprofiler_library());
  }
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    bool replaced = false;
    for (const auto& [name, value] : ours)
      replaced |= text.starts_with(name) && text.substr(name.size()).starts_with('=');
    if (!replaced) all.emplace_back(text);
  }
  for (const auto& [name, value] : ours)
    if (!value.empty()) all.push_back(name + "=" + value);
  return all;
}

}  // namespace isomer::lab
