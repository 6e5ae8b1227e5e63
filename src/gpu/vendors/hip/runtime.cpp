#include "gpu/vendors/hip/runtime.hpp"

#include "core/sentence.hpp"
#include "gpu/shared_object.hpp"
#include "gpu/vendors/forks.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

namespace isomer::gpu::hip {
namespace {

/// 5.0, the first whose hipGetDeviceProperties has the layout above in all its releases.
constexpr int kOldest = 50000000;

Runtime open_runtime() {
  Runtime runtime;
  // The plain name is the version that this machine's owner has chosen.
  const SharedObject library({"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                              "/opt/rocm/lib/libamdhip64.so"});
  if (!library.open()) {
    runtime.unavailable =
        "there is no HIP runtime (libamdhip64.so cannot be opened); install ROCm, or use another device";
    return runtime;
  }
  const auto look_up = [&](const char* symbol) {
    void* function = library.symbol(symbol);
    if (function == nullptr && runtime.unavailable.empty())
      runtime.unavailable = core::say("'", library.name(), "' has no ", symbol, "; update ROCm");
    return function;
  };
#define ISOMER_RESOLVE(result, name, symbol, parameters) \
  runtime.name = reinterpret_cast<decltype(runtime.name)>(look_up(#symbol));
  ISOMER_HIP_FUNCTIONS(ISOMER_RESOLVE)
#undef ISOMER_RESOLVE
  for (const ArchitectureName& each : kArchitectureNames)
    if (void* function = library.symbol(each.function);
        function != nullptr && runtime.get_device_properties == nullptr) {
      runtime.get_device_properties = reinterpret_cast<decltype(runtime.get_device_properties)>(function);
      runtime.architecture_name = each;
    }
  if (runtime.get_device_properties == nullptr) look_up(kArchitectureNames[0].function);
  if (!runtime.unavailable.empty()) return runtime;
  runtime.forks = forks();
  int count = 0;
  Result result = runtime.init(0);
  if (result == kSuccess) result = runtime.get_device_count(&count);
  // Without a device HIP 5 calls it invalid.
  if (result == kNoDevice || result == kInvalidDevice || (result == kSuccess && count == 0)) {
    runtime.unavailable =
        "the HIP runtime sees no GPU; see rocminfo, HIP_VISIBLE_DEVICES and the rights on /dev/kfd";
    return runtime;
  }
  if (result != kSuccess) {
    runtime.unavailable = core::say("the HIP runtime cannot be initialised: ", name_of(runtime, result),
                                    "; see rocminfo and dmesg");
    return runtime;
  }
  runtime.runtime_get_version(&runtime.version);
  if (runtime.version < kOldest)
    runtime.unavailable =
        core::say("the HIP runtime is version ", runtime.version / 10000000, ".",
                  runtime.version / 100000 % 100, ", and 5.0 or later is needed; update ROCm");
  return runtime;
}

}  // namespace

const Runtime& Runtime::get() {
  static const Runtime* const runtime = new Runtime(open_runtime());
  return *runtime;
}

std::string Runtime::architecture(int device) const {
  // Wider than any of the layouts.
  alignas(64) char properties[8192] = {};
  if (get_device_properties(properties, device) != kSuccess) return {};
  const char* begin = properties + architecture_name.offset;
  std::string_view name(
      begin, static_cast<std::size_t>(std::find(begin, begin + kArchitectureNameBytes, '\0') - begin));
  name = name.substr(0, name.find(':'));
  const bool known = name.starts_with("gfx") && name.size() > 5 &&
                     std::all_of(name.begin() + 3, name.end(),
                                 [](unsigned char c) { return std::isxdigit(c) != 0 || c == '-'; });
  return known ? std::string(name) : std::string();
}

std::string name_of(const Runtime& runtime, Result result) {
  const char* name = runtime.get_error_name(result);
  const char* text = runtime.get_error_string(result);
  if (name == nullptr) return core::say("error ", static_cast<int>(result));
  return text == nullptr ? std::string(name) : core::say(name, ": ", text);
}

Meaning meaning_of(Result result) {
  switch (result) {
    case kOutOfMemory:
      return Meaning::memory;
    case kInvalidImage:
    case kNoBinaryForGpu:
    case kInvalidKernelFile:
    case kSharedObjectInitFailed:
      return Meaning::refused_image;
    case kUncorrectableEcc:
    case kIllegalAddress:
    case kLaunchTimeOut:
    case kAssert:
    case kLaunchFailure:
    case kUnknown:
      return Meaning::lost;
    default:
      return Meaning::other;
  }
}

}  // namespace isomer::gpu::hip
