// nvrtc for tests: what it compiles is run by the emulator, 32 lanes to a warp.
#include <cstring>

#include "compiler.hpp"
#include "fault.hpp"

using isomer::stand_in::Program;

#define API extern "C" __attribute__((visibility("default")))

API int nvrtcVersion(int* major, int* minor) {
  *major = isomer::stand_in::planted("old-compiler") ? 11 : 13;
  *minor = 0;
  return 0;
}

API int nvrtcCreateProgram(Program** program, const char* text, const char* name, int headers,
                           const char* const* texts, const char* const* names) {
  *program = isomer::stand_in::create("cuda", 32, text, name, headers, texts, names);
  return 0;
}

API int nvrtcDestroyProgram(Program** program) {
  delete *program;
  *program = nullptr;
  return 0;
}

API int nvrtcCompileProgram(Program* program, int count, const char* const* options) {
  return static_cast<int>(isomer::stand_in::compile(*program, "--gpu-architecture=", count, options));
}

// Sizes of texts count the terminating zero.
API int nvrtcGetProgramLogSize(Program* program, std::size_t* size) {
  *size = program->log.size() + 1;
  return 0;
}

API int nvrtcGetProgramLog(Program* program, char* log) {
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return 0;
}

API int nvrtcGetCUBINSize(Program* program, std::size_t* size) {
  *size = program->code.size();
  return 0;
}

API int nvrtcGetCUBIN(Program* program, char* code) {
  std::memcpy(code, program->code.data(), program->code.size());
  return 0;
}

API const char* nvrtcGetErrorString(int result) {
  return result == 0 ? "success" : result == 5 ? "invalid option" : "compilation";
}
