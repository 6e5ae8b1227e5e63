#include "lab/report/doctor.hpp"

#include <isomer/executor.hpp>

#include "cpu/target.hpp"
#include "gpu/binary_folder.hpp"
#include "gpu/vendors.hpp"
#include "gpu/vendors/hip/hipcc.hpp"
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

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  std::string folder;
  while (std::getline(folders, folder, ':')) {
    const auto file = std::filesystem::path(folder) / name;
    std::error_code none;
    if (access(file.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(file, none)) return file.string();
  }
  return {};
}

/// The file that a library of that name was loaded from; empty where none was.
std::string loaded_file(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line))
    if (const std::size_t at = line.find('/'); at != std::string::npos)
      if (std::filesystem::path(line.substr(at)).filename().string().starts_with(name + ".so"))
        return line.substr(at);
  return {};
}

/// A function of a library that is loaded already; null where it is not.
template <class Function>
Function* loaded_function(const std::string& file, const char* name) {
  void* handle = file.empty() ? nullptr : dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  return handle == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(handle, name));
}

/// "13.0 in /usr/lib/libnvrtc.so.13"
std::string nvrtc_found() {
  const std::string file = loaded_file("libnvrtc");
  int major = 0, minor = 0;
  if (auto* version = loaded_function<int(int*, int*)>(file, "nvrtcVersion")) version(&major, &minor);
  return fmt::format("{}.{} in {}", major, minor, file);
}

/// Old releases have it in the runtime. Its own version says nothing: 9.0 in HIP 5.2.
std::string hiprtc_found() {
  const std::string file = loaded_file("libhiprtc");
  return "in " + (file.empty() ? loaded_file("libamdhip64") : file);
}

std::string devices_of(gpu::Vendor& vendor) {
  const int devices = vendor.devices();
  std::string text = fmt::format("{} device{}", devices, devices == 1 ? "" : "s");
  if (devices > 0) text += fmt::format(": {}, {}", vendor.facts(0).name, vendor.facts(0).architecture);
  return text;
}

void add_cpu(std::vector<Examined>& list) {
  list.push_back({"CPU", "model", true,
                  fmt::format("{}, {} threads for Isomer", cpu_model(), Executor::standard()->concurrency()),
                  ""});
  for (int i = cpu::kTargets - 1; i >= 0; --i) {
    const auto target = static_cast<cpu::Target>(i);
    const std::string& reason = cpu::why_not(target);
    const std::string what = target == cpu::Target::amx ? "bf16 and int8 tiles" : "";
    list.push_back(
        {"CPU", std::string(cpu::name_of(target)), reason.empty(), reason.empty() ? what : reason, ""});
  }
}

void add_nvidia(std::vector<Examined>& list) {
  gpu::Vendor& cuda = *gpu::find_vendor(DeviceType::cuda);
  const std::string driver = cuda.unavailable(), file = loaded_file("libcuda");
  int number = 0;
  if (auto* version = loaded_function<int(int*)>(file, "cuDriverGetVersion")) version(&number);
  std::string detail = driver.empty() ? devices_of(cuda) : driver;
  if (number > 0) detail = fmt::format("CUDA {}.{}; {}", number / 1000, number % 1000 / 10, detail);
  list.push_back({"NVIDIA", "driver", driver.empty(), detail,
                  file.empty() ? "apt-get install nvidia-driver, on a machine with an NVIDIA GPU" : ""});
  const bool compiler = cuda.compiler_unavailable().empty();
  list.push_back({"NVIDIA", "NVRTC", compiler, compiler ? nvrtc_found() : cuda.compiler_unavailable(),
                  compiler ? "" : "pip install nvidia-cuda-nvrtc"});
}

void add_amd(std::vector<Examined>& list) {
  gpu::Vendor& hip = *gpu::find_vendor(DeviceType::hip);
  const std::string runtime = hip.unavailable(), file = loaded_file("libamdhip64");
  std::string detail = runtime.empty() ? devices_of(hip) : runtime;
  if (!file.empty()) detail += " in " + file;
  list.push_back({"AMD", "HIP runtime", runtime.empty(), detail,
                  file.empty() ? "apt-get install libamdhip64-5, on a machine with an AMD GPU" : ""});
  const bool compiler = hip.compiler_unavailable().empty();
  list.push_back({"AMD", "hipRTC", compiler, compiler ? hiprtc_found() : hip.compiler_unavailable(),
                  compiler ? "" : "apt-get install libamdhip64-5 libhiprtc-builtins5"});
  const std::string hipcc = gpu::hip::Hipcc::get().unavailable();
  list.push_back({"AMD", "hipcc", hipcc.empty(),
                  hipcc.empty() ? gpu::hip::Hipcc::get().program() + ", for isomer prebuild" : hipcc,
                  hipcc.empty() ? "" : "apt-get install hipcc"});
}

/// A folder of compiled programs, and what lies in it.
void add_folder(std::vector<Examined>& list, const char* name, const std::optional<gpu::BinaryFolder>& folder,
                bool written, const char* remedy) {
  if (!folder) {
    list.push_back({"compiled kernels", name, false, "not set", remedy});
    return;
  }
  int programs = 0;
  std::uintmax_t bytes = 0;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder->path(), none)) {
    if (entry.path().extension() != ".isomer") continue;
    const std::uintmax_t size = entry.file_size(none);
    if (none) continue;  // another process has removed it
    ++programs;
    bytes += size;
  }
  std::string detail = fmt::format("{}, {} programs, {:.1f} MB", folder->path().string(), programs,
                                   static_cast<double>(bytes) / 1e6);
  const std::string closed = written ? folder->closed() : "";
  if (!closed.empty()) detail += ", but compiled kernels cannot be stored there: " + closed;
  list.push_back(
      {"compiled kernels", name, closed.empty(), detail,
       closed.empty() ? "" : "make room there, or set ISOMER_CACHE to a folder that can be written"});
}

void add_gpu(std::vector<Examined>& list) {
  add_nvidia(list);
  add_amd(list);
  add_folder(list, "cache", gpu::cache_folder(), true, "set ISOMER_CACHE or HOME");
  add_folder(list, "bundle", gpu::bundle_folder(), false,
             "isomer prebuild makes one; set ISOMER_BUNDLE to its folder");
}

void add_tools(std::vector<Examined>& list) {
  constexpr const char* tools[][2] = {{"g++", "apt-get install g++"},
                                      {"clang++", "apt-get install clang"},
                                      {"nvcc", "the CUDA toolkit"},
                                      {"cmake", "apt-get install cmake"},
                                      {"ninja", "apt-get install ninja-build"},
                                      {"python3", "apt-get install python3"}};
  for (const auto& [name, remedy] : tools) {
    const std::string path = find_program(name);
    list.push_back({"compilers and tools", name, !path.empty(), path.empty() ? "not found" : path,
                    path.empty() ? remedy : ""});
  }
}

}  // namespace

std::vector<Examined> examine() {
  std::vector<Examined> list;
  add_cpu(list);
  add_gpu(list);
  add_tools(list);
  return list;
}

std::string doctor_text(const std::vector<Examined>& findings) {
  std::string text, group;
  for (const Examined& finding : findings) {
    if (finding.group != group) text += (group.empty() ? "" : "\n") + Terminal::bold(finding.group) + "\n";
    group = finding.group;
    text += fmt::format("  {} {:<14} {}{}\n", finding.present ? Terminal::green("●") : Terminal::dim("○"),
                        finding.name, finding.detail,
                        finding.remedy.empty() ? "" : Terminal::dim("  → " + finding.remedy));
  }
  return text;
}

std::string doctor_json(const std::vector<Examined>& findings) {
  nlohmann::ordered_json json;
  json["version"] = 1;
  json["findings"] = nlohmann::ordered_json::array();
  for (const Examined& finding : findings)
    json["findings"].push_back({{"group", finding.group},
                                {"name", finding.name},
                                {"present", finding.present},
                                {"detail", finding.detail},
                                {"remedy", finding.remedy}});
  return json.dump(1) + "\n";
}

}  // namespace isomer::lab
