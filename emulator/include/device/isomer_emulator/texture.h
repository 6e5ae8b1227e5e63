// Texture objects over linear memory, pitched rows and arrays of one, two or three dimensions, with layers and
// as cubes: points and linear filtering with the hardware's eight bits of fraction, the four ways to treat what
// lies outside, and values read as they are or as fractions of their type.
#pragma once

#include <cstring>
#include <limits>
#include <type_traits>

#include "cmath.h"
#include "language.h"
#include "small_float.h"

namespace isomer::emulator {

struct TexelFormat {
  int bits[4] = {0, 0, 0, 0};  ///< of each channel; 0: none
  int kind = 0;                ///< 0 signed, 1 unsigned, 2 float
  int channels = 0;
  std::size_t bytes = 0;
  TexelFormat() = default;
  TexelFormat(int x, int y, int z, int w, int how)
      : bits{x, y, z, w},
        kind(how),
        channels((x > 0) + (y > 0) + (z > 0) + (w > 0)),
        bytes(static_cast<std::size_t>(x + y + z + w) / 8) {}
};

struct Texture {
  const char* begin = nullptr;
  std::size_t width = 0, height = 0, depth = 0, pitch = 0;  ///< in texels; the pitch in bytes
  TexelFormat format;
  int address[3] = {1, 1, 1};  ///< 0 wrap, 1 clamp, 2 mirror, 3 border
  bool linear = false, normalized_values = false, normalized_coordinates = false;
  bool is_cube = false;
};

/// The texel's bytes are read by the kernel, the texture's own description is not memory of the device.
template <class C>
__attribute__((noinline)) C fetched(const char* at) {
  return *reinterpret_cast<const C*>(at);
}

#define ISOMER_EMULATOR_UNSEEN __attribute__((no_sanitize_thread, noinline))

struct TexelValue {
  double v[4] = {0, 0, 0, 0};
};

ISOMER_EMULATOR_UNSEEN inline TexelValue texel(const Texture& t, long x, long y, long z) {
  TexelValue out;
  const auto w = static_cast<long>(t.width), h = static_cast<long>(t.height > 0 ? t.height : 1),
             d = static_cast<long>(t.depth > 0 ? t.depth : 1);
  if (x < 0 || y < 0 || z < 0 || x >= w || y >= h || z >= d) return out;
  const char* at = t.begin + (static_cast<std::size_t>(z * h + y)) * t.pitch +
                   static_cast<std::size_t>(x) * t.format.bytes;
  for (int c = 0; c < t.format.channels; ++c, at += t.format.bits[c - 1] / 8) {
    const int bits = t.format.bits[c];
    double value = 0, largest = 1;
    if (t.format.kind == 2) {
      value = bits == 32 ? fetched<float>(at) : static_cast<double>(decode16<Float16Format>(fetched<unsigned short>(at)));
    } else if (t.format.kind == 0) {
      value = bits == 8 ? fetched<signed char>(at) : bits == 16 ? fetched<short>(at) : fetched<int>(at);
      largest = bits == 8 ? 127 : bits == 16 ? 32767 : 2147483647;
    } else {
      value = bits == 8    ? fetched<unsigned char>(at)
              : bits == 16 ? fetched<unsigned short>(at)
                           : fetched<unsigned>(at);
      largest = bits == 8 ? 255 : bits == 16 ? 65535 : 4294967295.0;
    }
    out.v[c] = t.normalized_values && t.format.kind != 2 ? std::fmax(-1.0, value / largest) : value;
  }
  return out;
}

/// Where a coordinate leads; −1: to the border.
ISOMER_EMULATOR_UNSEEN inline long addressed(long i, std::size_t size, int way) {
  const auto n = static_cast<long>(size > 0 ? size : 1);
  if (i >= 0 && i < n) return i;
  if (way == 0) return ((i % n) + n) % n;
  if (way == 1) return i < 0 ? 0 : n - 1;
  if (way == 2) {
    const long turned = ((i % (2 * n)) + 2 * n) % (2 * n);
    return turned < n ? turned : 2 * n - 1 - turned;
  }
  return -1;
}

/// `layer`: of an array with layers, which are not filtered; one that there is not is the nearest that there is.
ISOMER_EMULATOR_UNSEEN inline TexelValue sampled(unsigned long long object, const float* at, int dimensions,
                                                 long layer = 0) {
  const Texture& t = *reinterpret_cast<const Texture*>(object);
  const std::size_t size[3] = {t.width, t.height, t.depth};
  long low[3] = {0, 0, 0};
  double part[3] = {0, 0, 0};
  for (int d = 0; d < dimensions; ++d) {
    double x = at[d] * (t.normalized_coordinates ? static_cast<double>(size[d]) : 1.0);
    if (t.linear) x -= 0.5;
    const double floor = std::floor(x);
    low[d] = static_cast<long>(std::fmax(-1e9, std::fmin(1e9, floor)));
    // The fraction has eight bits.
    if (t.linear) part[d] = std::floor((x - floor) * 256 + 0.5) / 256;
  }
  TexelValue sum;
  for (int corner = 0; corner < (t.linear ? 1 << dimensions : 1); ++corner) {
    double weight = 1;
    const long last = t.depth > 0 ? static_cast<long>(t.depth) - 1 : 0;
    long i[3] = {0, 0, layer < 0 ? 0 : layer > last ? last : layer};
    for (int d = 0; d < dimensions; ++d) {
      const bool upper = ((corner >> d) & 1) != 0;
      weight *= t.linear ? (upper ? part[d] : 1 - part[d]) : 1;
      // Wrapping and mirroring are for normalized coordinates; others are clamped.
      const int way = !t.normalized_coordinates && t.address[d] != 3 ? 1 : t.address[d];
      i[d] = addressed(low[d] + (upper ? 1 : 0), size[d], way);
    }
    if (weight == 0 || i[0] < 0 || i[1] < 0 || i[2] < 0) continue;
    const TexelValue v = texel(t, i[0], i[1], i[2]);
    for (int c = 0; c < 4; ++c) sum.v[c] += weight * v.v[c];
  }
  return sum;
}
/// The face of a cube to which a direction points, and where: the faces are +x, −x, +y, −y, +z, −z, and each
/// is filtered by itself.
ISOMER_EMULATOR_UNSEEN inline TexelValue sampled_cube(unsigned long long object, float x, float y, float z,
                                                      long cube = 0) {
  const float far[3] = {std::fabs(x), std::fabs(y), std::fabs(z)};
  const int axis = far[0] >= far[1] && far[0] >= far[2] ? 0 : far[1] >= far[2] ? 1 : 2;
  const bool back = (axis == 0 ? x : axis == 1 ? y : z) < 0;
  const float s = axis == 0 ? (back ? z : -z) : axis == 1 ? x : (back ? -x : x);
  const float t = axis == 1 ? (back ? -z : z) : -y;
  const float at[2] = {(s / far[axis] + 1) / 2, (t / far[axis] + 1) / 2};
  return sampled(object, at, 2, cube * 6 + axis * 2 + (back ? 1 : 0));
}
ISOMER_EMULATOR_UNSEEN inline TexelValue fetched_texel(unsigned long long object, long i) {
  return texel(*reinterpret_cast<const Texture*>(object), i, 0, 0);
}

template <class T, class = void>
struct TexelOf {
  static T make(const TexelValue& v) { return static_cast<T>(v.v[0]); }
};
template <class T>
struct TexelOf<T, std::void_t<decltype(T::x)>> {
  static T make(const TexelValue& v) {
    T out{};
    using C = decltype(out.x);
    C values[4] = {static_cast<C>(v.v[0]), static_cast<C>(v.v[1]), static_cast<C>(v.v[2]),
                   static_cast<C>(v.v[3])};
    __builtin_memcpy(&out, values, sizeof(T) < sizeof values ? sizeof(T) : sizeof values);
    return out;
  }
};
#undef ISOMER_EMULATOR_UNSEEN

}  // namespace isomer::emulator

template <class T>
ISOMER_EMULATOR_INLINE T tex1Dfetch(unsigned long long object, int i) {
  return isomer::emulator::TexelOf<T>::make(isomer::emulator::fetched_texel(object, i));
}
template <class T>
ISOMER_EMULATOR_INLINE T tex1D(unsigned long long object, float x) {
  const float at[1] = {x};
  return isomer::emulator::TexelOf<T>::make(isomer::emulator::sampled(object, at, 1));
}
template <class T>
ISOMER_EMULATOR_INLINE T tex2D(unsigned long long object, float x, float y) {
  const float at[2] = {x, y};
  return isomer::emulator::TexelOf<T>::make(isomer::emulator::sampled(object, at, 2));
}
template <class T>
ISOMER_EMULATOR_INLINE T tex3D(unsigned long long object, float x, float y, float z) {
  const float at[3] = {x, y, z};
  return isomer::emulator::TexelOf<T>::make(isomer::emulator::sampled(object, at, 3));
}
template <class T>
ISOMER_EMULATOR_INLINE T tex1DLayered(unsigned long long object, float x, int layer) {
  const float at[1] = {x};
  return isomer::emulator::TexelOf<T>::make(isomer::emulator::sampled(object, at, 1, layer));
}
template <class T>
ISOMER_EMULATOR_INLINE T tex2DLayered(unsigned long long object, float x, float y, int layer) {
  const float at[2] = {x, y};
  return isomer::emulator::TexelOf<T>::make(isomer::emulator::sampled(object, at, 2, layer));
}
template <class T>
ISOMER_EMULATOR_INLINE T texCubemap(unsigned long long object, float x, float y, float z) {
  return isomer::emulator::TexelOf<T>::make(isomer::emulator::sampled_cube(object, x, y, z));
}
template <class T>
ISOMER_EMULATOR_INLINE T texCubemapLayered(unsigned long long object, float x, float y, float z, int layer) {
  return isomer::emulator::TexelOf<T>::make(isomer::emulator::sampled_cube(object, x, y, z, layer));
}
// There is one level.
template <class T>
ISOMER_EMULATOR_INLINE T tex2DLod(unsigned long long object, float x, float y, float) {
  return tex2D<T>(object, x, y);
}
template <class T>
ISOMER_EMULATOR_INLINE void tex1Dfetch(T* out, unsigned long long object, int i) {
  *out = tex1Dfetch<T>(object, i);
}
template <class T>
ISOMER_EMULATOR_INLINE void tex2D(T* out, unsigned long long object, float x, float y) {
  *out = tex2D<T>(object, x, y);
}
