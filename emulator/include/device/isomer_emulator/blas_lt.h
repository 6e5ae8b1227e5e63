// cublasLt's product: one matrix, an epilogue with a bias, ReLU or GELU, and what factors of eight bits have
// beside: a scale of each tensor and the largest value of the result. The heuristic offers one algorithm.
#pragma once

#include "blas.h"

typedef isomer_emulator_blas* cublasLtHandle_t;
enum cublasLtEpilogue_t {
  CUBLASLT_EPILOGUE_DEFAULT = 1,
  CUBLASLT_EPILOGUE_RELU = 2,
  CUBLASLT_EPILOGUE_BIAS = 4,
  CUBLASLT_EPILOGUE_RELU_BIAS = 6,
  CUBLASLT_EPILOGUE_GELU = 32,
  CUBLASLT_EPILOGUE_GELU_BIAS = 36
};
enum cublasLtMatmulDescAttributes_t {
  CUBLASLT_MATMUL_DESC_TRANSA = 3,
  CUBLASLT_MATMUL_DESC_TRANSB = 4,
  CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
  CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8,
  CUBLASLT_MATMUL_DESC_A_SCALE_POINTER = 17,
  CUBLASLT_MATMUL_DESC_B_SCALE_POINTER = 18,
  CUBLASLT_MATMUL_DESC_C_SCALE_POINTER = 19,
  CUBLASLT_MATMUL_DESC_D_SCALE_POINTER = 20,
  CUBLASLT_MATMUL_DESC_AMAX_D_POINTER = 21,
  CUBLASLT_MATMUL_DESC_FAST_ACCUM = 25,
  CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 26
};
enum cublasLtMatmulPreferenceAttributes_t { CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1 };
typedef struct isomer_emulator_blas_matmul {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasOperation_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  int bias_type = -1;  ///< of cudaDataType_t; none: the result's, or bf16 beside eight bits
  const void *scale_a = nullptr, *scale_b = nullptr, *scale_c = nullptr, *scale_d = nullptr;
  void* largest = nullptr;
} * cublasLtMatmulDesc_t;
typedef struct isomer_emulator_blas_layout {
  cudaDataType_t type;
  std::uint64_t rows, columns;
  std::int64_t stride;
} * cublasLtMatrixLayout_t;
typedef struct isomer_emulator_blas_preference {
} * cublasLtMatmulPreference_t;
struct cublasLtMatmulAlgo_t {
  std::uint64_t data[8];
};
struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  std::size_t workspaceSize;
  cublasStatus_t state;
  float wavesCount;
};

static inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) { return cublasCreate(handle); }
static inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) { return cublasDestroy(handle); }
static inline cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* d, cublasComputeType_t compute,
                                                      cudaDataType_t scale) {
  *d = new isomer_emulator_blas_matmul{compute, scale};
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t d) {
  delete d;
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t d,
                                                            cublasLtMatmulDescAttributes_t which,
                                                            const void* value, std::size_t bytes) {
  const auto into = [&](auto& field) {
    if (bytes != sizeof field) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&field, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
  };
  switch (which) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return into(d->op_a);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return into(d->op_b);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return into(d->epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return into(d->bias);
    case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER:
      return into(d->scale_a);
    case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER:
      return into(d->scale_b);
    case CUBLASLT_MATMUL_DESC_C_SCALE_POINTER:
      return into(d->scale_c);
    case CUBLASLT_MATMUL_DESC_D_SCALE_POINTER:
      return into(d->scale_d);
    case CUBLASLT_MATMUL_DESC_AMAX_D_POINTER:
      return into(d->largest);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      return into(d->bias_type);
    case CUBLASLT_MATMUL_DESC_FAST_ACCUM:
      return CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_NOT_SUPPORTED;
}
static inline cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* l, cudaDataType_t type,
                                                        std::uint64_t rows, std::uint64_t columns,
                                                        std::int64_t stride) {
  *l = new isomer_emulator_blas_layout{type, rows, columns, stride};
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t l) {
  delete l;
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* p) {
  *p = new isomer_emulator_blas_preference;
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p) {
  delete p;
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                                  cublasLtMatmulPreferenceAttributes_t,
                                                                  const void*, std::size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
// The same in memory of the program's own.
typedef isomer_emulator_blas_matmul cublasLtMatmulDescOpaque_t;
typedef isomer_emulator_blas_layout cublasLtMatrixLayoutOpaque_t;
typedef isomer_emulator_blas_preference cublasLtMatmulPreferenceOpaque_t;
static inline cublasStatus_t cublasLtMatmulDescInit(cublasLtMatmulDesc_t d, cublasComputeType_t compute,
                                                    cudaDataType_t scale) {
  *d = isomer_emulator_blas_matmul{compute, scale};
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t l, cudaDataType_t type,
                                                      std::uint64_t rows, std::uint64_t columns,
                                                      std::int64_t stride) {
  *l = {type, rows, columns, stride};
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasLtMatmulPreferenceInit(cublasLtMatmulPreference_t) {
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t,
                                                            cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                                            cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                                            cublasLtMatmulPreference_t, int,
                                                            cublasLtMatmulHeuristicResult_t* results,
                                                            int* count) {
  results[0] = {};
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}
namespace isomer::emulator::blas {
inline cublasStatus_t matmul(cublasHandle_t, isomer_emulator_blas_matmul what, AnyNumber alpha, const void* a,
                             isomer_emulator_blas_layout of_a, const void* b, isomer_emulator_blas_layout of_b,
                             AnyNumber beta, const void* c, cudaDataType_t type_c, void* d,
                             isomer_emulator_blas_layout of_d) {
  const long depth = static_cast<long>(what.op_a == CUBLAS_OP_N ? of_a.columns : of_a.rows);
  const long inner = static_cast<long>(what.op_b == CUBLAS_OP_N ? of_b.rows : of_b.columns);
  if (depth != inner) return CUBLAS_STATUS_INVALID_VALUE;
  const long m = static_cast<long>(of_d.rows), n = static_cast<long>(of_d.columns);
  const auto scale = [](const void* at) { return at != nullptr ? number(CUDA_R_32F, at) : 1.0; };
  const double factor = alpha.as<double>() * scale(what.scale_a) * scale(what.scale_b),
               kept = beta.as<double>() * scale(what.scale_c), scale_d = scale(what.scale_d);
  if (kept != 0 && type_c != of_d.type) return CUBLAS_STATUS_NOT_SUPPORTED;
  const bool eight_bits = of_d.type == CUDA_R_8F_E4M3 || of_d.type == CUDA_R_8F_E5M2;
  const auto of_bias = what.bias_type >= 0 ? static_cast<cudaDataType_t>(what.bias_type)
                       : eight_bits         ? CUDA_R_16BF
                                            : of_d.type;
  Matrix bias;
  if ((what.epilogue & CUBLASLT_EPILOGUE_BIAS) && !bias.bring(of_bias, what.bias, m, 1, m))
    return CUBLAS_STATUS_EXECUTION_FAILED;
  double largest = 0;
  const auto finish = [&](double x, long row) {
    if (what.epilogue & CUBLASLT_EPILOGUE_BIAS) x += bias.at(row, 0);
    if (what.epilogue & CUBLASLT_EPILOGUE_RELU) x = x > 0 ? x : 0;
    // By the hyperbolic tangent, as the library has it.
    if (what.epilogue & CUBLASLT_EPILOGUE_GELU)
      x = 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    largest = std::max(largest, std::fabs(x));
    return x * scale_d;
  };
  const cublasStatus_t status = gemm(m, n, depth, factor, {what.op_a, a, of_a.type, of_a.stride},
                                           {what.op_b, b, of_b.type, of_b.stride}, kept, c, d, of_d.type,
                                           of_d.stride, computes(what.compute), finish);
  if (what.largest != nullptr && status == CUBLAS_STATUS_SUCCESS)
    put_number(CUDA_R_32F, what.largest, largest);
  return status;
}
}  // namespace isomer::emulator::blas
static inline cublasStatus_t cublasLtMatmul(cublasLtHandle_t h, cublasLtMatmulDesc_t what, const void* alpha,
                                            const void* a, cublasLtMatrixLayout_t of_a, const void* b,
                                            cublasLtMatrixLayout_t of_b, const void* beta, const void* c,
                                            cublasLtMatrixLayout_t of_c, void* d, cublasLtMatrixLayout_t of_d,
                                            const cublasLtMatmulAlgo_t*, void*, std::size_t, cudaStream_t stream) {
  namespace blas = isomer::emulator::blas;
  isomer_emulator_blas settings = *h;
  settings.stream = stream;
  return blas::recorded(&settings, blas::matmul, *what, {what->scale, alpha}, a, *of_a, b, *of_b, {what->scale, beta}, c,
                        of_c ? of_c->type : of_d->type, d, *of_d);
}
