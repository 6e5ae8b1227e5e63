// What a module prints, as a device thread may: in the order of blocks.
#include <cstdarg>
#include <cstdio>

#include "execution/turns.hpp"

#define EXPORT __attribute__((visibility("default")))

using isomer::emulator::run_alone;

extern "C" {

EXPORT int __wrap_vprintf(const char* format, std::va_list arguments) {
  run_alone();
  return std::vprintf(format, arguments);
}
EXPORT int __wrap_printf(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const int printed = __wrap_vprintf(format, arguments);
  va_end(arguments);
  return printed;
}
EXPORT int __wrap___printf_chk(int, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const int printed = __wrap_vprintf(format, arguments);
  va_end(arguments);
  return printed;
}
EXPORT int __wrap_puts(const char* text) {
  run_alone();
  return std::puts(text);
}
EXPORT int __wrap_putchar(int c) {
  run_alone();
  return std::putchar(c);
}
}
