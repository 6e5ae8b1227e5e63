// Arithmetic of short vectors as CUDA's samples write it: operators of elements, and the functions of shading
// languages. Every one works on two, three and four elements.
#pragma once

#include <cmath>

#include "cuda_runtime.h"
#include "isomer_emulator/vector_operators.h"

typedef unsigned int uint;
typedef unsigned short ushort;

#define ISOMER_EMULATOR_MAKE(T, NAME)                                                           \
  inline NAME##2 make_##NAME##2(T s) { return make_##NAME##2(s, s); }                           \
  inline NAME##2 make_##NAME##2(NAME##3 a) { return make_##NAME##2(a.x, a.y); }                 \
  inline NAME##3 make_##NAME##3(T s) { return make_##NAME##3(s, s, s); }                        \
  inline NAME##3 make_##NAME##3(NAME##2 a) { return make_##NAME##3(a.x, a.y, T(0)); }           \
  inline NAME##3 make_##NAME##3(NAME##2 a, T s) { return make_##NAME##3(a.x, a.y, s); }         \
  inline NAME##3 make_##NAME##3(NAME##4 a) { return make_##NAME##3(a.x, a.y, a.z); }            \
  inline NAME##4 make_##NAME##4(T s) { return make_##NAME##4(s, s, s, s); }                     \
  inline NAME##4 make_##NAME##4(NAME##3 a) { return make_##NAME##4(a.x, a.y, a.z, T(0)); }      \
  inline NAME##4 make_##NAME##4(NAME##3 a, T w) { return make_##NAME##4(a.x, a.y, a.z, w); }
ISOMER_EMULATOR_MAKE(float, float)
ISOMER_EMULATOR_MAKE(int, int)
ISOMER_EMULATOR_MAKE(uint, uint)
#undef ISOMER_EMULATOR_MAKE

#define ISOMER_EMULATOR_CAST(TO, FROM)                                                           \
  inline TO##2 make_##TO##2(FROM##2 a) {                                                         \
    using T = isomer::emulator::Element<TO##2>;                                                  \
    return make_##TO##2(T(a.x), T(a.y));                                                         \
  }                                                                                              \
  inline TO##3 make_##TO##3(FROM##3 a) {                                                         \
    using T = isomer::emulator::Element<TO##3>;                                                  \
    return make_##TO##3(T(a.x), T(a.y), T(a.z));                                                 \
  }                                                                                              \
  inline TO##4 make_##TO##4(FROM##4 a) {                                                         \
    using T = isomer::emulator::Element<TO##4>;                                                  \
    return make_##TO##4(T(a.x), T(a.y), T(a.z), T(a.w));                                         \
  }
ISOMER_EMULATOR_CAST(float, int)
ISOMER_EMULATOR_CAST(float, uint)
ISOMER_EMULATOR_CAST(int, float)
ISOMER_EMULATOR_CAST(int, uint)
ISOMER_EMULATOR_CAST(uint, int)
#undef ISOMER_EMULATOR_CAST

namespace isomer::emulator {
/// f of each element, of one to three vectors.
template <class V, class F, class... More>
V each(F f, V a, More... more) {
  for (int i = 0; i < Vector<V>::size; ++i) element(a, i) = static_cast<Element<V>>(f(element(a, i), element(more, i)...));
  return a;
}
template <class V>
using IfReal = std::enable_if_t<(Vector<V>::size > 1) && std::is_floating_point_v<Element<V>>, int>;
template <class V>
using IfShort = std::enable_if_t<(Vector<V>::size > 1), int>;
}  // namespace isomer::emulator

template <class V, isomer::emulator::IfShort<V> = 0>
V min(V a, V b) {
  return isomer::emulator::each([](auto x, auto y) { return y < x ? y : x; }, a, b);
}
template <class V, isomer::emulator::IfShort<V> = 0>
V max(V a, V b) {
  return isomer::emulator::each([](auto x, auto y) { return x < y ? y : x; }, a, b);
}
template <class V, isomer::emulator::IfReal<V> = 0>
V fminf(V a, V b) {
  return isomer::emulator::each([](float x, float y) { return std::fmin(x, y); }, a, b);
}
template <class V, isomer::emulator::IfReal<V> = 0>
V fmaxf(V a, V b) {
  return isomer::emulator::each([](float x, float y) { return std::fmax(x, y); }, a, b);
}
inline float lerp(float a, float b, float t) { return a + t * (b - a); }
template <class V, isomer::emulator::IfReal<V> = 0>
V lerp(V a, V b, float t) {
  return a + t * (b - a);
}
inline float clamp(float x, float a, float b) { return std::fmax(a, std::fmin(x, b)); }
inline int clamp(int x, int a, int b) { return x > b ? (b < a ? a : b) : x < a ? a : x; }
inline uint clamp(uint x, uint a, uint b) { return x > b ? (b < a ? a : b) : x < a ? a : x; }
template <class V, isomer::emulator::IfShort<V> = 0>
V clamp(V x, V a, V b) {
  return max(a, min(x, b));
}
template <class V, isomer::emulator::IfShort<V> = 0>
V clamp(V x, isomer::emulator::Element<V> a, isomer::emulator::Element<V> b) {
  return isomer::emulator::each([a, b](auto e) { return clamp(e, a, b); }, x);
}
template <class V, isomer::emulator::IfShort<V> = 0>
isomer::emulator::Element<V> dot(V a, V b) {
  isomer::emulator::Element<V> sum = isomer::emulator::element(a, 0) * isomer::emulator::element(b, 0);
  for (int i = 1; i < isomer::emulator::Vector<V>::size; ++i)
    sum += isomer::emulator::element(a, i) * isomer::emulator::element(b, i);
  return sum;
}
template <class V, isomer::emulator::IfReal<V> = 0>
float length(V v) {
  return std::sqrt(dot(v, v));
}
template <class V, isomer::emulator::IfReal<V> = 0>
V normalize(V v) {
  return v * (1.0f / std::sqrt(dot(v, v)));
}
template <class V, isomer::emulator::IfReal<V> = 0>
V floorf(V v) {
  return isomer::emulator::each([](float x) { return std::floor(x); }, v);
}
inline float fracf(float v) { return v - std::floor(v); }
template <class V, isomer::emulator::IfReal<V> = 0>
V fracf(V v) {
  return isomer::emulator::each([](float x) { return fracf(x); }, v);
}
template <class V, isomer::emulator::IfReal<V> = 0>
V fmodf(V a, V b) {
  return isomer::emulator::each([](float x, float y) { return std::fmod(x, y); }, a, b);
}
template <class V, isomer::emulator::IfReal<V> = 0>
V fabs(V v) {
  return isomer::emulator::each([](float x) { return std::fabs(x); }, v);
}
template <class V, isomer::emulator::IfShort<V> = 0>
V abs(V v) {
  return isomer::emulator::each([](auto x) { return x < 0 ? -x : x; }, v);
}
template <class V, isomer::emulator::IfReal<V> = 0>
V reflect(V i, V n) {
  return i - 2.0f * n * dot(n, i);
}
inline float3 cross(float3 a, float3 b) {
  return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
inline float smoothstep(float a, float b, float x) {
  const float y = clamp((x - a) / (b - a), 0.0f, 1.0f);
  return y * y * (3.0f - 2.0f * y);
}
template <class V, isomer::emulator::IfReal<V> = 0>
V smoothstep(V a, V b, V x) {
  return isomer::emulator::each([](float p, float q, float r) { return smoothstep(p, q, r); }, a, b, x);
}
