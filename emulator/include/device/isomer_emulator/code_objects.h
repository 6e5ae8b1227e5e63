// What a program compiles while it runs, and the code objects that it loads. A code object of the emulator's is a
// short text that names a built module; those of a real device are refused.
#pragma once

#include "abi.h"

extern "C" {
/// A source with the headers that it may name, as NVRTC and hipRTC take it.
void* isomer_emulator_program(const char* source, const char* name, int headers, const char* const* texts,
                              const char* const* names);
void isomer_emulator_program_destroy(void* program);
/// A kernel that the program shall have, as an expression: `scale<float>`.
void isomer_emulator_program_expression(void* program, const char* expression);
/// 0, or an error that the log tells.
int isomer_emulator_program_compile(void* program, int count, const char* const* options);
/// Texts with their final zero; each belongs to the program.
const char* isomer_emulator_program_log(void* program, std::size_t* bytes);
const char* isomer_emulator_program_code(void* program, std::size_t* bytes);
/// The name by which an expression's kernel is found in the module; null where it was not named before.
const char* isomer_emulator_program_lowered(void* program, const char* expression);

/// Each gives a runtime's error code.
int isomer_emulator_module_load(void** module, const char* path);
int isomer_emulator_module_load_data(void** module, const void* image);
/// Whether so many bytes are a code object of the emulator's; what else they are, a refusal says. `name`: by which the
/// program knows them, or empty.
int isomer_emulator_module_is_ours(const void* image, std::size_t bytes, const char* call, const char* name);
/// A file of machine code that is not there, read as if a build had made it of the source beside the program; -1 for
/// any other.
int isomer_emulator_code_object_file(const char* path);
int isomer_emulator_module_function(const void** function, void* module, const char* name);
int isomer_emulator_module_global(void** address, std::size_t* bytes, void* module, const char* name);
int isomer_emulator_module_unload(void* module);
/// A launch whose arguments lie one behind the other, each where its type's alignment puts it.
int isomer_emulator_launch_packed(const isomer::emulator::LaunchRequest* request, const void* function,
                                  const void* bytes, std::size_t size);
}

/// A kernel's attribute by its number in the driver API's list; false where the list has no such number.
template <class Attributes>
bool isomer_emulator_attribute(const Attributes& of, int number, int* value) {
  const int values[] = {of.maxThreadsPerBlock,
                        static_cast<int>(of.sharedSizeBytes),
                        static_cast<int>(of.constSizeBytes),
                        static_cast<int>(of.localSizeBytes),
                        of.numRegs,
                        of.ptxVersion,
                        of.binaryVersion,
                        of.cacheModeCA,
                        of.maxDynamicSharedSizeBytes,
                        of.preferredShmemCarveout};
  constexpr int count = sizeof values / sizeof values[0];
  if (value == nullptr || number < 0 || number >= count) return false;
  *value = values[number];
  return true;
}
