#include "gpu/vendors/cuda/driver.hpp"

#include "core/sentence.hpp"
#include "gpu/shared_object.hpp"
#include "gpu/vendors/forks.hpp"

#include <cstdint>

namespace isomer::gpu::cuda {
namespace {

/// The first driver whose cuGetProcAddress reports on versions.
constexpr int kOldestDriver = 12000;

Driver open_driver() {
  Driver driver;
  const SharedObject library({"libcuda.so.1"});
  if (!library.open()) {
    driver.unavailable =
        "there is no NVIDIA driver (libcuda.so.1 cannot be opened); install one, or use another device";
    return driver;
  }
  const auto resolve = reinterpret_cast<GetProcAddress>(library.symbol("cuGetProcAddress_v2"));
  const auto version = reinterpret_cast<Result (*)(int*)>(library.symbol("cuDriverGetVersion"));
  if (version != nullptr) version(&driver.version);
  if (resolve == nullptr || driver.version < kOldestDriver) {
    driver.unavailable =
        core::say("the NVIDIA driver offers CUDA ", driver.version / 1000, ".", driver.version % 1000 / 10,
                  ", and 12.0 or later is needed; update the driver");
    return driver;
  }
  const auto look_up = [&](const char* symbol, int since) -> void* {
    void* function = nullptr;
    int status = 0;
    if (resolve(symbol, &function, since, 0, &status) != kSuccess || status != 0 || function == nullptr) {
      if (driver.unavailable.empty())
        driver.unavailable = core::say("the NVIDIA driver has no ", symbol, "; update the driver");
      return nullptr;
    }
    return function;
  };
#define ISOMER_RESOLVE(name, symbol, since, parameters) \
  driver.name = reinterpret_cast<decltype(driver.name)>(look_up(#symbol, since));
  ISOMER_CUDA_FUNCTIONS(ISOMER_RESOLVE)
#undef ISOMER_RESOLVE
  if (!driver.unavailable.empty()) return driver;
  driver.forks = forks();
  int count = 0;
  Result result = driver.init(0);
  if (result == kSuccess) result = driver.device_get_count(&count);
  if (result == kNoDevice || (result == kSuccess && count == 0))
    driver.unavailable = "the NVIDIA driver sees no GPU; see nvidia-smi and CUDA_VISIBLE_DEVICES";
  else if (result != kSuccess)
    driver.unavailable = core::say("the NVIDIA driver cannot be initialised: ", name_of(driver, result),
                                   "; see nvidia-smi and dmesg");
  return driver;
}

}  // namespace

const Driver& Driver::get() {
  static const Driver* const driver = new Driver(open_driver());
  return *driver;
}

Meaning meaning_of(Result result) {
  switch (result) {
    case kOutOfMemory:
      return Meaning::memory;
    case kInvalidImage:
    case kNoBinaryForGpu:
    case kInvalidPtx:
    case kUnsupportedPtxVersion:
      return Meaning::refused_image;
    case kDeviceUnavailable:
    case kUncorrectableEcc:
    case kUncorrectableNvlink:
    case kIllegalAddress:
    case kLaunchTimeout:
    case kContextIsDestroyed:
    case kAssert:
    case kHardwareStackError:
    case kIllegalInstruction:
    case kMisalignedAddress:
    case kInvalidAddressSpace:
    case kInvalidProgramCounter:
    case kLaunchFailed:
    case kUnknown:
      return Meaning::lost;
    default:
      return Meaning::other;
  }
}

std::string name_of(const Driver& driver, Result result) {
  const char *name = nullptr, *text = nullptr;
  if (driver.get_error_name(result, &name) != kSuccess || name == nullptr) return core::say("error ", result);
  if (driver.get_error_string(result, &text) != kSuccess || text == nullptr) return name;
  return core::say(name, ": ", text);
}

}  // namespace isomer::gpu::cuda
