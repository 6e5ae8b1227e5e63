// The seam through which a module's functions are called from outside: plain values in, plain values out.
#pragma once

#include <cstddef>
#include <cstdint>

namespace isomer::emulator {

enum class CallKind : std::int32_t { none, tensor, integer, real, boolean, text, dtype, list };

/// Element types by number: none, f64, f32, f16, bf16, e4m3fn, e5m2, e4m3fnuz, e5m2fnuz, i8, i32, i64, u8,
/// i16, bool.
inline constexpr int kCallElements = 15;
inline constexpr int kCallElementBytes[kCallElements] = {0, 8, 4, 2, 2, 1, 1, 1, 1, 1, 4, 8, 1, 2, 1};
static_assert(kCallElementBytes[13] == sizeof(std::int16_t) && kCallElementBytes[14] == sizeof(bool));

/// A strided view of a whole buffer; strides in elements.
struct CallTensor {
  void* data;
  void* storage;
  std::uint64_t storage_bytes;
  std::int32_t element;
  std::int32_t rank;
  std::int64_t shape[8];
  std::int64_t strides[8];
};

struct CallValue {
  CallKind kind;
  std::int32_t element;  ///< of a dtype
  std::int64_t integer;  ///< also of a boolean, and of a real that is whole
  double real;
  const char* text;
  const CallTensor* tensor;
  const CallValue* items;
  std::uint64_t count;
};

enum class CallEnd : std::int32_t { returned, refused, not_callable, out_of_memory, unknown_element };

/// What a call tells: `entered` once the arguments are made, `give` for each result, `end` where it does not
/// return. `keep`, where it is not null, takes over a tensor that was given, as a caller that holds it does,
/// until it calls `let_go`.
struct CallOutcome {
  void* context;
  void (*entered)(void* context);
  void (*give)(void* context, const CallValue* value);
  void (*end)(void* context, CallEnd end, const char* message);
  void (*keep)(void* context, void* result, void (*let_go)(void* result));
};

/// What a list of numbers becomes behind a pointer.
enum class CallNumber : std::int32_t { none, boolean, integer, real };

/// What a pointer parameter is given, and the memory that was made for it.
struct CallPointer {
  void* address;
  void* own;
};

/// How a bare kernel is launched.
struct CallLaunch {
  const char* kernel;
  const char* file;
  unsigned line;
  std::uint32_t grid[3];
  std::uint32_t block[3];
  std::uint64_t shared_bytes;
};

enum class CallForm : std::int32_t { kernel, function, exported };

struct CallSignature {
  const char* const* types;  ///< mangled, each as a pointer to the parameter's type
  std::uint32_t count;
  const char* result;  ///< mangled
  int possible;        ///< every parameter can be made from a value
};

using CallInvoke = void (*)(const void* state, const CallValue* values, const CallLaunch* launch,
                            CallOutcome* outcome);

struct CallEntry {
  CallForm form;
  const char* name;
  const void* address;  ///< of the function; null for an object
  const void* state;
  const CallSignature* signature;
  CallInvoke invoke;
  const char* file;
  unsigned line;
  const char*
      parameters;  ///< one line each: type, tab, name, tab, default; empty where the source says nothing
};

/// What a module that was compiled for a real device knows of it. Errors are the runtime's own numbers, 0 is
/// success.
struct DeviceTable {
  const char* runtime;                           ///< "CUDA" or "HIP"
  int (*name)(char* text, std::uint64_t bytes);  ///< of the device
  int (*allocate)(void** out, std::uint64_t bytes);
  int (*release)(void* p);
  int (*copy)(void* to, const void* from, std::uint64_t bytes);  ///< either side on the host or the device
  int (*fill)(void* to, int byte, std::uint64_t bytes);
  int (*wait)();        ///< for all work: the error that it ended with
  int (*last_error)();  ///< of a launch that was refused; forgets it
  const char* (*error_text)(int error);
  int (*begin_timing)();               ///< what is launched from here waits until `end_timing`'s mark is set
  int (*end_timing)(double* seconds);  ///< waits; the device's time between the two marks
};

}  // namespace isomer::emulator

extern "C" {
void isomer_emulator_register_device(const isomer::emulator::DeviceTable* table);
void isomer_emulator_register_entry(const isomer::emulator::CallEntry* entry);
// What a value is as a parameter. Each throws where it does not fit.
[[noreturn]] void isomer_emulator_mismatch(const char* wanted, const isomer::emulator::CallValue* got);
std::int64_t isomer_emulator_integer_of(const isomer::emulator::CallValue* value, bool boolean);
double isomer_emulator_real_of(const isomer::emulator::CallValue* value);
/// `bytes` of an element: those of a list's numbers; a text fits behind pointers to single bytes.
void isomer_emulator_pointer_of(isomer::emulator::CallPointer* made, const isomer::emulator::CallValue* value,
                                isomer::emulator::CallNumber number, std::size_t bytes);
void isomer_emulator_release_pointer(isomer::emulator::CallPointer* made);
/// In a handler: tells the outcome what was thrown. `argument`: the one that was being made, 0 none;
/// `describe`: knows more kinds of exceptions, and may be null.
void isomer_emulator_call_threw(isomer::emulator::CallOutcome* out, std::uint32_t argument,
                                bool (*describe)(isomer::emulator::CallOutcome&));
/// A function that registers exported entries when the module is looked into; it may throw.
void isomer_emulator_register_exports(void (*exports)());
}
