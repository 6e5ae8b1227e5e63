// hiprtc for tests: what it compiles is run by the emulator, 64 lanes to a warp.
#include <cstring>

#include "compiler.hpp"

using isomer::stand_in::Program;

#define API extern "C" __attribute__((visibility("default")))

API int hiprtcVersion(int* major, int* minor) {
  *major = 9;
  *minor = 0;
  return 0;
}

API int hiprtcCreateProgram(Program** program, const char* text, const char* name, int headers,
                            const char* const* texts, const char* const* names) {
  *program = isomer::stand_in::create("hip", 64, text, name, headers, texts, names);
  return 0;
}

API int hiprtcDestroyProgram(Program** program) {
  delete *program;
  *program = nullptr;
  return 0;
}

API int hiprtcCompileProgram(Program* program, int count, const char* const* options) {
  return static_cast<int>(isomer::stand_in::compile(*program, "--offload-arch=", count, options));
}

// Sizes of texts count the terminating zero.
API int hiprtcGetProgramLogSize(Program* program, std::size_t* size) {
  *size = program->log.size() + 1;
  return 0;
}

API int hiprtcGetProgramLog(Program* program, char* log) {
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return 0;
}

API int hiprtcGetCodeSize(Program* program, std::size_t* size) {
  *size = program->code.size();
  return 0;
}

API int hiprtcGetCode(Program* program, char* code) {
  std::memcpy(code, program->code.data(), program->code.size());
  return 0;
}

API const char* hiprtcGetErrorString(int result) {
  return result == 0 ? "success" : result == 5 ? "invalid option" : "compilation";
}
