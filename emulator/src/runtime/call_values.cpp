// Plain values as the parameters of a module's functions, and what ends a call before it returns.
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "isomer_emulator/call_mismatch.h"
#include "isomer_emulator/entries_abi.h"

namespace isomer::emulator {
namespace {

const char* kind_word(CallKind kind) {
  const char* const words[] = {"nothing",   "a tensor", "an integer", "a real number",
                               "a boolean", "a text",   "a dtype",    "a list"};
  return words[static_cast<int>(kind)];
}

bool is_whole(const CallValue& v) {
  return v.kind == CallKind::integer || v.kind == CallKind::boolean ||
         (v.kind == CallKind::real && v.real == static_cast<double>(v.integer));
}

template <class T>
void put(std::byte* to, T number) {
  std::memcpy(to, &number, sizeof number);
}

void put_number(std::byte* to, const CallValue& v, CallNumber number, std::size_t bytes) {
  if (number == CallNumber::real) {
    const double real = isomer_emulator_real_of(&v);
    if (bytes == sizeof(float)) return put(to, static_cast<float>(real));
    if (bytes == sizeof(double)) return put(to, real);
    return put(to, static_cast<long double>(real));
  }
  const std::int64_t integer = isomer_emulator_integer_of(&v, number == CallNumber::boolean);
  if (number == CallNumber::boolean) return put(to, integer != 0);
  // Little-endian, as every machine that this runs on.
  const std::byte sign{static_cast<unsigned char>(integer < 0 ? 0xff : 0)};
  for (std::size_t i = 0; i < bytes; ++i)
    to[i] = i < sizeof integer ? static_cast<std::byte>(integer >> (8 * i)) : sign;
}

}  // namespace
}  // namespace isomer::emulator

using namespace isomer::emulator;

#define EXPORT __attribute__((visibility("default")))
extern "C" {

EXPORT void isomer_emulator_mismatch(const char* wanted, const CallValue* got) {
  throw CallMismatch(std::string("expected ") + wanted + ", got " + kind_word(got->kind));
}

EXPORT std::int64_t isomer_emulator_integer_of(const CallValue* value, bool boolean) {
  if (!is_whole(*value)) isomer_emulator_mismatch(boolean ? "a boolean" : "an integer", value);
  return value->integer;
}

EXPORT double isomer_emulator_real_of(const CallValue* value) {
  if (value->kind == CallKind::integer || value->kind == CallKind::boolean)
    return static_cast<double>(value->integer);
  if (value->kind != CallKind::real) isomer_emulator_mismatch("a real number", value);
  return value->real;
}

EXPORT void isomer_emulator_pointer_of(CallPointer* made, const CallValue* value, CallNumber number,
                                       std::size_t bytes) {
  if (value->kind == CallKind::tensor) {
    made->address = value->tensor->data;
  } else if (value->kind == CallKind::none) {
    made->address = nullptr;
  } else if (value->kind == CallKind::text && bytes == 1) {
    made->address = made->own = ::strdup(value->text);
    if (made->own == nullptr) throw std::bad_alloc();
  } else if (value->kind == CallKind::list && number != CallNumber::none) {
    // One more than there are, so that an empty list has an address.
    auto* numbers = static_cast<std::byte*>(std::calloc(value->count + 1, bytes));
    if (numbers == nullptr) throw std::bad_alloc();
    made->address = made->own = numbers;
    for (std::uint64_t i = 0; i < value->count; ++i)
      put_number(numbers + i * bytes, value->items[i], number, bytes);
  } else {
    isomer_emulator_mismatch("a tensor for a pointer", value);
  }
}

EXPORT void isomer_emulator_release_pointer(CallPointer* made) { std::free(made->own); }

EXPORT void isomer_emulator_call_threw(CallOutcome* out, std::uint32_t argument,
                                       bool (*describe)(CallOutcome&)) {
  try {
    throw;
  } catch (const CallMismatch& e) {
    const std::string which = argument > 0 ? "argument " + std::to_string(argument) + ": " : "";
    const bool unknown = dynamic_cast<const UnknownElement*>(&e) != nullptr;
    out->end(out->context, unknown ? CallEnd::unknown_element : CallEnd::not_callable,
             (which + e.what()).c_str());
    return;
  } catch (...) {
  }
  if (describe != nullptr && describe(*out)) return;
  try {
    throw;
  } catch (const std::bad_alloc&) {
    out->end(out->context, CallEnd::out_of_memory, "it asked for more host memory than the limit allows");
  } catch (const std::exception& e) {
    out->end(out->context, CallEnd::refused, e.what());
  } catch (...) {
    out->end(out->context, CallEnd::refused, "an exception that is no std::exception");
  }
}
}
