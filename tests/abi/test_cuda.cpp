// Our declarations of the CUDA driver's interface and of NVRTC's beside NVIDIA's own headers, where they are.
#include "gpu/vendors/cuda/driver.hpp"
#include "gpu/vendors/runtime_compiler.hpp"

#include <gtest/gtest.h>

#include <cstddef>

#if __has_include(<cuda.h>) && __has_include(<cudaTypedefs.h>) && __has_include(<nvrtc.h>)
#include "equivalent.hpp"

#include <cuda.h>
#include <cudaTypedefs.h>
#include <nvrtc.h>

namespace isomer::gpu::cuda {
namespace {

TEST(CudaDeclarations, OfFunctionsAreThoseOfTheVersionsThatAreAskedFor) {
  int functions = 0;
#define ISOMER_COMPARE(name, symbol, since, parameters)                                    \
  EXPECT_TRUE((equivalent<decltype(Driver::name), PFN_##symbol##_v##since>())) << #symbol; \
  ++functions;
  ISOMER_CUDA_FUNCTIONS(ISOMER_COMPARE)
#undef ISOMER_COMPARE
  EXPECT_GE(functions, 30);
}

TEST(CudaDeclarations, OfTheResolverAreThoseOfCuda12) {
  EXPECT_TRUE((equivalent<GetProcAddress, PFN_cuGetProcAddress_v12000>()));
  EXPECT_EQ(CU_GET_PROC_ADDRESS_DEFAULT, 0);
  EXPECT_EQ(CU_GET_PROC_ADDRESS_SUCCESS, 0);
}

TEST(CudaDeclarations, OfEnumeratorsHaveTheirValues) {
#define SAME(ours, theirs) EXPECT_EQ(static_cast<int>(ours), static_cast<int>(theirs))
  SAME(kSuccess, CUDA_SUCCESS);
  SAME(kInvalidValue, CUDA_ERROR_INVALID_VALUE);
  SAME(kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
  SAME(kDeviceUnavailable, CUDA_ERROR_DEVICE_UNAVAILABLE);
  SAME(kNoDevice, CUDA_ERROR_NO_DEVICE);
  SAME(kInvalidImage, CUDA_ERROR_INVALID_IMAGE);
  SAME(kNoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
  SAME(kUncorrectableEcc, CUDA_ERROR_ECC_UNCORRECTABLE);
  SAME(kInvalidPtx, CUDA_ERROR_INVALID_PTX);
  SAME(kUncorrectableNvlink, CUDA_ERROR_NVLINK_UNCORRECTABLE);
  SAME(kUnsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  SAME(kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
  SAME(kLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT);
  SAME(kContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  SAME(kAssert, CUDA_ERROR_ASSERT);
  SAME(kHardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR);
  SAME(kIllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION);
  SAME(kMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
  SAME(kInvalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE);
  SAME(kInvalidProgramCounter, CUDA_ERROR_INVALID_PC);
  SAME(kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
  SAME(kUnknown, CUDA_ERROR_UNKNOWN);

  SAME(kMaxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  SAME(kWarpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  SAME(kMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  SAME(kL2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  SAME(kMaxThreadsPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  SAME(kComputeCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  SAME(kComputeCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  SAME(kMaxSharedMemoryPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  SAME(kMaxRegistersPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  SAME(kMaxSharedMemoryPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  SAME(kSharedSizeBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  SAME(kMaxDynamicSharedSizeBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  SAME(kNonPortableClusterSizeAllowed, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
  SAME(kClusterDimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  SAME(kProgrammaticStreamSerialization, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
  SAME(kStreamNonBlocking, CU_STREAM_NON_BLOCKING);
  SAME(kEventDefault, CU_EVENT_DEFAULT);
  SAME(kCaptureNone, CU_STREAM_CAPTURE_STATUS_NONE);
  SAME(kMapU8, CU_TENSOR_MAP_DATA_TYPE_UINT8);
  SAME(kMapF16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
  SAME(kMapF32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
  SAME(kMapBf16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
  SAME(kInterleaveNone, CU_TENSOR_MAP_INTERLEAVE_NONE);
  SAME(kSwizzleNone, CU_TENSOR_MAP_SWIZZLE_NONE);
  SAME(kSwizzle32, CU_TENSOR_MAP_SWIZZLE_32B);
  SAME(kSwizzle64, CU_TENSOR_MAP_SWIZZLE_64B);
  SAME(kSwizzle128, CU_TENSOR_MAP_SWIZZLE_128B);
  SAME(kPromotionNone, CU_TENSOR_MAP_L2_PROMOTION_NONE);
  SAME(kPromotion64, CU_TENSOR_MAP_L2_PROMOTION_L2_64B);
  SAME(kPromotion128, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
  SAME(kPromotion256, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
  SAME(kFillZero, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
#undef SAME
}

TEST(CudaDeclarations, OfStructsHaveTheirLayout) {
#define SAME_SIZE(ours, theirs)            \
  EXPECT_EQ(sizeof(ours), sizeof(theirs)); \
  EXPECT_EQ(alignof(ours), alignof(theirs))
#define SAME_PLACE(ours, member, theirs, other)               \
  EXPECT_EQ(offsetof(ours, member), offsetof(theirs, other)); \
  EXPECT_EQ(sizeof(ours::member), sizeof(theirs::other)) << #other
  SAME_SIZE(LaunchConfig, CUlaunchConfig);
  SAME_PLACE(LaunchConfig, grid_x, CUlaunchConfig, gridDimX);
  SAME_PLACE(LaunchConfig, grid_y, CUlaunchConfig, gridDimY);
  SAME_PLACE(LaunchConfig, grid_z, CUlaunchConfig, gridDimZ);
  SAME_PLACE(LaunchConfig, block_x, CUlaunchConfig, blockDimX);
  SAME_PLACE(LaunchConfig, block_y, CUlaunchConfig, blockDimY);
  SAME_PLACE(LaunchConfig, block_z, CUlaunchConfig, blockDimZ);
  SAME_PLACE(LaunchConfig, shared_bytes, CUlaunchConfig, sharedMemBytes);
  SAME_PLACE(LaunchConfig, stream, CUlaunchConfig, hStream);
  SAME_PLACE(LaunchConfig, attributes, CUlaunchConfig, attrs);
  SAME_PLACE(LaunchConfig, attribute_count, CUlaunchConfig, numAttrs);
  SAME_SIZE(LaunchAttribute, CUlaunchAttribute);
  SAME_PLACE(LaunchAttribute, id, CUlaunchAttribute, id);
  SAME_PLACE(LaunchAttribute, value, CUlaunchAttribute, value);
  SAME_SIZE(LaunchAttributeValue, CUlaunchAttributeValue);
  SAME_PLACE(LaunchAttributeValue, cluster, CUlaunchAttributeValue, clusterDim);
  SAME_PLACE(LaunchAttributeValue, programmatic_stream_serialization, CUlaunchAttributeValue,
             programmaticStreamSerializationAllowed);
  EXPECT_EQ(sizeof(TensorMapObject), sizeof(CUtensorMap));
  EXPECT_GE(alignof(TensorMapObject), alignof(CUtensorMap));
#undef SAME_SIZE
#undef SAME_PLACE
}

TEST(CudaDeclarations, OfNvrtcAreThoseOfItsHeader) {
  using Ours = CompilerFunctions;
#define SAME(member, symbol) EXPECT_TRUE((equivalent<decltype(Ours::member), decltype(&symbol)>())) << #symbol
  SAME(version, nvrtcVersion);
  SAME(create, nvrtcCreateProgram);
  SAME(destroy, nvrtcDestroyProgram);
  SAME(compile, nvrtcCompileProgram);
  SAME(log_size, nvrtcGetProgramLogSize);
  SAME(log, nvrtcGetProgramLog);
  SAME(image_size, nvrtcGetCUBINSize);
  SAME(image, nvrtcGetCUBIN);
  SAME(error, nvrtcGetErrorString);
#undef SAME
  EXPECT_EQ(NVRTC_SUCCESS, 0);
}

}  // namespace
}  // namespace isomer::gpu::cuda
#else
TEST(CudaDeclarations, AreThoseOfTheHeaders) {
  GTEST_SKIP() << "cuda.h, cudaTypedefs.h and nvrtc.h are not installed: set CUDA_HOME to a CUDA toolkit";
}
#endif
