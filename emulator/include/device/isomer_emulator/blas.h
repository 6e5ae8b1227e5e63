// cuBLAS's names over plain loops on the host: real and complex types, column by column. Sums are in order of k; the
// library's own order is another.
#pragma once

#include "blas_matrix.h"
#include "capture.h"
#include "complex.h"

#define CUBLAS_API_H_  // as headers of others ask whether cuBLAS is there
#define CUBLAS_VER_MAJOR 12
#define CUBLAS_VER_MINOR 0
#define CUBLAS_VER_PATCH 0
#define CUBLAS_VERSION (CUBLAS_VER_MAJOR * 10000 + CUBLAS_VER_MINOR * 100 + CUBLAS_VER_PATCH)

#include "blas_types.inc"
typedef struct isomer_emulator_blas {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;  ///< sums have one order in any case
} * cublasHandle_t;

static inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = new isomer_emulator_blas;
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) {
  *stream = handle->stream;
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
  handle->pointer_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode) {
  *mode = handle->pointer_mode;
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t math) {
  handle->math = math;
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
  handle->atomics = mode;
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
  *mode = handle->atomics;
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasSetEmulationStrategy(cublasHandle_t, cudaEmulationStrategy_t) {
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasSetFixedPointEmulationMantissaControl(cublasHandle_t,
                                                                         cudaEmulationMantissaControl_t) {
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasSetFixedPointEmulationMaxMantissaBitCount(cublasHandle_t, int) {
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, std::size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
  *version = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}
static inline std::size_t cublasGetCudartVersion() { return 12000; }
static inline const char* cublasGetStatusString(cublasStatus_t s) {
  return s == CUBLAS_STATUS_SUCCESS           ? "CUBLAS_STATUS_SUCCESS"
         : s == CUBLAS_STATUS_INVALID_VALUE   ? "CUBLAS_STATUS_INVALID_VALUE"
         : s == CUBLAS_STATUS_NOT_SUPPORTED   ? "CUBLAS_STATUS_NOT_SUPPORTED"
         : s == CUBLAS_STATUS_NOT_INITIALIZED ? "CUBLAS_STATUS_NOT_INITIALIZED"
                                              : "CUBLAS_STATUS_EXECUTION_FAILED";
}
static inline const char* cublasGetStatusName(cublasStatus_t s) { return cublasGetStatusString(s); }

namespace isomer::emulator::blas {

template <class T>
constexpr cudaDataType_t kTypeOf = std::is_same_v<T, double>    ? CUDA_R_64F
                                   : std::is_same_v<T, float>   ? CUDA_R_32F
                                   : std::is_same_v<T, float2>  ? CUDA_C_32F
                                   : std::is_same_v<T, double2> ? CUDA_C_64F
                                                                : CUDA_R_16F;

/// One number that lies on the host or on the device.
inline double number(cudaDataType_t type, const void* at) {
  unsigned char raw[8] = {};
  return isomer_emulator_copy(raw, at, bytes_of(type), kAnyDirection) == 0 ? value_of(type, raw) : 0;
}
inline void put_number(cudaDataType_t type, void* at, double value) {
  unsigned char raw[8] = {};
  put_value(type, raw, value);
  isomer_emulator_copy(at, raw, bytes_of(type), kAnyDirection);
}

/// A number that a program gives by its address: of the host's memory as it is at the call, of the device's as it is
/// when the work is done.
class AnyNumber {
 public:
  AnyNumber(cudaDataType_t type, const void* at) : type_(type), device_(at) {
    const int kind = isomer_emulator_pointer_kind(at, nullptr);
    if (kind == 2 || kind == 3 || at == nullptr) return;
    std::memcpy(kept_, at, bytes_of(type));
    device_ = nullptr;
  }
  template <class V>
  V as() const {
    alignas(16) unsigned char raw[16] = {};
    if (device_ == nullptr) return value_as<V>(type_, kept_);
    return isomer_emulator_copy(raw, device_, bytes_of(type_), kAnyDirection) == 0 ? value_as<V>(type_, raw) : V(0);
  }

 private:
  cudaDataType_t type_;
  alignas(16) unsigned char kept_[16] = {};
  const void* device_;
};
template <class P>
struct Number : AnyNumber {
  Number(const P* at) : AnyNumber(kTypeOf<P>, at) {}
  operator Counted<P>() const { return as<Counted<P>>(); }
};
template <class V>
cublasStatus_t answer(cudaDataType_t type, void* at, V value) {
  alignas(16) unsigned char raw[16] = {};
  put_as(type, raw, value);
  return isomer_emulator_copy(at, raw, bytes_of(type), kAnyDirection) == 0 ? CUBLAS_STATUS_SUCCESS
                                                                           : CUBLAS_STATUS_EXECUTION_FAILED;
}
inline cublasStatus_t done(bool well) {
  return well ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

/// As a parameter: its type is said elsewhere.
template <class A>
using Same = std::common_type_t<A>;

/// Calls a function of the library, or, while the handle's stream is captured, puts the call into the graph.
template <class... A>
cublasStatus_t recorded(cublasHandle_t handle, cublasStatus_t (*function)(cublasHandle_t, A...), Same<A>... a) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const auto later = [settings = *handle, function, a...](void* stream) mutable {
    settings.stream = static_cast<cudaStream_t>(stream);
    recorded(&settings, function, a...);
  };
  return capture(handle->stream, NodeKind::kernel, later) ? CUBLAS_STATUS_SUCCESS : function(handle, a...);
}
/// Such a function as programs name it.
template <class Function, class Type>
struct Recorded;
template <class Function, class... A>
struct Recorded<Function, cublasStatus_t (*)(cublasHandle_t, A...)> {
  cublasStatus_t operator()(cublasHandle_t handle, A... a) const {
    return recorded(handle, Function::template work<Recorded>, a...);
  }
};

struct Operand {
  cublasOperation_t op;
  const void* at;
  cudaDataType_t type;
  long stride;
};
template <class V>
bool bring(MatrixOf<V>& m, const Operand& of, long rows, long columns) {
  if (of.op == CUBLAS_OP_N) return m.bring(of.type, of.at, rows, columns, of.stride);
  if (!m.bring(of.type, of.at, columns, rows, of.stride)) return false;
  m = of.op == CUBLAS_OP_C ? m.conjugated().transposed() : m.transposed();
  return true;
}
template <class P>
bool bring(MatrixOf<Counted<P>>& m, cublasOperation_t op, const P* at, long stride, long rows, long columns) {
  return bring(m, {op, at, kTypeOf<P>, stride}, rows, columns);
}
/// A vector, as one row. With an increment below zero its first number is the one that lies last, and with zero there is
/// one number for all.
template <class P>
bool bring(MatrixOf<Counted<P>>& m, const P* at, long count, long increment) {
  if (increment > 0) return m.bring(kTypeOf<P>, at, 1, count, increment);
  if (!m.bring(kTypeOf<P>, at, 1, increment == 0 ? std::min(count, 1l) : count, increment == 0 ? 1 : -increment)) return false;
  if (increment == 0 && count > 0) {
    m.values.resize(static_cast<std::size_t>(count), m.values[0]);
    m.columns = count;
  } else {
    std::reverse(m.values.begin(), m.values.end());
  }
  return true;
}
template <class P>
cublasStatus_t take(const MatrixOf<Counted<P>>& m, P* at, long stride) {
  if (stride > 0 || m.rows != 1 || m.values.empty()) return done(m.take(kTypeOf<P>, at, stride));
  MatrixOf<Counted<P>> as_it_lies = m;
  std::reverse(as_it_lies.values.begin(), as_it_lies.values.end());
  if (stride == 0) {
    as_it_lies.values.resize(1);
    as_it_lies.columns = 1;
  }
  return done(as_it_lies.take(kTypeOf<P>, at, stride == 0 ? 1 : -stride));
}
/// Programs of before CUDA 11 name the type of the sums in place of the way they are made.
struct Compute {
  cublasComputeType_t type;
  Compute(cublasComputeType_t named) : type(named) {}
  Compute(cudaDataType_t sums)
      : type(sums == CUDA_R_16F   ? CUBLAS_COMPUTE_16F
             : sums == CUDA_R_64F || sums == CUDA_C_64F ? CUBLAS_COMPUTE_64F
             : sums == CUDA_R_32I ? CUBLAS_COMPUTE_32I
                                  : CUBLAS_COMPUTE_32F) {}
};

inline Computes computes(cublasComputeType_t type) {
  return type == CUBLAS_COMPUTE_64F || type == CUBLAS_COMPUTE_64F_PEDANTIC ||
                 type == CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT              ? Computes::in_double
         : type == CUBLAS_COMPUTE_32I || type == CUBLAS_COMPUTE_32I_PEDANTIC ? Computes::in_integers
                                                                             : Computes::in_single;
}
/// The type in which alpha and beta are given; `of`: that of the result.
inline cudaDataType_t scale_type(cublasComputeType_t type, cudaDataType_t of = CUDA_R_32F) {
  return computes(type) == Computes::in_double     ? is_complex(of) ? CUDA_C_64F : CUDA_R_64F
         : is_complex(of)                          ? CUDA_C_32F
         : computes(type) == Computes::in_integers ? CUDA_R_32I
         : type == CUBLAS_COMPUTE_16F || type == CUBLAS_COMPUTE_16F_PEDANTIC ? CUDA_R_16F
                                                                             : CUDA_R_32F;
}

/// c = alpha · op(a) · op(b) + beta · c; `finish` changes a sum before it is stored.
template <class V, class Finish>
cublasStatus_t gemm(long m, long n, long k, V alpha, const Operand& a, const Operand& b, V beta, const void* c,
                    void* d, cudaDataType_t type, long stride, Computes how, Finish finish) {
  if (m < 0 || n < 0 || k < 0 || stride < std::max(1L, m)) return CUBLAS_STATUS_INVALID_VALUE;
  MatrixOf<V> left, right, before;
  if (bytes_of(type) == 0 || bytes_of(a.type) == 0 || bytes_of(b.type) == 0)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  if (!bring(left, a, m, k) || !bring(right, b, k, n)) return CUBLAS_STATUS_EXECUTION_FAILED;
  if (beta != V(0) && !before.bring(type, c, m, n, stride)) return CUBLAS_STATUS_EXECUTION_FAILED;
  MatrixOf<V> sums = product(left, right, how);
  for (std::size_t i = 0; i < sums.values.size(); ++i)
    sums.values[i] = finish(times(alpha, sums.values[i]) + (beta != V(0) ? times(beta, before.values[i]) : V(0)),
                            static_cast<long>(i) % std::max(1L, m));
  return done(sums.take(type, d, stride));
}
template <class V>
cublasStatus_t gemm(long m, long n, long k, V alpha, const Operand& a, const Operand& b, V beta, void* c,
                    cudaDataType_t type, long stride, Computes how) {
  return gemm(m, n, k, alpha, a, b, beta, c, c, type, stride, how, [](V x, long) { return x; });
}
template <class T>
const void* moved(const T* at, cudaDataType_t type, long long by) {
  return reinterpret_cast<const char*>(at) + by * static_cast<long long>(bytes_of(type));
}

inline cublasStatus_t gemm_strided(cublasHandle_t, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,
                                   int k, AnyNumber alpha, const void* a, cudaDataType_t type_a, int lda,
                                   long long stride_a, const void* b, cudaDataType_t type_b, int ldb,
                                   long long stride_b, AnyNumber beta, void* c, cudaDataType_t type_c, int ldc,
                                   long long stride_c, int count, Computes how) {
  for (int i = 0; i < count; ++i) {
    const Operand left{op_a, moved(a, type_a, stride_a * i), type_a, lda},
        right{op_b, moved(b, type_b, stride_b * i), type_b, ldb};
    void* const to = const_cast<void*>(moved(c, type_c, stride_c * i));
    using Wide = std::complex<double>;
    const cublasStatus_t status =
        is_complex(type_c)
            ? gemm(m, n, k, alpha.as<Wide>(), left, right, beta.as<Wide>(), to, type_c, ldc, how)
            : gemm(m, n, k, alpha.as<double>(), left, right, beta.as<double>(), to, type_c, ldc, how);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}
template <class P>
constexpr Computes kComputes =
    kTypeOf<P> == CUDA_R_64F || kTypeOf<P> == CUDA_C_64F ? Computes::in_double : Computes::in_single;
template <class P>
cublasStatus_t gemm_batches(cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                            Number<P> alpha, const P* a, int lda, long long stride_a, const P* b, int ldb,
                            long long stride_b, Number<P> beta, P* c, int ldc, long long stride_c, int count) {
  constexpr cudaDataType_t type = kTypeOf<P>;
  return gemm_strided(h, op_a, op_b, m, n, k, alpha, a, type, lda, stride_a, b, type, ldb, stride_b, beta, c, type,
                      ldc, stride_c, count, kComputes<P>);
}
template <class P>
cublasStatus_t gemm_one(cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                        Number<P> alpha, const P* a, int lda, const P* b, int ldb, Number<P> beta, P* c, int ldc) {
  return gemm_batches<P>(h, op_a, op_b, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1);
}
template <class T>
T* pointer_at(T* const* list, int i) {
  T* p = nullptr;
  return isomer_emulator_copy(&p, list + i, sizeof p, kAnyDirection) == 0 ? p : nullptr;
}
template <class P>
cublasStatus_t gemm_list(cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                         Number<P> alpha, const P* const* a, int lda, const P* const* b, int ldb, Number<P> beta,
                         P* const* c, int ldc, int count) {
  for (int i = 0; i < count; ++i) {
    const cublasStatus_t status = gemm_one<P>(h, op_a, op_b, m, n, k, alpha, pointer_at(a, i), lda, pointer_at(b, i),
                                              ldb, beta, pointer_at(c, i), ldc);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t gemm_list_of_types(cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, int m,
                                         int n, int k, AnyNumber alpha, const void* const* a, cudaDataType_t type_a,
                                         int lda, const void* const* b, cudaDataType_t type_b, int ldb,
                                         AnyNumber beta, void* const* c, cudaDataType_t type_c, int ldc, int count,
                                         Computes how) {
  for (int i = 0; i < count; ++i) {
    const cublasStatus_t status =
        gemm_strided(h, op_a, op_b, m, n, k, alpha, pointer_at(a, i), type_a, lda, 0, pointer_at(b, i), type_b, ldb, 0,
                     beta, pointer_at(c, i), type_c, ldc, 0, 1, how);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace isomer::emulator::blas

// Of types that are named.
static inline cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, const void* alpha,
    const void* a, cudaDataType_t type_a, int lda, long long stride_a, const void* b, cudaDataType_t type_b,
    int ldb, long long stride_b, const void* beta, void* c, cudaDataType_t type_c, int ldc,
    long long stride_c, int count, isomer::emulator::blas::Compute how,
    cublasGemmAlgo_t = CUBLAS_GEMM_DEFAULT) {
  namespace blas = isomer::emulator::blas;
  const cudaDataType_t scale = blas::scale_type(how.type, type_c);
  return blas::recorded(h, blas::gemm_strided, op_a, op_b, m, n, k, {scale, alpha}, a, type_a, lda, stride_a, b,
                                                  type_b, ldb, stride_b, {scale, beta}, c, type_c, ldc, stride_c,
                                                  count, blas::computes(how.type));
}
static inline cublasStatus_t cublasGemmBatchedEx(
    cublasHandle_t h, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k, const void* alpha,
    const void* const a[], cudaDataType_t type_a, int lda, const void* const b[], cudaDataType_t type_b, int ldb,
    const void* beta, void* const c[], cudaDataType_t type_c, int ldc, int count, isomer::emulator::blas::Compute how,
    cublasGemmAlgo_t = CUBLAS_GEMM_DEFAULT) {
  namespace blas = isomer::emulator::blas;
  const cudaDataType_t scale = blas::scale_type(how.type, type_c);
  return blas::recorded(h, blas::gemm_list_of_types, op_a, op_b, m, n, k, {scale, alpha}, a, type_a, lda, b,
                                                        type_b, ldb, {scale, beta}, c, type_c, ldc, count,
                                                        blas::computes(how.type));
}
static inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a,
                                          cublasOperation_t op_b, int m, int n, int k, const void* alpha,
                                          const void* a, cudaDataType_t type_a, int lda, const void* b,
                                          cudaDataType_t type_b, int ldb, const void* beta, void* c,
                                          cudaDataType_t type_c, int ldc,
                                          isomer::emulator::blas::Compute compute,
                                          cublasGemmAlgo_t algo = CUBLAS_GEMM_DEFAULT) {
  return cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, a, type_a, lda, 0, b, type_b, ldb, 0,
                                    beta, c, type_c, ldc, 0, 1, compute, algo);
}

#include "blas_names.h"
