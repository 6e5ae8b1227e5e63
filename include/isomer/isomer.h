/* The stable C ABI of Isomer. This header includes nothing.
 *
 * Every function returns a status: 0, or an isomer_status and a sentence in isomer_last_error() of the
 * calling thread. Nothing throws, prints or aborts, and after ISOMER_BAD_ARGUMENT nothing was written.
 *
 * An op takes its tensors and its options in two structs. Both begin with their own size and start from an
 * _INIT macro, which holds the defaults:
 *
 *   isomer_sin_args args = ISOMER_SIN_ARGS_INIT;
 *   args.x = &x;
 *   args.y = &y;
 *   isomer_status status = isomer_sin(queue, &args, NULL);
 *
 * Fields that a later version appends keep their defaults for programs built against an earlier one. A null
 * tensor is an optional argument that is not given; null options are all defaults. An int that answers yes or
 * no is 0 or not 0; a double is rounded to f32. What each argument means, with shapes and dtypes, stands in
 * the C++ header of the op under the same name. */
#ifndef ISOMER_ISOMER_H
#define ISOMER_ISOMER_H

#ifdef __cplusplus
extern "C" {
#endif

/* What stands before every function of the library. */
#define ISOMER_C_API __attribute__((visibility("default")))

typedef __INT32_TYPE__ isomer_int32;   /* int32_t */
typedef __INT64_TYPE__ isomer_int64;   /* int64_t */
typedef __UINT64_TYPE__ isomer_uint64; /* uint64_t */

/* DLPack 1.1's DLDevice. */
typedef struct isomer_device {
  isomer_int32 device_type; /* ISOMER_CPU … */
  isomer_int32 device_id;   /* which of that type's; 0 on the CPU */
} isomer_device;

/* DLPack's DLDataType. */
typedef struct isomer_data_type {
  unsigned char code;   /* kDLInt 0, kDLUInt 1, kDLFloat 2, kDLBfloat 4, kDLFloat8_* 7 to 14 */
  unsigned char bits;   /* of one element */
  unsigned short lanes; /* 1 */
} isomer_data_type;

/* Layout-identical to DLPack 1.1's DLTensor: pass a DLTensor* where an isomer_tensor* is asked. */
typedef struct isomer_tensor {
  void* data;                /* memory of the device */
  isomer_device device;      /* whose memory it is */
  isomer_int32 ndim;         /* dimensions, up to 8 */
  isomer_data_type dtype;    /* of its elements */
  isomer_int64* shape;       /* ndim sizes */
  isomer_int64* strides;     /* in elements; null for compact row-major */
  isomer_uint64 byte_offset; /* of the first element from data */
} isomer_tensor;

/* Device types by DLPack's numbers. */
enum {
  ISOMER_CPU = 1,      /* the host */
  ISOMER_CUDA = 2,     /* an NVIDIA GPU */
  ISOMER_HIP = 10,     /* an AMD GPU */
  ISOMER_EMULATED = 12 /* GPU kernels on the CPU, in programs that link the emulator */
};

#ifdef __cplusplus
/* A data type by DLPack's code. */
#define ISOMER_DATA_TYPE(code, bits) (isomer_data_type{code, bits, 1})
#else
#define ISOMER_DATA_TYPE(code, bits) ((isomer_data_type){code, bits, 1})
#endif
#define ISOMER_F64 ISOMER_DATA_TYPE(2, 64)      /* 64-bit float */
#define ISOMER_F32 ISOMER_DATA_TYPE(2, 32)      /* 32-bit float */
#define ISOMER_F16 ISOMER_DATA_TYPE(2, 16)      /* 16-bit float */
#define ISOMER_BF16 ISOMER_DATA_TYPE(4, 16)     /* bfloat16 */
#define ISOMER_E4M3FN ISOMER_DATA_TYPE(10, 8)   /* OCP 8-bit float e4m3 */
#define ISOMER_E4M3FNUZ ISOMER_DATA_TYPE(11, 8) /* AMD MI300's form of e4m3 */
#define ISOMER_E5M2 ISOMER_DATA_TYPE(12, 8)     /* OCP 8-bit float e5m2 */
#define ISOMER_E5M2FNUZ ISOMER_DATA_TYPE(13, 8) /* AMD MI300's form of e5m2 */
#define ISOMER_I8 ISOMER_DATA_TYPE(0, 8)        /* 8-bit integer */
#define ISOMER_I32 ISOMER_DATA_TYPE(0, 32)      /* 32-bit integer */
#define ISOMER_I64 ISOMER_DATA_TYPE(0, 64)      /* 64-bit integer */
#define ISOMER_U8 ISOMER_DATA_TYPE(1, 8)        /* 8-bit unsigned integer */
#define ISOMER_I16 ISOMER_DATA_TYPE(0, 16)      /* 16-bit integer; of no operation */

/* What every function returns. */
typedef enum isomer_status {
  ISOMER_OK = 0,            /* it is done, or in the queue */
  ISOMER_BAD_ARGUMENT = 1,  /* a clause of the op's contract does not hold; nothing was written */
  ISOMER_UNSUPPORTED = 2,   /* valid, but no implementation on this machine accepts it */
  ISOMER_OUT_OF_MEMORY = 3, /* workspace could not be allocated; nothing was written */
  ISOMER_DEVICE = 4,        /* the device or its driver reported a failure */
  ISOMER_IO = 5,            /* a file could not be read or written, or is not what it claims to be */
  ISOMER_INTERNAL = 6       /* a fault of the library */
} isomer_status;

/* The version of the library that runs, "0.1.0". */
ISOMER_C_API const char* isomer_version(void);

/* The sentence of the last call that failed on this thread; "" where none did. Valid until this thread's next
 * failure. */
ISOMER_C_API const char* isomer_last_error(void);

/* Queues
 * -----------------------------------------------------------------------------------------------------------
 */

/* One piece of work, on the thread of that number. */
typedef void (*isomer_task)(void* task_context, isomer_int64 index, int worker);
/* Runs the library's CPU work on threads of the caller's. Both functions are called from any thread; see
 * isomer/executor.hpp for what they promise. The struct is copied; the context must outlive the queue. */
typedef struct isomer_executor {
  isomer_uint64 size; /* sizeof(isomer_executor) */
  void* context;      /* handed to both functions */
  /* Threads that work at once, always the same number. */
  int (*concurrency)(void* context);
  /* Calls the task for every index below count and returns when all have returned. */
  void (*parallel_for)(void* context, isomer_int64 count, isomer_task task, void* task_context);
} isomer_executor;
#define ISOMER_EXECUTOR_INIT \
  { sizeof(isomer_executor), 0, 0, 0 }

/* How ops of a queue are chosen and run. */
typedef struct isomer_queue_options {
  isomer_uint64 size;              /* sizeof(isomer_queue_options) */
  const char* implementation;      /* take this one ("cpu/avx2") or fail; null: the registry chooses */
  const isomer_executor* executor; /* null: the library's own pool */
  int threads;                     /* a pool of that many threads; 0: the library's standard pool */
  int checked;                     /* validate device data before each op; on the CPU it always is */
} isomer_queue_options;
#define ISOMER_QUEUE_OPTIONS_INIT \
  { sizeof(isomer_queue_options), 0, 0, 0, 0 }

/* Where ops run, in order. A queue may be used from several threads. */
typedef struct isomer_queue isomer_queue;

/* The GPU where there is one, otherwise the CPU. */
ISOMER_C_API isomer_status isomer_queue_best(const isomer_queue_options* options, isomer_queue** queue);
/* The CPU: an op has finished when its call returns. */
ISOMER_C_API isomer_status isomer_queue_cpu(const isomer_queue_options* options, isomer_queue** queue);
/* A stream of that device: `stream` is a CUstream or hipStream_t of the caller's, which outlives the queue;
 * null makes one. On the CPU stream must be null. */
ISOMER_C_API isomer_status isomer_queue_on(isomer_device device, void* stream,
                                           const isomer_queue_options* options, isomer_queue** queue);
/* Another handle of the queue, freed like any, for making ready what will run on it. An op called on it does
 * all that a first call does but computing: it validates, chooses, compiles and loads its kernels and makes
 * the queue's workspace large enough; it writes nothing. Afterwards a call with tensors of the same shapes,
 * strides, alignment and dtypes on the queue compiles, loads and allocates nothing, and may be captured into
 * a graph. A captured graph holds memory of the queue's: the queue must outlive it, and the graph is launched
 * into the queue's stream. */
ISOMER_C_API isomer_status isomer_queue_preparing(const isomer_queue* queue, isomer_queue** preparing);
/* Where the queue is. */
ISOMER_C_API isomer_status isomer_queue_device(const isomer_queue* queue, isomer_device* device);
/* The queue's stream: null on the CPU. */
ISOMER_C_API isomer_status isomer_queue_stream(const isomer_queue* queue, void** stream);
/* Waits until everything that was put into the queue has finished. */
ISOMER_C_API isomer_status isomer_queue_synchronize(isomer_queue* queue);
ISOMER_C_API void isomer_queue_free(isomer_queue* queue); /* gives the handle back; null is fine */

/* Memory of a queue's pool. */
typedef struct isomer_lease isomer_lease;
/* Memory for work of the caller's that is put into the queue while the lease lasts: at least `bytes` of the
 * queue's device, 64-byte aligned. */
ISOMER_C_API isomer_status isomer_queue_lease(const isomer_queue* queue, isomer_uint64 bytes,
                                              isomer_lease** lease, void** data);
ISOMER_C_API void isomer_lease_free(isomer_lease* lease); /* gives the memory back; null is fine */

/* Devices: isomer/devices.hpp
 * -----------------------------------------------------------------------------------------
 */

/* What a device is. */
typedef struct isomer_device_info {
  isomer_uint64 size;        /* sizeof(isomer_device_info) */
  isomer_device device;      /* as isomer_queue_on takes it */
  isomer_int64 memory_bytes; /* of a GPU; 0 on the CPU */
  char name[128];            /* "CPU", "NVIDIA H200"; cut where it is longer */
  char architecture[64];     /* the CPU's instruction set ("avx512"), "sm_90a", "gfx942" */
} isomer_device_info;
#define ISOMER_DEVICE_INFO_INIT                       \
  {                                                   \
    sizeof(isomer_device_info), {0, 0}, 0, {0}, { 0 } \
  }

/* How many devices queues can be made on: the CPU, which is the first, and the GPUs of vendors whose driver
 * is there. The first call loads the drivers. */
ISOMER_C_API isomer_status isomer_device_count(isomer_int64* count);
/* The device of that index, 0 to count − 1. */
ISOMER_C_API isomer_status isomer_device_info_of(isomer_int64 index, isomer_device_info* info);

/* Plans: isomer/plan.hpp
 * ---------------------------------------------------------------------------------------------- */

/* A call that is validated and planned once, by isomer_plan_sin and its siblings beside each op, and runs
 * many times with its tensors elsewhere. It holds its queue, and none of the tensors, structs and handles
 * that it was made with. A plan may be used from several threads at once. */
typedef struct isomer_plan isomer_plan;

/* What a run of a plan works in. */
typedef struct isomer_plan_run_options {
  isomer_uint64 size;            /* sizeof(isomer_plan_run_options) */
  void* workspace;               /* the caller's memory to work in, 64-byte aligned; null: the queue's own */
  isomer_uint64 workspace_bytes; /* of it: isomer_plan_workspace_bytes or more */
} isomer_plan_run_options;
#define ISOMER_PLAN_RUN_OPTIONS_INIT \
  { sizeof(isomer_plan_run_options), 0, 0 }

/* Runs the op on the plan's queue. `args` is the args struct of the plan's op, isomer_sin_args* for a plan of
 * isomer_plan_sin. Every tensor must be as then in dtype, shape, strides and device, and on a GPU its address
 * must be a multiple of the power of two, up to 256 bytes, that the plan's was; ISOMER_BAD_ARGUMENT where one
 * is not, with nothing written. Null options are all defaults. */
ISOMER_C_API isomer_status isomer_plan_run(const isomer_plan* plan, const void* args,
                                           const isomer_plan_run_options* options);
/* Does ahead what the first run would do beside computing: compiles and loads the kernels and makes the
 * queue's workspace large enough. Afterwards a run compiles, loads and allocates nothing, and may be captured
 * into a graph. */
ISOMER_C_API isomer_status isomer_plan_prepare(const isomer_plan* plan);
/* Bytes that a run works in, of the queue's device. */
ISOMER_C_API isomer_status isomer_plan_workspace_bytes(const isomer_plan* plan, isomer_uint64* bytes);
/* The implementation that runs, "cpu/avx2"; alive as long as the plan. */
ISOMER_C_API isomer_status isomer_plan_implementation(const isomer_plan* plan, const char** name);
/* What the plan runs, as one JSON object (to_json of isomer/explain.hpp) with a zero behind it. `bytes` gets
 * the size of both. ISOMER_BAD_ARGUMENT, with nothing written to `text`, where `capacity` is less; null text
 * with capacity 0 only asks. */
ISOMER_C_API isomer_status isomer_plan_explain(const isomer_plan* plan, char* text, isomer_uint64 capacity,
                                               isomer_uint64* bytes);
ISOMER_C_API void isomer_plan_free(isomer_plan* plan); /* gives the plan back; null is fine */

/* sin: isomer/sin.hpp
 * ---------------------------------------------------------------------------------------------- */

typedef struct isomer_sin_args {
  isomer_uint64 size;
  const isomer_tensor* x;
  const isomer_tensor* y;
} isomer_sin_args;
#define ISOMER_SIN_ARGS_INIT \
  { sizeof(isomer_sin_args), 0, 0 }

typedef struct isomer_sin_options {
  isomer_uint64 size;
} isomer_sin_options;
#define ISOMER_SIN_OPTIONS_INIT \
  { sizeof(isomer_sin_options) }

ISOMER_C_API isomer_status isomer_sin(isomer_queue* queue, const isomer_sin_args* args,
                                      const isomer_sin_options* options);
ISOMER_C_API isomer_status isomer_plan_sin(isomer_queue* queue, const isomer_sin_args* args,
                                           const isomer_sin_options* options, isomer_plan** plan);

/* act_quant: isomer/act_quant.hpp
 * --------------------------------------------------------------------------------- */

/* How a scale is rounded. Either way it is stored as f32. */
enum {
  ISOMER_SCALE_FORMAT_F32 = 0,  /* amax / 448 as it is */
  ISOMER_SCALE_FORMAT_UE8M0 = 1 /* the smallest power of two that is not below it */
};
/* How the scales of a matrix lie in memory. */
enum {
  ISOMER_SCALE_LAYOUT_ROW_MAJOR = 0,   /* those of one row are adjacent */
  ISOMER_SCALE_LAYOUT_COLUMN_MAJOR = 1 /* those of one column are adjacent */
};

typedef struct isomer_act_quant_args {
  isomer_uint64 size;
  const isomer_tensor* x;
  const isomer_tensor* y;
  const isomer_tensor* s;
} isomer_act_quant_args;
#define ISOMER_ACT_QUANT_ARGS_INIT \
  { sizeof(isomer_act_quant_args), 0, 0, 0 }

typedef struct isomer_act_quant_options {
  isomer_uint64 size;
  isomer_int64 block_size;
  double amax_floor;
  int scale_format; /* ISOMER_SCALE_FORMAT_… */
  int scale_layout; /* ISOMER_SCALE_LAYOUT_… */
} isomer_act_quant_options;
#define ISOMER_ACT_QUANT_OPTIONS_INIT \
  { sizeof(isomer_act_quant_options), 128, 1e-4, 0, 0 }

ISOMER_C_API isomer_status isomer_act_quant(isomer_queue* queue, const isomer_act_quant_args* args,
                                            const isomer_act_quant_options* options);
ISOMER_C_API isomer_status isomer_plan_act_quant(isomer_queue* queue, const isomer_act_quant_args* args,
                                                 const isomer_act_quant_options* options, isomer_plan** plan);

/* silu_mul_quant: isomer/silu_mul_quant.hpp
 * ----------------------------------------------------------------------- */

typedef struct isomer_silu_mul_quant_args {
  isomer_uint64 size;
  const isomer_tensor* x;
  const isomer_tensor* y;
  const isomer_tensor* s;
  const isomer_tensor* row_counts;
} isomer_silu_mul_quant_args;
#define ISOMER_SILU_MUL_QUANT_ARGS_INIT \
  { sizeof(isomer_silu_mul_quant_args), 0, 0, 0, 0 }

typedef struct isomer_silu_mul_quant_options {
  isomer_uint64 size;
  double amax_floor;
  int scale_format; /* ISOMER_SCALE_FORMAT_… */
  int scale_layout; /* ISOMER_SCALE_LAYOUT_… */
} isomer_silu_mul_quant_options;
#define ISOMER_SILU_MUL_QUANT_OPTIONS_INIT \
  { sizeof(isomer_silu_mul_quant_options), 1e-4, 0, 0 }

ISOMER_C_API isomer_status isomer_silu_mul_quant(isomer_queue* queue, const isomer_silu_mul_quant_args* args,
                                                 const isomer_silu_mul_quant_options* options);
ISOMER_C_API isomer_status isomer_plan_silu_mul_quant(isomer_queue* queue,
                                                      const isomer_silu_mul_quant_args* args,
                                                      const isomer_silu_mul_quant_options* options,
                                                      isomer_plan** plan);

/* weight_dequant: isomer/weight_dequant.hpp
 * ----------------------------------------------------------------------- */

typedef struct isomer_weight_dequant_args {
  isomer_uint64 size;
  const isomer_tensor* x;
  const isomer_tensor* s;
  const isomer_tensor* y;
} isomer_weight_dequant_args;
#define ISOMER_WEIGHT_DEQUANT_ARGS_INIT \
  { sizeof(isomer_weight_dequant_args), 0, 0, 0 }

typedef struct isomer_weight_dequant_options {
  isomer_uint64 size;
  isomer_int64 block_size;
} isomer_weight_dequant_options;
#define ISOMER_WEIGHT_DEQUANT_OPTIONS_INIT \
  { sizeof(isomer_weight_dequant_options), 128 }

ISOMER_C_API isomer_status isomer_weight_dequant(isomer_queue* queue, const isomer_weight_dequant_args* args,
                                                 const isomer_weight_dequant_options* options);
ISOMER_C_API isomer_status isomer_plan_weight_dequant(isomer_queue* queue,
                                                      const isomer_weight_dequant_args* args,
                                                      const isomer_weight_dequant_options* options,
                                                      isomer_plan** plan);

/* weight_quant: isomer/weight_quant.hpp
 * --------------------------------------------------------------------------- */

typedef struct isomer_weight_quant_args {
  isomer_uint64 size;
  const isomer_tensor* x;
  const isomer_tensor* y;
  const isomer_tensor* s;
} isomer_weight_quant_args;
#define ISOMER_WEIGHT_QUANT_ARGS_INIT \
  { sizeof(isomer_weight_quant_args), 0, 0, 0 }

typedef struct isomer_weight_quant_options {
  isomer_uint64 size;
  isomer_int64 block_size;
  double amax_floor;
  int scale_format; /* ISOMER_SCALE_FORMAT_… */
  int scale_layout; /* ISOMER_SCALE_LAYOUT_… */
} isomer_weight_quant_options;
#define ISOMER_WEIGHT_QUANT_OPTIONS_INIT \
  { sizeof(isomer_weight_quant_options), 128, 1e-4, 0, 0 }

ISOMER_C_API isomer_status isomer_weight_quant(isomer_queue* queue, const isomer_weight_quant_args* args,
                                               const isomer_weight_quant_options* options);
ISOMER_C_API isomer_status isomer_plan_weight_quant(isomer_queue* queue, const isomer_weight_quant_args* args,
                                                    const isomer_weight_quant_options* options,
                                                    isomer_plan** plan);

/* fp8_gemm, grouped_fp8_gemm: isomer/fp8_gemm.hpp
 * ----------------------------------------------------------------- */

typedef struct isomer_fp8_gemm_args {
  isomer_uint64 size;
  const isomer_tensor* a;
  const isomer_tensor* a_s;
  const isomer_tensor* b;
  const isomer_tensor* b_s;
  const isomer_tensor* c;
  const isomer_tensor* bias;
  const isomer_tensor* addend;
} isomer_fp8_gemm_args;
#define ISOMER_FP8_GEMM_ARGS_INIT \
  { sizeof(isomer_fp8_gemm_args), 0, 0, 0, 0, 0, 0, 0 }

typedef struct isomer_fp8_gemm_options {
  isomer_uint64 size;
  isomer_int64 b_ready; /* 1: nothing that is still under way in the queue writes b */
} isomer_fp8_gemm_options;
#define ISOMER_FP8_GEMM_OPTIONS_INIT \
  { sizeof(isomer_fp8_gemm_options), 0 }

ISOMER_C_API isomer_status isomer_fp8_gemm(isomer_queue* queue, const isomer_fp8_gemm_args* args,
                                           const isomer_fp8_gemm_options* options);
ISOMER_C_API isomer_status isomer_plan_fp8_gemm(isomer_queue* queue, const isomer_fp8_gemm_args* args,
                                                const isomer_fp8_gemm_options* options, isomer_plan** plan);

typedef struct isomer_grouped_fp8_gemm_args {
  isomer_uint64 size;
  const isomer_tensor* a;
  const isomer_tensor* a_s;
  const isomer_tensor* b;
  const isomer_tensor* b_s;
  const isomer_tensor* c;
  const isomer_tensor* expert_ids;
  const isomer_tensor* row_counts;
  const isomer_tensor* bias;
  const isomer_tensor* addend;
} isomer_grouped_fp8_gemm_args;
#define ISOMER_GROUPED_FP8_GEMM_ARGS_INIT \
  { sizeof(isomer_grouped_fp8_gemm_args), 0, 0, 0, 0, 0, 0, 0, 0, 0 }

typedef struct isomer_grouped_fp8_gemm_options {
  isomer_uint64 size;
} isomer_grouped_fp8_gemm_options;
#define ISOMER_GROUPED_FP8_GEMM_OPTIONS_INIT \
  { sizeof(isomer_grouped_fp8_gemm_options) }

ISOMER_C_API isomer_status isomer_grouped_fp8_gemm(isomer_queue* queue,
                                                   const isomer_grouped_fp8_gemm_args* args,
                                                   const isomer_grouped_fp8_gemm_options* options);
ISOMER_C_API isomer_status isomer_plan_grouped_fp8_gemm(isomer_queue* queue,
                                                        const isomer_grouped_fp8_gemm_args* args,
                                                        const isomer_grouped_fp8_gemm_options* options,
                                                        isomer_plan** plan);

/* fp8_linear: isomer/fp8_linear.hpp
 * ------------------------------------------------------------------------------- */

typedef struct isomer_fp8_linear_args {
  isomer_uint64 size;
  const isomer_tensor* x;
  const isomer_tensor* b;
  const isomer_tensor* b_s;
  const isomer_tensor* c;
  const isomer_tensor* bias;
  const isomer_tensor* addend;
} isomer_fp8_linear_args;
#define ISOMER_FP8_LINEAR_ARGS_INIT \
  { sizeof(isomer_fp8_linear_args), 0, 0, 0, 0, 0, 0 }

typedef struct isomer_fp8_linear_options {
  isomer_uint64 size;
  int scale_format; /* ISOMER_SCALE_FORMAT_… */
  double amax_floor;
  isomer_int64 b_ready; /* 1: nothing that is still under way in the queue writes b */
} isomer_fp8_linear_options;
#define ISOMER_FP8_LINEAR_OPTIONS_INIT \
  { sizeof(isomer_fp8_linear_options), 0, 1e-4, 0 }

ISOMER_C_API isomer_status isomer_fp8_linear(isomer_queue* queue, const isomer_fp8_linear_args* args,
                                             const isomer_fp8_linear_options* options);
ISOMER_C_API isomer_status isomer_plan_fp8_linear(isomer_queue* queue, const isomer_fp8_linear_args* args,
                                                  const isomer_fp8_linear_options* options,
                                                  isomer_plan** plan);

/* expert_layer: isomer/expert_layer.hpp
 * --------------------------------------------------------------------------- */

typedef struct isomer_expert_layer_args {
  isomer_uint64 size;
  const isomer_tensor* a;
  const isomer_tensor* a_s;
  const isomer_tensor* gate_up;
  const isomer_tensor* gate_up_s;
  const isomer_tensor* down;
  const isomer_tensor* down_s;
  const isomer_tensor* out;
  const isomer_tensor* expert_ids;
  const isomer_tensor* row_counts;
} isomer_expert_layer_args;
#define ISOMER_EXPERT_LAYER_ARGS_INIT \
  { sizeof(isomer_expert_layer_args), 0, 0, 0, 0, 0, 0, 0, 0, 0 }

typedef struct isomer_expert_layer_options {
  isomer_uint64 size;
  int scale_format; /* ISOMER_SCALE_FORMAT_… */
  double amax_floor;
} isomer_expert_layer_options;
#define ISOMER_EXPERT_LAYER_OPTIONS_INIT \
  { sizeof(isomer_expert_layer_options), 0, 1e-4 }

ISOMER_C_API isomer_status isomer_expert_layer(isomer_queue* queue, const isomer_expert_layer_args* args,
                                               const isomer_expert_layer_options* options);
ISOMER_C_API isomer_status isomer_plan_expert_layer(isomer_queue* queue, const isomer_expert_layer_args* args,
                                                    const isomer_expert_layer_options* options,
                                                    isomer_plan** plan);

/* quantize_copy_kv: isomer/quantize_copy_kv.hpp
 * ------------------------------------------------------------------- */

typedef struct isomer_quantize_copy_kv_args {
  isomer_uint64 size;
  const isomer_tensor* k;
  const isomer_tensor* dest;
  const isomer_tensor* out;
  const isomer_tensor* out_scale;
} isomer_quantize_copy_kv_args;
#define ISOMER_QUANTIZE_COPY_KV_ARGS_INIT \
  { sizeof(isomer_quantize_copy_kv_args), 0, 0, 0, 0 }

typedef struct isomer_quantize_copy_kv_options {
  isomer_uint64 size;
  isomer_int64 group; /* channels that share a scale; 0: the whole head */
} isomer_quantize_copy_kv_options;
#define ISOMER_QUANTIZE_COPY_KV_OPTIONS_INIT \
  { sizeof(isomer_quantize_copy_kv_options), 0 }

ISOMER_C_API isomer_status isomer_quantize_copy_kv(isomer_queue* queue,
                                                   const isomer_quantize_copy_kv_args* args,
                                                   const isomer_quantize_copy_kv_options* options);
ISOMER_C_API isomer_status isomer_plan_quantize_copy_kv(isomer_queue* queue,
                                                        const isomer_quantize_copy_kv_args* args,
                                                        const isomer_quantize_copy_kv_options* options,
                                                        isomer_plan** plan);

/* flash_decode in one call and in two stages: isomer/flash_decode.hpp
 * --------------------------------------------- */

typedef struct isomer_flash_decode_args {
  isomer_uint64 size;
  const isomer_tensor* q;
  const isomer_tensor* k;
  const isomer_tensor* v;
  const isomer_tensor* req_to_tokens;
  const isomer_tensor* b_req_idx;
  const isomer_tensor* b_seqlen;
  const isomer_tensor* out;
  const isomer_tensor* k_scale; /* of int8 k and v */
  const isomer_tensor* v_scale;
} isomer_flash_decode_args;
#define ISOMER_FLASH_DECODE_ARGS_INIT \
  { sizeof(isomer_flash_decode_args), 0, 0, 0, 0, 0, 0, 0, 0, 0 }

typedef struct isomer_flash_decode_options {
  isomer_uint64 size;
  isomer_int64 block_seq; /* 0: the plan decides */
  isomer_int64 max_len;
  double scale; /* 0: 1/sqrt(D) */
} isomer_flash_decode_options;
#define ISOMER_FLASH_DECODE_OPTIONS_INIT \
  { sizeof(isomer_flash_decode_options), 0, 0, 0.0 }

ISOMER_C_API isomer_status isomer_flash_decode(isomer_queue* queue, const isomer_flash_decode_args* args,
                                               const isomer_flash_decode_options* options);
ISOMER_C_API isomer_status isomer_plan_flash_decode(isomer_queue* queue, const isomer_flash_decode_args* args,
                                                    const isomer_flash_decode_options* options,
                                                    isomer_plan** plan);

typedef struct isomer_flash_decode_stage1_args {
  isomer_uint64 size;
  const isomer_tensor* q;
  const isomer_tensor* k;
  const isomer_tensor* v;
  const isomer_tensor* req_to_tokens;
  const isomer_tensor* b_req_idx;
  const isomer_tensor* b_seqlen;
  const isomer_tensor* mid_out;
  const isomer_tensor* mid_lse;
  const isomer_tensor* k_scale;
  const isomer_tensor* v_scale;
} isomer_flash_decode_stage1_args;
#define ISOMER_FLASH_DECODE_STAGE1_ARGS_INIT \
  { sizeof(isomer_flash_decode_stage1_args), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

typedef struct isomer_flash_decode_stage1_options {
  isomer_uint64 size;
  isomer_int64 block_seq;
  isomer_int64 max_len;
  double scale;
} isomer_flash_decode_stage1_options;
#define ISOMER_FLASH_DECODE_STAGE1_OPTIONS_INIT \
  { sizeof(isomer_flash_decode_stage1_options), 256, 0, 0.0 }

ISOMER_C_API isomer_status isomer_flash_decode_stage1(isomer_queue* queue,
                                                      const isomer_flash_decode_stage1_args* args,
                                                      const isomer_flash_decode_stage1_options* options);
ISOMER_C_API isomer_status isomer_plan_flash_decode_stage1(isomer_queue* queue,
                                                           const isomer_flash_decode_stage1_args* args,
                                                           const isomer_flash_decode_stage1_options* options,
                                                           isomer_plan** plan);

typedef struct isomer_flash_decode_stage2_args {
  isomer_uint64 size;
  const isomer_tensor* mid_out;
  const isomer_tensor* mid_lse;
  const isomer_tensor* b_seqlen;
  const isomer_tensor* out;
} isomer_flash_decode_stage2_args;
#define ISOMER_FLASH_DECODE_STAGE2_ARGS_INIT \
  { sizeof(isomer_flash_decode_stage2_args), 0, 0, 0, 0 }

typedef struct isomer_flash_decode_stage2_options {
  isomer_uint64 size;
  isomer_int64 block_seq;
} isomer_flash_decode_stage2_options;
#define ISOMER_FLASH_DECODE_STAGE2_OPTIONS_INIT \
  { sizeof(isomer_flash_decode_stage2_options), 256 }

ISOMER_C_API isomer_status isomer_flash_decode_stage2(isomer_queue* queue,
                                                      const isomer_flash_decode_stage2_args* args,
                                                      const isomer_flash_decode_stage2_options* options);
ISOMER_C_API isomer_status isomer_plan_flash_decode_stage2(isomer_queue* queue,
                                                           const isomer_flash_decode_stage2_args* args,
                                                           const isomer_flash_decode_stage2_options* options,
                                                           isomer_plan** plan);

/* attention, merge_attention: isomer/attention.hpp
 * ----------------------------------------------------------------- */

typedef struct isomer_attention_args {
  isomer_uint64 size;
  const isomer_tensor* q;
  const isomer_tensor* k;
  const isomer_tensor* v;
  const isomer_tensor* out;
  const isomer_tensor* lse;
  const isomer_tensor* cu_seqlens_q;
  const isomer_tensor* cu_seqlens_k;
  const isomer_tensor* seqused_q;
  const isomer_tensor* seqused_k;
  const isomer_tensor* leftpad_k;
  const isomer_tensor* page_table;
  const isomer_tensor* kv_batch_idx;
  const isomer_tensor* k_new;
  const isomer_tensor* v_new;
  const isomer_tensor* cu_seqlens_k_new;
  const isomer_tensor* cache_seqlens;
  const isomer_tensor* rotary_cos;
  const isomer_tensor* rotary_sin;
  const isomer_tensor* q_descale;
  const isomer_tensor* k_descale;
  const isomer_tensor* v_descale;
  const isomer_tensor* sink;
  const isomer_tensor* k_scale; /* of int8 k and v */
  const isomer_tensor* v_scale;
  const isomer_tensor* qv; /* logits are scale·(q·k + qv·v) */
} isomer_attention_args;
#define ISOMER_ATTENTION_ARGS_INIT \
  { sizeof(isomer_attention_args), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* Whether something is done. */
enum {
  ISOMER_CHOICE_PLAN = 0,  /* as the plan decides */
  ISOMER_CHOICE_NEVER = 1, /* never */
  ISOMER_CHOICE_ALWAYS = 2 /* always */
};

typedef struct isomer_attention_options {
  isomer_uint64 size;
  isomer_int64 window_left;  /* −1: all */
  isomer_int64 window_right; /* −1: all */
  isomer_int64 max_seqlen_q;
  isomer_int64 max_seqlen_k;
  isomer_int64 num_splits; /* 0: the plan decides */
  isomer_int64 split_size;
  double scale; /* 0: 1/sqrt(D) */
  double softcap;
  int causal;
  int rotary_interleaved;
  int v_colmajor;
  int pack_gqa;                 /* ISOMER_CHOICE_… */
  isomer_int64 attention_chunk; /* 0: off */
} isomer_attention_options;
#define ISOMER_ATTENTION_OPTIONS_INIT \
  { sizeof(isomer_attention_options), -1, -1, 0, 0, 0, 0, 0.0, 0.0, 0, 0, 0, 0, 0 }

ISOMER_C_API isomer_status isomer_attention(isomer_queue* queue, const isomer_attention_args* args,
                                            const isomer_attention_options* options);
ISOMER_C_API isomer_status isomer_plan_attention(isomer_queue* queue, const isomer_attention_args* args,
                                                 const isomer_attention_options* options, isomer_plan** plan);

typedef struct isomer_merge_attention_args {
  isomer_uint64 size;
  const isomer_tensor* out_a;
  const isomer_tensor* lse_a;
  const isomer_tensor* out_b;
  const isomer_tensor* lse_b;
  const isomer_tensor* out;
  const isomer_tensor* lse;
} isomer_merge_attention_args;
#define ISOMER_MERGE_ATTENTION_ARGS_INIT \
  { sizeof(isomer_merge_attention_args), 0, 0, 0, 0, 0, 0 }

typedef struct isomer_merge_attention_options {
  isomer_uint64 size;
} isomer_merge_attention_options;
#define ISOMER_MERGE_ATTENTION_OPTIONS_INIT \
  { sizeof(isomer_merge_attention_options) }

ISOMER_C_API isomer_status isomer_merge_attention(isomer_queue* queue,
                                                  const isomer_merge_attention_args* args,
                                                  const isomer_merge_attention_options* options);
ISOMER_C_API isomer_status isomer_plan_merge_attention(isomer_queue* queue,
                                                       const isomer_merge_attention_args* args,
                                                       const isomer_merge_attention_options* options,
                                                       isomer_plan** plan);

/* Bundles: isomer/bundle.hpp
 * --------------------------------------------------------------------------------------- */

/* A tensor to be written. */
typedef struct isomer_named_tensor {
  const char* name;            /* by which the file has it */
  const isomer_tensor* tensor; /* in host memory */
} isomer_named_tensor;

/* An entry of a file's metadata. */
typedef struct isomer_text {
  const char* key;   /* UTF-8 */
  const char* value; /* UTF-8 */
} isomer_text;

/* Writes the tensors, in host memory, and the metadata to a safetensors file; null lists are empty. */
ISOMER_C_API isomer_status isomer_save(const char* path, const isomer_named_tensor* tensors,
                                       isomer_uint64 tensor_count, const isomer_text* metadata,
                                       isomer_uint64 metadata_count);

/* The tensors and the metadata of a file, in memory of their own. */
typedef struct isomer_bundle isomer_bundle;
/* Reads a file; ISOMER_IO where it cannot be read or breaks the format. */
ISOMER_C_API isomer_status isomer_load(const char* path, isomer_bundle** bundle);
/* How many tensors the file has. */
ISOMER_C_API isomer_uint64 isomer_bundle_size(const isomer_bundle* bundle);
/* The name of the tensor of that position, in the order of the file; null past the last. */
ISOMER_C_API const char* isomer_bundle_name(const isomer_bundle* bundle, isomer_uint64 index);
/* The tensor of that position; null past the last. Alive until the bundle is freed. */
ISOMER_C_API const isomer_tensor* isomer_bundle_tensor(const isomer_bundle* bundle, isomer_uint64 index);
/* The tensor of that name; null where there is none. */
ISOMER_C_API const isomer_tensor* isomer_bundle_find(const isomer_bundle* bundle, const char* name);
/* The text of that key; null where there is none. */
ISOMER_C_API const char* isomer_bundle_metadata(const isomer_bundle* bundle, const char* key);
ISOMER_C_API void isomer_bundle_free(isomer_bundle* bundle); /* gives it and its tensors back; null is fine */

#ifdef __cplusplus
}
#endif

#endif
