#include "gpu/vendors/cuda/nvrtc.hpp"

#include "core/sentence.hpp"
#include "gpu/vendors/compiler_log.hpp"

namespace isomer::gpu::cuda {
namespace {

constexpr int kOldestCompiler = 12;

RuntimeCompiler open_compiler() {
  const CompilerFiles found = compiler_files("ISOMER_NVRTC", {"libnvrtc.so.13", "libnvrtc.so.12"},
                                             {"CUDA_HOME", "CUDA_PATH"}, {"/usr/local/cuda"}, "libnvrtc");
  RuntimeCompiler compiler(
      {"cuda", "nvrtc", "CUBIN"}, found.files,
      !found.chosen.empty()
          ? core::say("ISOMER_NVRTC names '", found.chosen,
                      "', which cannot be opened; name NVRTC's file, or unset it")
          : "NVRTC is not installed; install it with `pip install nvidia-cuda-nvrtc` or with the CUDA "
            "toolkit, "
            "or set ISOMER_NVRTC to its file");
  if (!compiler.unavailable().empty()) return compiler;
  const auto [major, minor] = compiler.version();
  compiler.call_it(core::say("NVRTC ", major, ".", minor));
  if (major < kOldestCompiler)
    compiler.refuse(core::say("'", compiler.library().name(), "' is ", compiler.name(), ", and ",
                              kOldestCompiler, ".0 or later is needed; update it"));
  return compiler;
}

}  // namespace

const RuntimeCompiler& nvrtc() {
  static const auto* const compiler = new RuntimeCompiler(open_compiler());
  return *compiler;
}

Image compile(const Translation& translation) {
  std::string log;
  Image image = nvrtc().compile(translation,
                                {"--gpu-architecture=" + translation.architecture, "-std=c++17",
                                 "-default-device", "--ptxas-options=-v"},
                                log);
  image.resources = ptxas_resources(log);
  return image;
}

}  // namespace isomer::gpu::cuda
