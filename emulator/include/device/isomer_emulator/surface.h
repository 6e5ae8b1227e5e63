// Surface objects over arrays: texels are read and written where they lie, and x counts bytes.
#pragma once

#include "language.h"

namespace isomer::emulator {

struct Surface {
  char* begin = nullptr;
  unsigned long width = 0, height = 0, depth = 0, pitch = 0;  ///< the width and the pitch in bytes
};

/// Null for what lies outside of the array. `mode`: 0 zero, 1 clamp, 2 trap.
__attribute__((no_sanitize_thread, noinline)) inline char* texel_of(const Surface* s, long x, long y, long z,
                                                                    long bytes, int mode) {
  const long width = static_cast<long>(s->width), height = s->height > 0 ? static_cast<long>(s->height) : 1,
             depth = s->depth > 0 ? static_cast<long>(s->depth) : 1;
  if (mode == 1) {
    const auto held = [](long at, long end) { return at < 0 ? 0 : at >= end ? end - 1 : at; };
    x = held(x / bytes, width / bytes) * bytes, y = held(y, height), z = held(z, depth);
  }
  const bool inside = x >= 0 && x + bytes <= width && y >= 0 && y < height && z >= 0 && z < depth;
  if (!inside && mode == 2) isomer_emulator_trap("reaches beyond a surface, which traps");
  return inside ? s->begin + static_cast<unsigned long>(z * height + y) * s->pitch + x : nullptr;
}
template <class T>
ISOMER_EMULATOR_INLINE T surface_read(unsigned long long object, long x, long y, long z, int mode) {
  const char* at = texel_of(reinterpret_cast<const Surface*>(object), x, y, z, sizeof(T), mode);
  return at ? *reinterpret_cast<const T*>(at) : T{};
}
template <class T>
ISOMER_EMULATOR_INLINE void surface_write(const T& value, unsigned long long object, long x, long y, long z,
                                          int mode) {
  char* at = texel_of(reinterpret_cast<const Surface*>(object), x, y, z, sizeof(T), mode);
  if (at) *reinterpret_cast<T*>(at) = value;
}

}  // namespace isomer::emulator

// The boundary mode is a number in the runtimes' enumerations: 2 traps.
template <class T>
ISOMER_EMULATOR_INLINE T surf1Dread(unsigned long long s, int x, int mode = 2) {
  return isomer::emulator::surface_read<T>(s, x, 0, 0, mode);
}
template <class T>
ISOMER_EMULATOR_INLINE void surf1Dread(T* to, unsigned long long s, int x, int mode = 2) {
  *to = isomer::emulator::surface_read<T>(s, x, 0, 0, mode);
}
template <class T>
ISOMER_EMULATOR_INLINE void surf1Dwrite(T value, unsigned long long s, int x, int mode = 2) {
  isomer::emulator::surface_write(value, s, x, 0, 0, mode);
}
template <class T>
ISOMER_EMULATOR_INLINE T surf2Dread(unsigned long long s, int x, int y, int mode = 2) {
  return isomer::emulator::surface_read<T>(s, x, y, 0, mode);
}
template <class T>
ISOMER_EMULATOR_INLINE void surf2Dread(T* to, unsigned long long s, int x, int y, int mode = 2) {
  *to = isomer::emulator::surface_read<T>(s, x, y, 0, mode);
}
template <class T>
ISOMER_EMULATOR_INLINE void surf2Dwrite(T value, unsigned long long s, int x, int y, int mode = 2) {
  isomer::emulator::surface_write(value, s, x, y, 0, mode);
}
template <class T>
ISOMER_EMULATOR_INLINE T surf3Dread(unsigned long long s, int x, int y, int z, int mode = 2) {
  return isomer::emulator::surface_read<T>(s, x, y, z, mode);
}
template <class T>
ISOMER_EMULATOR_INLINE void surf3Dread(T* to, unsigned long long s, int x, int y, int z, int mode = 2) {
  *to = isomer::emulator::surface_read<T>(s, x, y, z, mode);
}
template <class T>
ISOMER_EMULATOR_INLINE void surf3Dwrite(T value, unsigned long long s, int x, int y, int z, int mode = 2) {
  isomer::emulator::surface_write(value, s, x, y, z, mode);
}
