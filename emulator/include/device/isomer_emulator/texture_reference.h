// Texture references, `texture<float, 2> t;`, which CUDA had before texture objects and until version 12: variables of
// the program that a call binds to memory and that device code reads by their names.
#pragma once

#include <cstddef>
#include <type_traits>

#if defined(ISOMER_EMULATOR_HIP)
#include <hip/hip_runtime.h>
#define ISOMER_EMULATOR_API(NAME) hip##NAME
#else
#include <cuda_runtime.h>
#define ISOMER_EMULATOR_API(NAME) cuda##NAME
#endif
#define API ISOMER_EMULATOR_API
#define ISOMER_EMULATOR_UNSEEN __attribute__((no_sanitize_thread, noinline))

enum { API(TextureType1D) = 1, API(TextureType2D) = 2, API(TextureType3D) = 3 };

struct textureReference {
  int normalized = 0;
  API(TextureFilterMode) filterMode = API(FilterModePoint);
  API(TextureAddressMode) addressMode[3] = {API(AddressModeClamp), API(AddressModeClamp), API(AddressModeClamp)};
  API(ChannelFormatDesc) channelDesc{};
  int sRGB = 0;
  unsigned maxAnisotropy = 0;
  mutable isomer::emulator::Texture bound;
  mutable bool bound_to_rows = false;  ///< or to an array; else to linear memory, which nothing filters

  /// As it is to be read now: its members may be set at any time before the launch.
  ISOMER_EMULATOR_UNSEEN isomer::emulator::Texture now(bool fractions) const {
    isomer::emulator::Texture t = bound;
    for (int i = 0; i < 3; ++i) t.address[i] = addressMode[i];
    t.linear = filterMode == API(FilterModeLinear) && bound_to_rows;
    t.normalized_values = fractions;
    t.normalized_coordinates = normalized != 0;
    return t;
  }
};

template <class T, int Dimensions = 1, API(TextureReadMode) Mode = API(ReadModeElementType)>
struct texture : textureReference {
  explicit texture(int coordinates = 0, API(TextureFilterMode) filter = API(FilterModePoint),
                   API(TextureAddressMode) address = API(AddressModeClamp)) {
    normalized = coordinates;
    filterMode = filter;
    for (auto& each : addressMode) each = address;
    channelDesc = API(CreateChannelDesc)<T>();
  }
};

namespace isomer::emulator {

template <class T, class = void>
struct FractionOf {
  using type = float;
};
template <class T>
struct FractionOf<T, std::void_t<decltype(T::x)>> {
  static constexpr int count = sizeof(T) / sizeof(decltype(T::x));
  using type = std::conditional_t<count == 1, float1, std::conditional_t<count == 2, float2, float4>>;
};
template <class T, API(TextureReadMode) Mode>
using Fetched = std::conditional_t<Mode == API(ReadModeNormalizedFloat), typename FractionOf<T>::type, T>;

template <class T, int D, API(TextureReadMode) Mode>
ISOMER_EMULATOR_UNSEEN Fetched<T, Mode> sampled_at(const texture<T, D, Mode>& t, float x, float y, float z, int dimensions) {
  const Texture now = t.now(Mode == API(ReadModeNormalizedFloat));
  const float at[3] = {x, y, z};
  return TexelOf<Fetched<T, Mode>>::make(sampled(reinterpret_cast<unsigned long long>(&now), at, dimensions));
}
template <class T, int D, API(TextureReadMode) Mode>
ISOMER_EMULATOR_UNSEEN Fetched<T, Mode> fetched_at(const texture<T, D, Mode>& t, int i) {
  const Texture now = t.now(Mode == API(ReadModeNormalizedFloat));
  return TexelOf<Fetched<T, Mode>>::make(texel(now, i, 0, 0));
}

inline const textureReference& reference_of(const textureReference& t) { return t; }
inline const textureReference& reference_of(const textureReference* t) { return *t; }
inline const API(ChannelFormatDesc) & format_of(const API(ChannelFormatDesc) & f) { return f; }
inline const API(ChannelFormatDesc) & format_of(const API(ChannelFormatDesc) * f) { return *f; }

inline API(Error_t) bind(const textureReference& t, const void* begin, const API(ChannelFormatDesc) & f,
                         std::size_t width, std::size_t height, std::size_t depth, std::size_t pitch, bool rows) {
  if (begin == nullptr) return static_cast<API(Error_t)>(isomer_emulator_fail(API(ErrorInvalidValue)));
  t.bound.begin = static_cast<const char*>(begin);
  t.bound.format = {f.x, f.y, f.z, f.w, f.f};
  t.bound.width = width, t.bound.height = height, t.bound.depth = depth, t.bound.pitch = pitch;
  t.bound_to_rows = rows;
  return API(Success);
}

}  // namespace isomer::emulator

template <class T, int D, API(TextureReadMode) Mode>
auto tex1Dfetch(const texture<T, D, Mode>& t, int i) {
  return isomer::emulator::fetched_at(t, i);
}
template <class T, int D, API(TextureReadMode) Mode>
auto tex1D(const texture<T, D, Mode>& t, float x) {
  return isomer::emulator::sampled_at(t, x, 0, 0, 1);
}
template <class T, int D, API(TextureReadMode) Mode>
auto tex2D(const texture<T, D, Mode>& t, float x, float y) {
  return isomer::emulator::sampled_at(t, x, y, 0, 2);
}
template <class T, int D, API(TextureReadMode) Mode>
auto tex3D(const texture<T, D, Mode>& t, float x, float y, float z) {
  return isomer::emulator::sampled_at(t, x, y, z, 3);
}

template <class Reference, class Format>
API(Error_t) API(BindTexture)(std::size_t* offset, const Reference& reference, const void* begin, const Format& format,
                              std::size_t bytes) {
  if (offset) *offset = 0;
  const auto& f = isomer::emulator::format_of(format);
  const std::size_t texel = static_cast<std::size_t>(f.x + f.y + f.z + f.w) / 8;
  std::size_t whole = 0;
  isomer_emulator_pointer_kind(begin, &whole);
  if (whole != 0 && bytes > whole) bytes = whole;
  return isomer::emulator::bind(isomer::emulator::reference_of(reference), begin, f, bytes / texel, 0, 0, bytes, false);
}
template <class T, int D, API(TextureReadMode) Mode>
API(Error_t) API(BindTexture)(std::size_t* offset, const texture<T, D, Mode>& t, const void* begin,
                              std::size_t bytes = ~0u) {
  return API(BindTexture)(offset, t, begin, t.channelDesc, bytes);
}
template <class T, int D, API(TextureReadMode) Mode>
API(Error_t) API(BindTexture)(std::size_t* offset, const texture<T, D, Mode>& t, const void* begin,
                              const API(ChannelFormatDesc) & format) {
  return API(BindTexture)(offset, t, begin, format, ~0u);
}
template <class Reference, class Format>
API(Error_t) API(BindTexture2D)(std::size_t* offset, const Reference& reference, const void* begin,
                                const Format& format, std::size_t width, std::size_t height, std::size_t pitch) {
  if (offset) *offset = 0;
  return isomer::emulator::bind(isomer::emulator::reference_of(reference), begin, isomer::emulator::format_of(format),
                                width, height, 0, pitch, true);
}
template <class T, int D, API(TextureReadMode) Mode>
API(Error_t) API(BindTexture2D)(std::size_t* offset, const texture<T, D, Mode>& t, const void* begin, std::size_t width,
                                std::size_t height, std::size_t pitch) {
  return API(BindTexture2D)(offset, t, begin, t.channelDesc, width, height, pitch);
}
template <class Reference>
API(Error_t) API(BindTextureToArray)(const Reference& reference, API(Array_const_t) array) {
  return isomer::emulator::bind(isomer::emulator::reference_of(reference), array->data, array->format,
                                array->extent.width, array->extent.height, array->extent.depth, array->pitch(), true);
}
template <class Reference, class Format>
API(Error_t) API(BindTextureToArray)(const Reference& reference, API(Array_const_t) array, const Format&) {
  return API(BindTextureToArray)(reference, array);
}
template <class Reference>
API(Error_t) API(UnbindTexture)(const Reference& reference) {
  isomer::emulator::reference_of(reference).bound = {};
  return API(Success);
}
inline API(Error_t) API(GetTextureReference)(const textureReference** out, const void* symbol) {
  *out = static_cast<const textureReference*>(symbol);
  return API(Success);
}

#undef API
#undef ISOMER_EMULATOR_API
#undef ISOMER_EMULATOR_UNSEEN
