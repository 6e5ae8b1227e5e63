#include "lab/candidate/device/toolchain.hpp"

#include "gpu/vendors.hpp"
#include "lab/candidate/emulated/torch.hpp"
#include "lab/candidate/torch_of_python.hpp"

#include <isomer/error.hpp>

#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include <fmt/format.h>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool is_program(const fs::path& file) {
  std::error_code failed;
  return fs::is_regular_file(file, failed) && access(file.c_str(), X_OK) == 0;
}

/// A compiler and the variables that say where it is.
struct Compiler {
  const char* program;
  const char* chosen;
  std::vector<const char*> homes;
  const char* usual;
  const char* install;
};

fs::path find(const Compiler& compiler) {
  if (const std::string chosen = setting(compiler.chosen); !chosen.empty()) {
    if (is_program(chosen)) return fs::canonical(chosen);
    throw Error(ErrorCode::unsupported,
                fmt::format("{} is {}, which is not a program", compiler.chosen, chosen));
  }
  for (const char* home : compiler.homes)
    if (const std::string folder = setting(home);
        !folder.empty() && is_program(fs::path(folder) / "bin" / compiler.program))
      return fs::canonical(fs::path(folder) / "bin" / compiler.program);
  std::istringstream path(setting("PATH"));
  for (std::string folder; std::getline(path, folder, ':');)
    if (is_program(fs::path(folder) / compiler.program))
      return fs::canonical(fs::path(folder) / compiler.program);
  if (is_program(fs::path(compiler.usual) / compiler.program))
    return fs::canonical(fs::path(compiler.usual) / compiler.program);
  throw Error(ErrorCode::unsupported,
              fmt::format("there is no {} to compile candidates with: install {}, or name it in {}",
                          compiler.program, compiler.install, compiler.chosen));
}

const Compiler& compiler_of(Backend backend) {
  static const Compiler nvcc{
      "nvcc", "ISOMER_NVCC", {"CUDA_HOME", "CUDA_PATH"}, "/usr/local/cuda/bin", "the CUDA toolkit"};
  static const Compiler hipcc{
      "hipcc", "ISOMER_HIPCC", {"ROCM_PATH", "HIP_PATH"}, "/opt/rocm/bin", "ROCm's hipcc"};
  return backend == Backend::cuda ? nvcc : hipcc;
}

/// "sm_90a" of the device that is there; empty: the compiler finds out.
std::string architecture_of(Backend backend) {
  if (std::string chosen = setting(backend == Backend::cuda ? "ISOMER_CUDA_ARCH" : "ISOMER_HIP_ARCH");
      !chosen.empty())
    return chosen;
  gpu::Vendor* vendor = gpu::find_vendor(name_of(backend));
  return vendor != nullptr && vendor->unavailable().empty() ? vendor->facts(0).architecture : std::string();
}

}  // namespace

std::string device_missing(Backend backend) {
  if (backend == Backend::emulated) return {};
  gpu::Vendor* vendor = gpu::find_vendor(name_of(backend));
  if (vendor == nullptr) return fmt::format("this build does not support {} devices", name_of(backend));
  if (std::string why = vendor->unavailable(); !why.empty()) return why;
  try {
    find(compiler_of(backend));
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

void choose_toolchain(const fs::path& source, const BuildSettings& settings,
                      emulator::BuildOptions& options) {
  const bool cuda = settings.backend == Backend::cuda;
  options.target = cuda ? emulator::Target::cuda : emulator::Target::hip;
  options.device_compiler = find(compiler_of(settings.backend)).string();
  options.architecture = architecture_of(settings.backend);
  const SourceTraits traits = traits_of(source, settings.include_directories);
  if (!traits.torch) return;
  const std::string chosen = setting("ISOMER_TORCH");
  const fs::path folder = chosen.empty() ? torch_of_python() : fs::path(chosen);
  if (folder.empty())
    throw Error(ErrorCode::unsupported,
                "python3 cannot import PyTorch, against which extensions are compiled: install it, or set "
                "ISOMER_TORCH to the torch folder of another one");
  TorchFlags torch = torch_flags(folder);
  const fs::path libraries = torch.folder / "lib";
  const char* device = cuda ? "cuda" : "hip";
  if (!fs::exists(libraries / fmt::format("libtorch_{}.so", device)))
    throw Error(ErrorCode::unsupported,
                fmt::format("the PyTorch in {} has no {}: it cannot give tensors to candidates",
                            torch.folder.string(), cuda ? "CUDA" : "HIP"));
  options.entries_of_torch = true;
  options.standard = torch.standard;
  options.system_directories = torch.system_directories;
  options.definitions.insert(options.definitions.end(), torch.definitions.begin(), torch.definitions.end());
  if (!cuda) options.definitions.insert(options.definitions.end(), {"USE_ROCM=1", "__HIP_PLATFORM_AMD__=1"});
  if (traits.torch_all) options.definitions.emplace_back("ISOMER_EMULATOR_TORCH_ALL=1");
  // Nothing of the source names the half of PyTorch that knows the device; it registers itself when it is
  // loaded.
  options.link_flags.insert(
      options.link_flags.end(),
      {"-L" + libraries.string(), "-Wl,-rpath," + libraries.string(), "-Wl,--no-as-needed",
       fmt::format("-ltorch_{}", device), fmt::format("-lc10_{}", device), "-ltorch_cpu", "-ltorch", "-lc10",
       "-Wl,--as-needed"});
}

}  // namespace isomer::lab
