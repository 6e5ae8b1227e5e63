// Our declarations of the HIP runtime's interface and of hipRTC's beside AMD's own headers, where they are.
#include "gpu/vendors/hip/runtime.hpp"
#include "gpu/vendors/runtime_compiler.hpp"

#include <gtest/gtest.h>

#include <cstddef>

#if __has_include(<hip/hip_runtime_api.h>)
#define __HIP_PLATFORM_AMD__ 1
#include "equivalent.hpp"

#include <hip/hip_runtime_api.h>
#include <hip/hip_version.h>
#if HIP_VERSION_MAJOR >= 6
#include <hip/hip_deprecated.h>
#endif
#if __has_include(<hip/hiprtc.h>)
#include <hip/hiprtc.h>
#endif

namespace isomer::gpu::hip {
namespace {

/// The header's type for one of ours. Its functions have C++ overloads, so only the right type finds them.
template <class T>
struct Theirs {
  using type = T;
};
#define MAP(ours, theirs) \
  template <>             \
  struct Theirs<ours> {   \
    using type = theirs;  \
  }
MAP(Result, hipError_t);
MAP(DeviceAttribute, hipDeviceAttribute_t);
MAP(CopyKind, hipMemcpyKind);
MAP(CaptureStatus, hipStreamCaptureStatus);
MAP(ModuleHandle, hipModule_t);
MAP(FunctionHandle, hipFunction_t);
MAP(StreamHandle, hipStream_t);
MAP(EventHandle, hipEvent_t);
#undef MAP
template <class T>
struct Theirs<T*> {
  using type = typename Theirs<T>::type*;
};
template <>
struct Theirs<void*> {
  using type = void*;
};
template <class R, class... A>
struct Theirs<R (*)(A...)> {
  using type = typename Theirs<R>::type (*)(typename Theirs<A>::type...);
};

TEST(HipDeclarations, OfFunctionsAreThoseOfTheHeader) {
  int functions = 0;
#define ISOMER_COMPARE(result, name, symbol, parameters)                            \
  {                                                                                 \
    const auto exists = []<class F>(F*) {                                           \
      return requires { static_cast<typename Theirs<F>::type>(&symbol); };          \
    };                                                                              \
    EXPECT_TRUE(exists(static_cast<decltype(Runtime::name)*>(nullptr))) << #symbol; \
    ++functions;                                                                    \
  }
  ISOMER_HIP_FUNCTIONS(ISOMER_COMPARE)
#undef ISOMER_COMPARE
  EXPECT_GE(functions, 25);
  EXPECT_TRUE((equivalent<DeviceHandle, hipDevice_t>()));
}

TEST(HipDeclarations, OfEnumeratorsHaveTheirValues) {
#define SAME(ours, theirs) EXPECT_EQ(static_cast<int>(ours), static_cast<int>(theirs))
  SAME(kSuccess, hipSuccess);
  SAME(kInvalidValue, hipErrorInvalidValue);
  SAME(kOutOfMemory, hipErrorOutOfMemory);
  SAME(kNoDevice, hipErrorNoDevice);
  SAME(kInvalidDevice, hipErrorInvalidDevice);
  SAME(kInvalidImage, hipErrorInvalidImage);
  SAME(kNoBinaryForGpu, hipErrorNoBinaryForGpu);
  SAME(kUncorrectableEcc, hipErrorECCNotCorrectable);
  SAME(kInvalidKernelFile, hipErrorInvalidKernelFile);
  SAME(kSharedObjectInitFailed, hipErrorSharedObjectInitFailed);
  SAME(kIllegalAddress, hipErrorIllegalAddress);
  SAME(kLaunchTimeOut, hipErrorLaunchTimeOut);
  SAME(kAssert, hipErrorAssert);
  SAME(kLaunchFailure, hipErrorLaunchFailure);
  SAME(kUnknown, hipErrorUnknown);

  SAME(kL2CacheSize, hipDeviceAttributeL2CacheSize);
  SAME(kMaxThreadsPerBlock, hipDeviceAttributeMaxThreadsPerBlock);
  SAME(kMaxThreadsPerMultiprocessor, hipDeviceAttributeMaxThreadsPerMultiProcessor);
  SAME(kMultiprocessorCount, hipDeviceAttributeMultiprocessorCount);
  SAME(kMaxRegistersPerMultiprocessor, hipDeviceAttributeMaxRegistersPerMultiprocessor);
  SAME(kMaxSharedMemoryPerBlock, hipDeviceAttributeMaxSharedMemoryPerBlock);
  SAME(kWarpSize, hipDeviceAttributeWarpSize);
  SAME(kMaxSharedMemoryPerMultiprocessor, hipDeviceAttributeMaxSharedMemoryPerMultiprocessor);
  SAME(kHostToDevice, hipMemcpyHostToDevice);
  SAME(kDeviceToHost, hipMemcpyDeviceToHost);
  SAME(kDeviceToDevice, hipMemcpyDeviceToDevice);
  SAME(kCaptureNone, hipStreamCaptureStatusNone);
  SAME(kStreamNonBlocking, hipStreamNonBlocking);
  SAME(kEventDefault, hipEventDefault);
#undef SAME
}

template <class Properties>
void expect_place(const ArchitectureName& name) {
  EXPECT_EQ(name.struct_bytes, sizeof(Properties)) << name.function;
  EXPECT_EQ(name.offset, offsetof(Properties, gcnArchName)) << name.function;
  EXPECT_EQ(kArchitectureNameBytes, sizeof(Properties::gcnArchName)) << name.function;
}

TEST(HipDeclarations, OfTheArchitecturesNameHaveItsPlace) {
#if HIP_VERSION_MAJOR >= 6
  expect_place<hipDeviceProp_tR0600>(kArchitectureNames[0]);
  expect_place<hipDeviceProp_tR0000>(kArchitectureNames[1]);
#else
  expect_place<hipDeviceProp_t>(kArchitectureNames[1]);
#endif
}

#if __has_include(<hip/hiprtc.h>)
TEST(HipDeclarations, OfHipRtcAreThoseOfItsHeader) {
  using Ours = CompilerFunctions;
#define SAME(member, symbol) EXPECT_TRUE((equivalent<decltype(Ours::member), decltype(&symbol)>())) << #symbol
  SAME(version, hiprtcVersion);
  SAME(create, hiprtcCreateProgram);
  SAME(destroy, hiprtcDestroyProgram);
  SAME(compile, hiprtcCompileProgram);
  SAME(log_size, hiprtcGetProgramLogSize);
  SAME(log, hiprtcGetProgramLog);
  SAME(image_size, hiprtcGetCodeSize);
  SAME(image, hiprtcGetCode);
  SAME(error, hiprtcGetErrorString);
#undef SAME
  EXPECT_EQ(HIPRTC_SUCCESS, 0);
}
#else
TEST(HipDeclarations, OfHipRtcAreThoseOfItsHeader) { GTEST_SKIP() << "hip/hiprtc.h is not installed"; }
#endif

}  // namespace
}  // namespace isomer::gpu::hip
#else
TEST(HipDeclarations, AreThoseOfTheHeaders) {
  GTEST_SKIP() << "hip/hip_runtime_api.h is not installed: install libamdhip64-dev, or set ROCM_PATH";
}
#endif
