// The linker of the driver's API. It takes one code object that nvrtc has compiled while the program runs and gives it
// back as it is; whatever is a device's own is refused with what it is.
#pragma once

// Included by driver.h.

enum CUjitInputType {
  CU_JIT_INPUT_CUBIN = 0,
  CU_JIT_INPUT_PTX = 1,
  CU_JIT_INPUT_FATBINARY = 2,
  CU_JIT_INPUT_OBJECT = 3,
  CU_JIT_INPUT_LIBRARY = 4,
  CU_JIT_INPUT_NVVM = 5
};
struct CUlinkState_st {
  const void* image = nullptr;
  std::size_t bytes = 0;
};
typedef CUlinkState_st* CUlinkState;

template <class Options>
static inline CUresult cuLinkCreate(unsigned, Options, void**, CUlinkState* state) {
  *state = new CUlinkState_st;
  return CUDA_SUCCESS;
}
static inline CUresult cuLinkDestroy(CUlinkState state) {
  delete state;
  return CUDA_SUCCESS;
}
template <class Options>
static inline CUresult cuLinkAddData(CUlinkState state, CUjitInputType, void* data, std::size_t bytes,
                                     const char* name, unsigned, Options, void**) {
  if (const int error = isomer_emulator_module_is_ours(data, bytes, "cuLinkAddData", name ? name : ""))
    return isomer_emulator_cu(error);
  if (state->image != nullptr)
    return isomer_emulator_cu(isomer_emulator_refuse(
        CUDA_ERROR_NOT_SUPPORTED, "cuLinkAddData: a second code object: the emulator links one, which stays as it is"));
  state->image = data;
  state->bytes = bytes;
  return CUDA_SUCCESS;
}
template <class Options>
static inline CUresult cuLinkAddFile(CUlinkState, CUjitInputType, const char* path, unsigned, Options, void**) {
  char sentence[512];
  std::snprintf(sentence, sizeof sentence,
                "cuLinkAddFile of %s: the emulator links no files; it loads those beside which their sources lie (cuModuleLoad)",
                path);
  return isomer_emulator_cu(isomer_emulator_refuse(CUDA_ERROR_NOT_SUPPORTED, sentence));
}
static inline CUresult cuLinkComplete(CUlinkState state, void** image, std::size_t* bytes) {
  if (state->image == nullptr)
    return isomer_emulator_cu(
        isomer_emulator_refuse(CUDA_ERROR_NOT_SUPPORTED, "cuLinkComplete: nothing was linked"));
  *image = const_cast<void*>(state->image);
  if (bytes) *bytes = state->bytes;
  return CUDA_SUCCESS;
}
