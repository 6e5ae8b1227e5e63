#include "lab/report/doctor.hpp"

#include <isomer/executor.hpp>

#include "cpu/target.hpp"
#include "lab/report/terminal.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace isomer::lab {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line))
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

bool cpu_flag(const std::string& flag) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with("flags")) continue;
    std::istringstream words(line);
    std::string word;
    while (words >> word)
      if (word == flag) return true;
    return false;
  }
  return false;
}

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  std::string folder;
  while (std::getline(folders, folder, ':')) {
    const auto file = std::filesystem::path(folder) / name;
    if (access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file)) return file.string();
  }
  return {};
}

/// Opens a library for a look; the name it was found by, or empty.
std::string find_library(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (void* handle = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
      dlclose(handle);
      return name;
    }
  return {};
}

/// Devices that the CUDA driver reports; −1 where it fails.
int cuda_devices(std::string& detail) {
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) return -1;
  const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  const auto count = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  const auto name = reinterpret_cast<int (*)(char*, int, int)>(dlsym(driver, "cuDeviceGetName"));
  const auto version = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDriverGetVersion"));
  int devices = 0, driver_version = 0;
  if (init == nullptr || count == nullptr || init(0) != 0 || count(&devices) != 0) {
    detail = "libcuda.so.1 is there, but the driver does not start";
    return -1;
  }
  if (version != nullptr) version(&driver_version);
  char text[128] = "";
  if (devices > 0 && name != nullptr) name(text, sizeof text, 0);
  detail = fmt::format("{} device{}{}{}, driver API {}.{}", devices, devices == 1 ? "" : "s",
                       devices > 0 ? ": " : "", text, driver_version / 1000, driver_version % 1000 / 10);
  return devices;
}

void add_cpu(std::vector<Finding>& list) {
  list.push_back({"CPU", "model", true,
                  fmt::format("{}, {} threads for Isomer", cpu_model(), Executor::standard()->concurrency()),
                  ""});
  for (int i = cpu::kTargets - 1; i >= 0; --i) {
    const auto target = static_cast<cpu::Target>(i);
    const std::string reason = cpu::why_not(target);
    list.push_back({"CPU", std::string(cpu::name_of(target)), reason.empty(), reason, ""});
  }
  list.push_back({"CPU", "amx", cpu_flag("amx_bf16"),
                  cpu_flag("amx_bf16") ? "bf16 and int8 tiles" : "this CPU has no AMX", ""});
}

void add_gpu(std::vector<Finding>& list) {
  std::string detail;
  const int cuda = cuda_devices(detail);
  list.push_back({"GPU", "CUDA driver", cuda > 0, detail.empty() ? "libcuda.so.1 not found" : detail,
                  cuda > 0 ? "" : "an NVIDIA GPU and its driver"});
  const std::string nvrtc = find_library({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"});
  list.push_back({"GPU", "NVRTC", !nvrtc.empty(), nvrtc.empty() ? "not found" : nvrtc,
                  nvrtc.empty() ? "pip install nvidia-cuda-nvrtc" : ""});
  const std::string hip =
      find_library({"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"});
  list.push_back({"GPU", "HIP runtime", !hip.empty(), hip.empty() ? "not found" : hip,
                  hip.empty() ? "an AMD GPU and ROCm" : ""});
  const std::string hiprtc =
      find_library({"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "libhiprtc.so"});
  list.push_back({"GPU", "hipRTC", !hiprtc.empty(), hiprtc.empty() ? "not found" : hiprtc,
                  hiprtc.empty() ? "ROCm" : ""});
}

void add_tools(std::vector<Finding>& list) {
  constexpr const char* tools[][2] = {
      {"g++", "apt-get install g++"},        {"clang++", "apt-get install clang"},
      {"nvcc", "the CUDA toolkit"},          {"hipcc", "apt-get install hipcc"},
      {"cmake", "apt-get install cmake"},    {"ninja", "apt-get install ninja-build"},
      {"python3", "apt-get install python3"}};
  for (const auto& [name, remedy] : tools) {
    const std::string path = find_program(name);
    list.push_back({"compilers and tools", name, !path.empty(), path.empty() ? "not found" : path,
                    path.empty() ? remedy : ""});
  }
}

}  // namespace

std::vector<Finding> examine() {
  std::vector<Finding> list;
  add_cpu(list);
  add_gpu(list);
  add_tools(list);
  return list;
}

std::string doctor_text(const std::vector<Finding>& findings) {
  std::string text, group;
  for (const Finding& finding : findings) {
    if (finding.group != group) text += (group.empty() ? "" : "\n") + Terminal::bold(finding.group) + "\n";
    group = finding.group;
    text += fmt::format("  {} {:<14} {}{}\n", finding.present ? Terminal::green("●") : Terminal::dim("○"),
                        finding.name, finding.detail,
                        finding.remedy.empty() ? "" : Terminal::dim("  → " + finding.remedy));
  }
  return text;
}

std::string doctor_json(const std::vector<Finding>& findings) {
  nlohmann::ordered_json json;
  json["version"] = 1;
  json["findings"] = nlohmann::ordered_json::array();
  for (const Finding& finding : findings)
    json["findings"].push_back({{"group", finding.group},
                                {"name", finding.name},
                                {"present", finding.present},
                                {"detail", finding.detail},
                                {"remedy", finding.remedy}});
  return json.dump(1) + "\n";
}

}  // namespace isomer::lab
