#include "gpu/vendors/failure.hpp"

#include "core/sentence.hpp"

namespace isomer::gpu {
namespace {

std::string advice(Meaning meaning) {
  switch (meaning) {
    case Meaning::memory:
      return "; the device's memory is exhausted: free some of it, or use another device";
    case Meaning::lost:
      return "; the device is lost to this process: start a new one, and if that fails too reset the device";
    case Meaning::refused_image:
      return "; the compiled kernel is not for this device and driver: update the driver, or take a compiler "
             "of the "
             "driver's version";
    case Meaning::other:
      return "";
  }
  return "";
}

ErrorCode code_of(Meaning meaning) {
  return meaning == Meaning::memory          ? ErrorCode::out_of_memory
         : meaning == Meaning::refused_image ? ErrorCode::unsupported
                                             : ErrorCode::device;
}

std::string triple(const Dim3& values) {
  return core::say("(", values[0], ", ", values[1], ", ", values[2], ")");
}

}  // namespace

void fail_call(std::string_view vendor, std::string_view call, Meaning meaning, const std::string& error) {
  core::fail(code_of(meaning), vendor, ": ", call, " failed: ", error, advice(meaning));
}

void fail_launch(std::string_view vendor, const Launch& launch, Meaning meaning, const std::string& error) {
  core::fail(code_of(meaning), vendor, ": launching ", launch.kernel, " with grid ", triple(launch.grid),
             ", block ", triple(launch.block), " and ", launch.shared_bytes,
             " bytes of shared memory failed: ", error, advice(meaning));
}

}  // namespace isomer::gpu
