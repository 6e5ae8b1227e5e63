// Tensor maps, which say how the copy engine finds a box of a tensor (cuTensorMapEncodeTiled), and the
// runtime's way to that function. Part of driver.h.
#pragma once

#include <cstdint>
#include <cstring>

typedef std::uint32_t cuuint32_t;
typedef std::uint64_t cuuint64_t;

enum CUtensorMapDataType {
  CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0,
  CU_TENSOR_MAP_DATA_TYPE_UINT16,
  CU_TENSOR_MAP_DATA_TYPE_UINT32,
  CU_TENSOR_MAP_DATA_TYPE_INT32,
  CU_TENSOR_MAP_DATA_TYPE_UINT64,
  CU_TENSOR_MAP_DATA_TYPE_INT64,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
  CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
  CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
  CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ
};
enum CUtensorMapInterleave {
  CU_TENSOR_MAP_INTERLEAVE_NONE = 0,
  CU_TENSOR_MAP_INTERLEAVE_16B,
  CU_TENSOR_MAP_INTERLEAVE_32B
};
enum CUtensorMapSwizzle {
  CU_TENSOR_MAP_SWIZZLE_NONE = 0,
  CU_TENSOR_MAP_SWIZZLE_32B,
  CU_TENSOR_MAP_SWIZZLE_64B,
  CU_TENSOR_MAP_SWIZZLE_128B
};
enum CUtensorMapL2promotion {
  CU_TENSOR_MAP_L2_PROMOTION_NONE = 0,
  CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
  CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
  CU_TENSOR_MAP_L2_PROMOTION_L2_256B
};
enum CUtensorMapFloatOOBfill {
  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0,
  CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
};
struct alignas(64) CUtensorMap_st {
  cuuint64_t opaque[16];
};
typedef CUtensorMap_st CUtensorMap;

/// Strides are those of dimensions 1 and up, in bytes.
static inline CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                              void* address, const cuuint64_t* sizes,
                                              const cuuint64_t* strides, const cuuint32_t* box,
                                              const cuuint32_t* element_strides,
                                              CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                              CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  static const unsigned bytes_of[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  if (map == nullptr || sizes == nullptr || box == nullptr || element_strides == nullptr ||
      (rank > 1 && strides == nullptr) || static_cast<unsigned>(type) >= 13)
    return static_cast<CUresult>(isomer_emulator_refuse(
        CUDA_ERROR_INVALID_VALUE, "cuTensorMapEncodeTiled: a null pointer, or a data type that is none"));
  bool plain = interleave == CU_TENSOR_MAP_INTERLEAVE_NONE && fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  for (cuuint32_t i = 0; i < rank && i < 5; ++i) plain &= element_strides[i] == 1;
  if (!plain)
    return static_cast<CUresult>(
        isomer_emulator_refuse(CUDA_ERROR_NOT_SUPPORTED,
                               "cuTensorMapEncodeTiled: the emulator has no interleaved tensors, no element "
                               "strides but 1, and zeros "
                               "outside of a tensor"));
  return static_cast<CUresult>(isomer_emulator_encode_tensor_map(map, bytes_of[type], static_cast<int>(rank),
                                                                 address, sizes, strides, box,
                                                                 swizzle == 0 ? 0 : 16 << swizzle));
}

typedef CUresult (*PFN_cuTensorMapEncodeTiled)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*,
                                               const cuuint64_t*, const cuuint64_t*, const cuuint32_t*,
                                               const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                                               CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
typedef PFN_cuTensorMapEncodeTiled PFN_cuTensorMapEncodeTiled_v12000;

enum cudaDriverEntryPointQueryResult {
  cudaDriverEntryPointSuccess = 0,
  cudaDriverEntryPointSymbolNotFound = 1,
  cudaDriverEntryPointVersionNotSufficent = 2
};
enum { cudaEnableDefault = 0, cudaEnableLegacyStream = 1, cudaEnablePerThreadDefaultStream = 2 };
enum CUdriverProcAddressQueryResult {
  CU_GET_PROC_ADDRESS_SUCCESS = 0,
  CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1,
  CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT = 2
};
enum { CU_GET_PROC_ADDRESS_DEFAULT = 0 };

/// The one function that programs look for in this way: it lies in the driver's library alone.
static inline cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long,
                                                  cudaDriverEntryPointQueryResult* result = nullptr) {
  const bool known = symbol != nullptr && std::strcmp(symbol, "cuTensorMapEncodeTiled") == 0;
  if (function != nullptr) *function = known ? reinterpret_cast<void*>(&cuTensorMapEncodeTiled) : nullptr;
  if (result != nullptr) *result = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return known ? cudaSuccess : cudaErrorSymbolNotFound;
}
static inline cudaError_t cudaGetDriverEntryPointByVersion(
    const char* symbol, void** function, unsigned, unsigned long long flags,
    cudaDriverEntryPointQueryResult* result = nullptr) {
  return cudaGetDriverEntryPoint(symbol, function, flags, result);
}
static inline CUresult cuGetProcAddress(const char* symbol, void** function, int, cuuint64_t flags,
                                        CUdriverProcAddressQueryResult* result = nullptr) {
  cudaDriverEntryPointQueryResult said;
  const auto e = cudaGetDriverEntryPoint(symbol, function, flags, &said);
  if (result != nullptr) *result = static_cast<CUdriverProcAddressQueryResult>(said);
  return e == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
