#include "gpu/vendors/cuda/nvrtc.hpp"

#include "core/sentence.hpp"
#include "gpu/shared_object.hpp"
#include "gpu/sources.hpp"
#include "gpu/vendors/compiler_log.hpp"

#include <charconv>

namespace isomer::gpu::cuda {

Nvrtc::Nvrtc() {
  std::vector<std::string> names =
      library_files("ISOMER_NVRTC", {"CUDA_HOME", "CUDA_PATH"}, {"/usr/local/cuda"}, "libnvrtc");
  // What the user names comes before the loader's own.
  const auto loader =
      names.empty() || std::getenv("ISOMER_NVRTC") == nullptr ? names.begin() : names.begin() + 1;
  names.insert(loader, {"libnvrtc.so.13", "libnvrtc.so.12"});
  const SharedObject library(names);
  if (!library.open()) {
    unavailable_ =
        "NVRTC is not installed; install it with `pip install nvidia-cuda-nvrtc` or with the CUDA toolkit, "
        "or set "
        "ISOMER_NVRTC to its file";
    return;
  }
  const auto resolve = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(library.symbol(symbol));
    if (function == nullptr && unavailable_.empty())
      unavailable_ = core::say("'", library.name(), "' has no ", symbol, ": NVRTC 12.0 or later is needed");
  };
  resolve(version_, "nvrtcVersion");
  resolve(create_, "nvrtcCreateProgram");
  resolve(destroy_, "nvrtcDestroyProgram");
  resolve(compile_, "nvrtcCompileProgram");
  resolve(log_size_, "nvrtcGetProgramLogSize");
  resolve(log_, "nvrtcGetProgramLog");
  resolve(image_size_, "nvrtcGetCUBINSize");
  resolve(image_, "nvrtcGetCUBIN");
  resolve(error_, "nvrtcGetErrorString");
  if (!unavailable_.empty()) return;
  int major = 0, minor = 0;
  version_(&major, &minor);
  name_ = core::say("NVRTC ", major, ".", minor);
  if (major < 12)
    unavailable_ = core::say("'", library.name(), "' is ", name_, ", and 12.0 or later is needed");
}

const Nvrtc& Nvrtc::get() {
  static const Nvrtc* const nvrtc = new Nvrtc;
  return *nvrtc;
}

Image Nvrtc::compile(const Translation& translation) const {
  std::vector<const char*> texts, paths;
  std::vector<std::string> keep;
  keep.reserve(64);
  const std::string main(find_source(translation.source)->text);
  for (const Source* source : included_by(translation.source)) {
    if (source->path == translation.source) continue;
    keep.emplace_back(source->text);
    texts.push_back(keep.back().c_str());
    keep.emplace_back(source->path);
    paths.push_back(keep.back().c_str());
  }
  std::vector<std::string> options = {"--gpu-architecture=" + translation.architecture, "-std=c++17",
                                      "-default-device", "--ptxas-options=-v"};
  for (const std::string& definition : translation.definitions) options.push_back("-D" + definition);
  std::vector<const char*> words;
  for (const std::string& option : options) words.push_back(option.c_str());

  Program program = nullptr;
  const std::string what = core::say("cuda: compiling ", translation.source);
  const auto must = [&](int result) {
    if (result == 0) return;
    destroy_(&program);
    core::fail(ErrorCode::internal, what, ": ", error_(result));
  };
  must(create_(&program, main.c_str(), translation.source.c_str(), static_cast<int>(texts.size()),
               texts.data(), paths.data()));
  const int result = compile_(program, static_cast<int>(words.size()), words.data());
  std::size_t size = 0;
  must(log_size_(program, &size));
  std::string log(size, '\0');
  must(log_(program, log.data()));
  if (result != 0) {
    std::string variant;
    for (const std::string& definition : translation.definitions) variant += " " + definition;
    destroy_(&program);
    core::fail(ErrorCode::internal, what, " for ", translation.architecture, " with", variant, " by ", name_,
               ": ", first_complaint(log, error_(result)));
  }
  Image image;
  must(image_size_(program, &size));
  image.bytes.resize(size);
  must(image_(program, reinterpret_cast<char*>(image.bytes.data())));
  image.compiler = name_;
  image.resources = ptxas_resources(log);
  destroy_(&program);
  return image;
}

}  // namespace isomer::gpu::cuda
