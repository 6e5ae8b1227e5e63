#include "module/paths.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "isomer/emulator/error.hpp"

namespace isomer::emulator {
namespace {

namespace fs = std::filesystem;

fs::path first_existing(std::initializer_list<fs::path> candidates, const char* what) {
  for (const fs::path& p : candidates) {
    if (!p.empty() && fs::exists(p)) return p;
  }
  throw MachineError(std::string("the emulator's ") + what + " are missing beside " + own_library().string());
}

/// A folder for temporary files may be everybody's, and what lies in the cache is loaded as code: of the
/// folder there nobody else may have made or changed anything.
fs::path private_folder() {
  std::error_code none;
  const fs::path temporary = fs::temp_directory_path(none);
  const fs::path folder = (none ? fs::path("/tmp") : temporary) / ("isomer-" + std::to_string(geteuid()));
  struct stat found {};
  const bool there = mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST;
  if (!there || lstat(folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != geteuid() ||
      (found.st_mode & 077) != 0)
    throw MachineError("there is no cache directory: HOME is not set, and " + folder.string() +
                       " is no folder of this user's alone; set ISOMER_CACHE to one that can be written");
  return folder;
}

}  // namespace

fs::path own_library() {
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&own_library), &info);
  return fs::canonical(info.dli_fname);
}

std::vector<fs::path> folders_of_libraries() {
  std::vector<fs::path> folders;
  const auto add = [](dl_phdr_info* info, std::size_t, void* into) {
    auto& list = *static_cast<std::vector<fs::path>*>(into);
    const fs::path folder = fs::path(info->dlpi_name).parent_path();
    const std::string text = folder.string() + "/";
    if (folder.is_absolute() && !text.starts_with("/usr/") && !text.starts_with("/lib") &&
        std::find(list.begin(), list.end(), folder) == list.end())
      list.push_back(folder);
    return 0;
  };
  dl_iterate_phdr(add, &folders);
  return folders;
}

fs::path device_headers() {
  return first_existing({own_library().parent_path().parent_path() / "share/isomer/emulator/device",
                         ISOMER_EMULATOR_SOURCE_HEADERS},
                        "device headers");
}

bool is_toolkit(const fs::path& folder) {
  std::error_code none;
  return (fs::exists(folder / "cuda_runtime_api.h", none) && fs::exists(folder / "crt", none)) ||
         fs::exists(folder / "hip/amd_detail", none);
}

fs::path c_headers() { return device_headers().parent_path() / "c"; }
fs::path toolkit_headers() { return device_headers().parent_path() / "toolkit"; }
fs::path hip_on_cuda_headers() { return device_headers().parent_path() / "hip_on_cuda"; }

fs::path runner_program() {
  return first_existing({own_library().parent_path() / "isomer-emulator-runner",
                         own_library().parent_path().parent_path() / "libexec/isomer/isomer-emulator-runner"},
                        "runner program");
}

fs::path cache_directory() {
  if (const char* chosen = std::getenv("ISOMER_CACHE"); chosen && *chosen)
    return fs::path(chosen) / "emulator";
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg) return fs::path(xdg) / "isomer/emulator";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache/isomer/emulator";
  return private_folder() / "emulator";
}

}  // namespace isomer::emulator
