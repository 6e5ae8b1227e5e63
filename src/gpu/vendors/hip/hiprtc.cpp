#include "gpu/vendors/hip/hiprtc.hpp"

#include "core/sentence.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <mutex>
#include <string_view>

namespace isomer::gpu::hip {
namespace {

RuntimeCompiler open_compiler() {
  // Up to 5.2 it is a part of the runtime.
  const CompilerFiles found = compiler_files(
      "ISOMER_HIPRTC",
      {"libhiprtc.so", "libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "libamdhip64.so.5"},
      {"ROCM_PATH", "ROCM_HOME"}, {"/opt/rocm"}, "libhiprtc");
  RuntimeCompiler compiler({"hip", "hiprtc", "Code"}, found.files,
                           !found.chosen.empty()
                               ? core::say("ISOMER_HIPRTC names '", found.chosen,
                                           "', which cannot be opened; name hipRTC's file, or unset it")
                               : "hipRTC is not installed; install it with ROCm (Debian: libamdhip64-5 and "
                                 "libhiprtc-builtins5), or set ISOMER_HIPRTC to its file");
  // hiprtcVersion says 9.0 in HIP 5.2: the name of the file is what tells releases apart.
  compiler.call_it(core::say("hipRTC of ", compiler.library().file_name()));
  return compiler;
}

/// What hipRTC's code generator compiles for: "gfx90a", …; none where it does not say.
std::vector<std::string> architectures() {
  void* generator = nullptr;
  // The one that hipRTC has loaded, or would.
  for (const int how : {RTLD_NOW | RTLD_NOLOAD, RTLD_NOW})
    for (const char* name : {"libamd_comgr.so.3", "libamd_comgr.so.2"})
      if (generator == nullptr) generator = dlopen(name, how);
  if (generator == nullptr) return {};
  const auto count_of = reinterpret_cast<int (*)(std::size_t*)>(dlsym(generator, "amd_comgr_get_isa_count"));
  const auto name_of =
      reinterpret_cast<int (*)(std::size_t, const char**)>(dlsym(generator, "amd_comgr_get_isa_name"));
  std::size_t count = 0;
  std::vector<std::string> all;
  if (count_of == nullptr || name_of == nullptr || count_of(&count) != 0) return {};
  for (std::size_t i = 0; i < count; ++i) {
    const char* name = nullptr;  // "amdgcn-amd-amdhsa--gfx90a"
    if (name_of(i, &name) != 0 || name == nullptr) return {};
    const std::string_view whole = name;
    all.emplace_back(whole.substr(whole.rfind('-') + 1));
  }
  return all;
}

/// hipRTC of HIP 5.2 ends the process where it is asked for an architecture that it does not know.
void expect_known(const std::string& architecture) {
  static const auto* const known = new std::vector<std::string>(architectures());
  const std::string plain = architecture.substr(0, architecture.find(':'));
  if (known->empty() || std::find(known->begin(), known->end(), plain) != known->end()) return;
  core::fail(ErrorCode::unsupported, hiprtc().name(), " does not compile for ", plain,
             ", which is not among the ", known->size(),
             " architectures that it names; install a newer ROCm, or set ISOMER_HIPRTC to its hipRTC");
}

/// Lanes of a wavefront as clang takes them for an architecture where nothing else is asked for.
int lanes_of(std::string_view architecture) { return architecture.starts_with("gfx9") ? 64 : 32; }

/// The unsigned integer that MessagePack stores behind the key, or −1.
std::int64_t number_behind(std::string_view image, std::string_view key) {
  const std::string stored = std::string(1, static_cast<char>(0xa0 | key.size())) + std::string(key);
  std::size_t at = image.find(stored);
  if (at == std::string_view::npos) return -1;
  at += stored.size();
  const auto byte = [&](std::size_t i) -> std::int64_t {
    return i < image.size() ? static_cast<unsigned char>(image[i]) : 0;
  };
  const std::int64_t first = byte(at);
  if (first < 0x80) return first;
  if (first < 0xcc || first > 0xce) return -1;
  std::int64_t value = 0;
  for (std::size_t i = 1; i <= std::size_t{1} << (first - 0xcc); ++i) value = value << 8 | byte(at + i);
  return value;
}

}  // namespace

const RuntimeCompiler& hiprtc() {
  static const auto* const compiler = new RuntimeCompiler(open_compiler());
  return *compiler;
}

Image compile(const Translation& translation) {
  // hipRTC up to 5.2 at least ends the process where two threads compile at once.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  if (hiprtc().unavailable().empty()) expect_known(translation.architecture);
  std::string log;
  // clang would join a product and a sum of different statements into one rounding; the other vendors do not.
  Image image =
      hiprtc().compile(translation,
                       {"--offload-arch=" + translation.architecture, "-std=c++17", "-O3", "-ffp-contract=on",
                        core::say("-DISOMER_LANES=", lanes_of(translation.architecture))},
                       log);
  image.resources = code_object_resources(image.bytes);
  return image;
}

Resources code_object_resources(const std::vector<std::byte>& image) {
  const std::string_view bytes(reinterpret_cast<const char*>(image.data()), image.size());
  Resources resources;
  resources.registers = static_cast<int>(number_behind(bytes, ".vgpr_count"));
  resources.spill_bytes = number_behind(bytes, ".private_segment_fixed_size");
  resources.shared_bytes = number_behind(bytes, ".group_segment_fixed_size");
  return resources;
}

}  // namespace isomer::gpu::hip
