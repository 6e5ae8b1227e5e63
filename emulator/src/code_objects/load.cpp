// Modules that a program loads by itself: from what it has compiled, or from a file that a build would have made of
// a source beside it.
#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "code_objects/code_object.hpp"
#include "isomer_emulator/code_objects.h"
#include "memory/module_images.hpp"
#include "module/compiler.hpp"
#include "module/language.hpp"
#include "runtime/errors.hpp"
#include "runtime/kernels.hpp"
#include "runtime/settings.hpp"

namespace isomer::emulator {
namespace {

namespace fs = std::filesystem;

/// Of files that builds write machine code to.
constexpr const char* kEndings[] = {".cubin", ".fatbin", ".ptx", ".hsaco", ".co", ".code", ".hipfb"};

std::mutex loaded_mutex;
std::set<void*> loaded;               // modules that are loaded now
std::set<fs::path> libraries_loaded;  // each at some time

/// A copy of its own for each further module of one library: its variables are its own.
std::string another_copy(const fs::path& library) {
  const int file = memfd_create("isomer-module", MFD_CLOEXEC);
  const std::string bytes = read_file(library);
  if (file < 0 || write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
    throw MachineError("no memory for another copy of a module");
  return fmt::format("/proc/{}/fd/{}", getpid(), file);
}

int load(void** module, const fs::path& library) {
  std::string path = library.string();
  {
    std::lock_guard lock(loaded_mutex);
    if (!libraries_loaded.insert(library).second) path = another_copy(library);
  }
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return refuse(error::invalid_image, fmt::format("the module cannot be loaded: {}", dlerror()));
  std::lock_guard lock(loaded_mutex);
  loaded.insert(handle);
  *module = handle;
  return error::success;
}

/// `kernels.cubin` and `kernels64.fatbin` are what a build makes of a `kernels.cu`.
fs::path source_for(const fs::path& object) {
  std::vector<fs::path> folders = {fs::absolute(object).parent_path(), fs::current_path()};
  folders.insert(folders.end(), settings().built_from.folders.begin(), settings().built_from.folders.end());
  const std::string file = object.filename().string();
  const std::string stem = file.substr(0, file.find('.'));
  std::string shorter = stem;
  while (!shorter.empty() && std::isdigit(static_cast<unsigned char>(shorter.back()))) shorter.pop_back();
  for (const fs::path& folder : folders)
    for (const std::string& name : {stem, shorter})
      for (const char* ending : {".cu", ".hip", ".hip.cpp", ".cpp", ".cc", ".cxx"}) {
        const fs::path source = folder / (name + ending);
        std::error_code none;
        if (!name.empty() && fs::is_regular_file(source, none) && has_kernels(source)) return source;
      }
  return {};
}

/// Of a mangled name what the source calls it: `_Z5scaleIfEvPT_i` is `scale<float>`.
std::string as_written(const char* name) {
  int status = -1;
  char* const text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string plain = status == 0 ? text : name;
  std::free(text);
  if (status != 0) return plain;
  // The parameters' parenthesis is the last that stands in no template's arguments; a result's type in front
  // of the name ends with a blank.
  int depth = 0;
  std::size_t begin = 0, end = plain.size();
  for (std::size_t i = 0; i < plain.size() && end == plain.size(); ++i) {
    depth += plain[i] == '<' ? 1 : plain[i] == '>' ? -1 : 0;
    if (depth == 0 && plain[i] == ' ') begin = i + 1;
    if (depth == 0 && plain[i] == '(') end = i;
  }
  return plain.substr(begin, end - begin);
}

const void* image_of(void* module) {
  link_map* map = nullptr;
  return dlinfo(module, RTLD_DI_LINKMAP, &map) == 0 ? reinterpret_cast<const void*>(map->l_addr) : nullptr;
}

/// What a program gives where the emulator wants a code object of its own. `bytes`: 0 where it is not known.
std::string kind_of(const void* image, std::size_t bytes) {
  if (image == nullptr) return "no code object";
  const auto* const text = static_cast<const char*>(image);
  constexpr std::uint32_t kFatBinary = 0xba55ed50, kElf = 0x464c457f;
  std::uint32_t magic = 0;
  if (bytes == 0 || bytes >= sizeof magic) std::memcpy(&magic, text, strnlen(text, sizeof magic));
  if (magic == kElf) return "machine code of a device";
  if (magic == kFatBinary) return "a fat binary of devices";
  constexpr std::size_t kBeginning = 1 << 16;
  const std::string_view beginning(text, strnlen(text, bytes == 0 ? kBeginning : std::min(bytes, kBeginning)));
  if (beginning.find(".version") != beginning.npos) {
    constexpr std::string_view kTarget = ".target ";
    const std::size_t at = beginning.find(kTarget);
    if (at != beginning.npos) {
      const std::string_view target = beginning.substr(at + kTarget.size());
      return fmt::format("PTX text for {}", target.substr(0, target.find_first_of(", \r\n\t")));
    }
  }
  return "a code object of a real device";
}

int refuse_image(const void* image, std::size_t bytes, const std::string& call) {
  const std::string kind = kind_of(image, bytes);
  return refuse(kind.starts_with("PTX") ? error::invalid_ptx : error::invalid_image,
                fmt::format("{}: {} cannot be loaded: the emulator loads what nvrtc or hiprtc compile while the "
                            "program runs, and files beside which their sources lie",
                            call, kind));
}

bool is_loaded(void* module) {
  std::lock_guard lock(loaded_mutex);
  return loaded.count(module) != 0;
}

}  // namespace
}  // namespace isomer::emulator

#define EXPORT __attribute__((visibility("default")))
extern "C" {
using namespace isomer::emulator;

EXPORT int isomer_emulator_module_load_data(void** module, const void* image) {
  const fs::path library = image ? module_of(static_cast<const char*>(image)) : fs::path();
  if (library.empty()) return refuse_image(image, 0, "a module's data");
  return load(module, library);
}

EXPORT int isomer_emulator_module_is_ours(const void* image, std::size_t bytes, const char* call, const char* name) {
  const bool ours = image != nullptr && !module_of(std::string(static_cast<const char*>(image), bytes).c_str()).empty();
  if (ours) return error::success;
  return refuse_image(image, bytes, *name ? fmt::format("{} of {}", call, name) : std::string(call));
}

EXPORT int isomer_emulator_module_load(void** module, const char* path) {
  std::error_code none;
  if (fs::is_regular_file(path, none))
    if (const fs::path library = module_of(read_file(path).c_str()); !library.empty())
      return load(module, library);
  const fs::path source = source_for(path);
  if (source.empty())
    return refuse(fs::exists(path, none) ? error::invalid_image : error::file_not_found,
                  fmt::format("{}: {}, and beside the program lies no source from which it could be made",
                              path, fs::exists(path, none) ? "no code object of the emulator" : "no such file"));
  try {
    return load(module, module_of(code_object_of(as_the_program(source)).c_str()));
  } catch (const std::exception& e) {
    return refuse(error::invalid_image, e.what());
  }
}

EXPORT int isomer_emulator_code_object_file(const char* path) {
  std::error_code none;
  const std::string ending = fs::path(path).extension().string();
  const auto is_ending = [&](const char* of_machine_code) { return ending == of_machine_code; };
  if (std::none_of(std::begin(kEndings), std::end(kEndings), is_ending) || fs::exists(path, none)) return -1;
  const fs::path source = source_for(path);
  if (source.empty()) return -1;
  try {
    const std::string text = code_object_of(as_the_program(source));
    const int file = memfd_create("isomer-code-object", MFD_CLOEXEC);
    if (file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
        lseek(file, 0, SEEK_SET) == 0)
      return file;
    if (file >= 0) close(file);
  } catch (const std::exception& e) {
    refuse(error::invalid_image, e.what());
  }
  return -1;
}

EXPORT int isomer_emulator_module_function(const void** function, void* module, const char* name) {
  if (!is_loaded(module)) return refuse(error::invalid_handle, "the module is not loaded");
  const KernelEntry* kernel = find_kernel(as_written(name), module);
  if (!kernel || !kernel->invoke)
    return refuse(error::not_found, fmt::format("the module has no kernel {}", as_written(name)));
  *function = kernel->function;
  return error::success;
}

EXPORT int isomer_emulator_module_global(void** address, std::size_t* bytes, void* module, const char* name) {
  if (!is_loaded(module)) return refuse(error::invalid_handle, "the module is not loaded");
  const SymbolEntry* variable = find_symbol(as_written(name), image_of(module));
  if (!variable)
    return refuse(error::not_found,
                  fmt::format("the module has no __device__ or __constant__ variable {}", as_written(name)));
  if (address) *address = variable->address;
  if (bytes) *bytes = variable->bytes;
  return error::success;
}

EXPORT int isomer_emulator_module_unload(void* module) {
  {
    std::lock_guard lock(loaded_mutex);
    if (loaded.erase(module) == 0) return refuse(error::invalid_handle, "the module is not loaded");
  }
  // It stays mapped: what was found in it has its lines there.
  link_map* map = nullptr;
  if (dlinfo(module, RTLD_DI_LINKMAP, &map) == 0) isomer_emulator_unregister(map->l_ld);
  return error::success;
}
}
