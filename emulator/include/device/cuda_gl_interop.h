#pragma once
#include "isomer_emulator/cuda_runtime.h"
#define __CUDA_GL_INTEROP_H__
#define API(NAME) cuda##NAME
#include "isomer_emulator/gl_interop.inc"
#undef API
// As programs of before CUDA 3 have it.
static inline cudaError_t cudaGLSetGLDevice(int device) { return cudaSetDevice(device); }
static inline cudaError_t cudaGLRegisterBufferObject(GLuint) { return cuda_no_graphics(); }
static inline cudaError_t cudaGLUnregisterBufferObject(GLuint) { return cuda_no_graphics(); }
static inline cudaError_t cudaGLUnmapBufferObject(GLuint) { return cuda_no_graphics(); }
static inline cudaError_t cudaGLMapBufferObject(void** pointer, GLuint) {
  *pointer = nullptr;
  return cuda_no_graphics();
}
