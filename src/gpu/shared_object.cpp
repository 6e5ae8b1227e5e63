#include "gpu/shared_object.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace isomer::gpu {
namespace {

namespace fs = std::filesystem;

/// The entries of a folder that begin with `prefix`, the latest version first.
std::vector<fs::path> entries(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code none;
  for (fs::directory_iterator at(folder, none), end; !none && at != end; at.increment(none))
    if (at->path().filename().string().starts_with(prefix)) found.push_back(at->path());
  std::sort(found.rbegin(), found.rend());
  return found;
}

/// site-packages of every python3 on the PATH, of the active environment and of the user.
std::vector<fs::path> python_packages() {
  std::vector<fs::path> prefixes;
  if (const char* environment = std::getenv("VIRTUAL_ENV")) prefixes.emplace_back(environment);
  if (const char* path = std::getenv("PATH")) {
    std::istringstream folders(path);
    std::error_code none;
    for (std::string folder; std::getline(folders, folder, ':');)
      if (const fs::path python = fs::path(folder) / "python3"; fs::exists(python, none)) {
        prefixes.push_back(fs::path(folder).parent_path());
        prefixes.push_back(fs::canonical(python, none).parent_path().parent_path());
      }
  }
  if (const char* home = std::getenv("HOME")) prefixes.push_back(fs::path(home) / ".local");
  prefixes.emplace_back("/usr/local");
  std::vector<fs::path> packages;
  for (const fs::path& prefix : prefixes)
    for (const fs::path& python : entries(prefix / "lib", "python3"))
      for (const char* name : {"site-packages", "dist-packages"}) packages.push_back(python / name);
  return packages;
}

}  // namespace

SharedObject::SharedObject(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      name_ = name;
      failure_.clear();
      return;
    }
    if (const char* reason = ::dlerror()) failure_ = reason;
  }
}

void* SharedObject::symbol(const char* name) const {
  return handle_ == nullptr ? nullptr : ::dlsym(handle_, name);
}

std::string SharedObject::file_name() const {
  link_map* map = nullptr;
  if (handle_ == nullptr || ::dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0) return name_;
  std::error_code none;
  const fs::path file = fs::canonical(map->l_name, none);
  return none ? name_ : file.filename().string();
}

CompilerFiles compiler_files(const char* variable, const std::vector<std::string>& names,
                             const std::vector<const char*>& homes, const std::vector<std::string>& roots,
                             const std::string& prefix) {
  CompilerFiles found;
  if (const char* file = std::getenv(variable); file != nullptr && *file != 0) {
    found.chosen = file;
    found.files = {file};
    return found;
  }
  found.files = names;
  const auto add = [&](const fs::path& folder) {
    for (const fs::path& file : entries(folder, prefix + ".so")) found.files.push_back(file.string());
  };
  std::vector<fs::path> places(roots.begin(), roots.end());
  for (const char* home : homes)
    if (const char* folder = std::getenv(home); folder != nullptr && *folder != 0)
      places.insert(places.begin(), folder);
  for (const fs::path& place : places)
    for (const char* lib : {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"})
      add(place / lib);
  for (const fs::path& packages : python_packages())
    for (const fs::path& package : entries(packages / "nvidia", "cu")) add(package / "lib");
  return found;
}

}  // namespace isomer::gpu
