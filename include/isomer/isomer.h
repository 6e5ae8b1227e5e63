/* The stable C ABI of Isomer. This header includes nothing.
 *
 * Every function returns a status: 0, or an isomer_status and a sentence in isomer_last_error() of the calling thread.
 * Nothing throws, prints or aborts. Every options struct begins with its own size, set by the caller to sizeof: fields
 * that a later version appends keep their defaults for programs built against an earlier one. A null options pointer
 * means all defaults. */
#ifndef ISOMER_ISOMER_H
#define ISOMER_ISOMER_H

#ifdef __cplusplus
extern "C" {
#endif

#define ISOMER_C_API __attribute__((visibility("default")))

typedef __INT32_TYPE__ isomer_int32;
typedef __INT64_TYPE__ isomer_int64;
typedef __UINT64_TYPE__ isomer_uint64;

/* Layout-identical to DLPack 1.1's DLDevice, DLDataType and DLTensor: pass a DLTensor* where an isomer_tensor* is asked. */
typedef struct isomer_device {
  isomer_int32 device_type; /* kDLCPU 1, kDLCUDA 2, kDLROCM 10 */
  isomer_int32 device_id;
} isomer_device;

typedef struct isomer_data_type {
  unsigned char code;   /* kDLInt 0, kDLUInt 1, kDLFloat 2, kDLBfloat 4, kDLFloat8_* 7 to 14 */
  unsigned char bits;
  unsigned short lanes; /* 1 */
} isomer_data_type;

typedef struct isomer_tensor {
  void* data;
  isomer_device device;
  isomer_int32 ndim;
  isomer_data_type dtype;
  isomer_int64* shape;
  isomer_int64* strides; /* in elements; null for compact row-major */
  isomer_uint64 byte_offset;
} isomer_tensor;

/* Data types by DLPack's codes. */
#define ISOMER_F64 ((isomer_data_type){2, 64, 1})
#define ISOMER_F32 ((isomer_data_type){2, 32, 1})
#define ISOMER_F16 ((isomer_data_type){2, 16, 1})
#define ISOMER_BF16 ((isomer_data_type){4, 16, 1})
#define ISOMER_E4M3FN ((isomer_data_type){10, 8, 1})
#define ISOMER_E4M3FNUZ ((isomer_data_type){11, 8, 1})
#define ISOMER_E5M2 ((isomer_data_type){12, 8, 1})
#define ISOMER_E5M2FNUZ ((isomer_data_type){13, 8, 1})
#define ISOMER_I8 ((isomer_data_type){0, 8, 1})
#define ISOMER_I32 ((isomer_data_type){0, 32, 1})
#define ISOMER_I64 ((isomer_data_type){0, 64, 1})
#define ISOMER_U8 ((isomer_data_type){1, 8, 1})

typedef enum isomer_status {
  ISOMER_OK = 0,
  ISOMER_BAD_ARGUMENT = 1,  /* a clause of the op's contract does not hold; nothing was written */
  ISOMER_UNSUPPORTED = 2,   /* valid, but no implementation on this machine accepts it */
  ISOMER_OUT_OF_MEMORY = 3,
  ISOMER_DEVICE = 4,
  ISOMER_IO = 5,
  ISOMER_INTERNAL = 6
} isomer_status;

/* The version of the library that runs, "0.1.0". */
ISOMER_C_API const char* isomer_version(void);

/* The sentence of the last call that failed on this thread; "" where none did. Valid until this thread's next call. */
ISOMER_C_API const char* isomer_last_error(void);

/* Where ops run, in order. A queue may be used from several threads. */
typedef struct isomer_queue isomer_queue;

typedef struct isomer_queue_options {
  isomer_uint64 size;         /* sizeof(isomer_queue_options) */
  int checked;                /* validate device data before each op */
  const char* implementation; /* take this implementation or fail; null: the registry chooses */
  int threads;                /* CPU threads; 0: the library's standard pool */
} isomer_queue_options;

ISOMER_C_API isomer_status isomer_queue_best(const isomer_queue_options* options, isomer_queue** queue);
ISOMER_C_API isomer_status isomer_queue_cpu(const isomer_queue_options* options, isomer_queue** queue);
ISOMER_C_API isomer_status isomer_queue_synchronize(isomer_queue* queue);
ISOMER_C_API void isomer_queue_free(isomer_queue* queue); /* null is fine */

/* sin: see isomer/sin.hpp. */
ISOMER_C_API isomer_status isomer_sin(isomer_queue* queue, const isomer_tensor* x, const isomer_tensor* y);

#ifdef __cplusplus
}
#endif

#endif
