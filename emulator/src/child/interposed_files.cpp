// Files of machine code that a program opens and that nothing has built: by the linker's order as in
// interposed.cpp.
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

#include "child/runner.hpp"
#include "isomer_emulator/code_objects.h"

namespace {

FILE* opened(const char* path, const char* mode, const char* name) {
  const auto real = reinterpret_cast<FILE* (*)(const char*, const char*)>(dlsym(RTLD_NEXT, name));
  FILE* const file = real(path, mode);
  if (file != nullptr || errno != ENOENT || *mode != 'r' || !isomer_emulator_in_program()) return file;
  const int made = isomer_emulator_code_object_file(path);
  if (made >= 0) return fdopen(made, mode);
  errno = ENOENT;
  return nullptr;
}

}  // namespace

#define INTERPOSED __attribute__((visibility("default")))

extern "C" {
INTERPOSED FILE* fopen(const char* path, const char* mode) { return opened(path, mode, "fopen"); }
INTERPOSED FILE* fopen64(const char* path, const char* mode) { return opened(path, mode, "fopen64"); }
}
