#error "cublasXt.h is not on the emulated device, which is one: cublas_v2.h is"
