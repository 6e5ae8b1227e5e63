// Images in the portable formats (PGM of one value, PPM of three), raw files, and comparisons of results, as
// CUDA's samples call them.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

namespace isomer::emulator {

inline bool read_image(const char* name, std::vector<unsigned char>& pixels, unsigned& width, unsigned& height,
                       unsigned& channels) {
  std::ifstream in(name, std::ios::binary);
  std::string magic;
  if (!(in >> magic) || (magic != "P5" && magic != "P6")) {
    std::cerr << name << ": no image of the kinds PGM and PPM can be read here\n";
    return false;
  }
  unsigned numbers[3] = {};
  for (unsigned& each : numbers) {
    for (in >> std::ws; in.peek() == '#'; in >> std::ws) {
      std::string comment;
      std::getline(in, comment);
    }
    in >> each;
  }
  in.get();
  width = numbers[0], height = numbers[1], channels = magic == "P5" ? 1 : 3;
  pixels.resize(std::size_t{width} * height * channels);
  return static_cast<bool>(in.read(reinterpret_cast<char*>(pixels.data()), static_cast<long>(pixels.size())));
}
inline bool write_image(const char* name, const unsigned char* pixels, unsigned width, unsigned height,
                        unsigned channels) {
  std::ofstream out(name, std::ios::binary);
  out << (channels == 1 ? "P5" : "P6") << '\n' << width << '\n' << height << '\n' << 255 << '\n';
  out.write(reinterpret_cast<const char*>(pixels), static_cast<long>(std::size_t{width} * height * channels));
  if (!out) std::cerr << name << ": the image cannot be written\n";
  return static_cast<bool>(out);
}
/// A value of a byte as a value of T: real numbers lie between 0 and 1.
template <class T>
T from_byte(unsigned char value) {
  return sizeof(T) == 1 ? static_cast<T>(value) : static_cast<T>(value / 255.0);
}
template <class T>
unsigned char to_byte(T value) {
  return static_cast<unsigned char>(sizeof(T) == 1 ? static_cast<double>(value) : value * 255.0);
}
template <class T>
T* room_for(T** data, std::size_t count) {
  if (*data == nullptr) *data = static_cast<T*>(std::malloc(count * sizeof(T)));
  return *data;
}

}  // namespace isomer::emulator

template <class T>
bool sdkLoadPGM(const char* name, T** data, unsigned* width, unsigned* height) {
  std::vector<unsigned char> pixels;
  unsigned channels = 0;
  if (!isomer::emulator::read_image(name, pixels, *width, *height, channels) || channels != 1) return false;
  T* to = isomer::emulator::room_for(data, pixels.size());
  for (std::size_t i = 0; i < pixels.size(); ++i) to[i] = isomer::emulator::from_byte<T>(pixels[i]);
  return true;
}
template <class T>
bool sdkSavePGM(const char* name, T* data, unsigned width, unsigned height) {
  std::vector<unsigned char> pixels(std::size_t{width} * height);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = isomer::emulator::to_byte(data[i]);
  return isomer::emulator::write_image(name, pixels.data(), width, height, 1);
}
inline bool __loadPPM(const char* name, unsigned char** data, unsigned* width, unsigned* height,
                      unsigned* channels) {
  std::vector<unsigned char> pixels;
  if (!isomer::emulator::read_image(name, pixels, *width, *height, *channels)) return false;
  std::memcpy(isomer::emulator::room_for(data, pixels.size()), pixels.data(), pixels.size());
  return true;
}
inline bool __savePPM(const char* name, unsigned char* data, unsigned width, unsigned height, unsigned channels) {
  return isomer::emulator::write_image(name, data, width, height, channels);
}
inline bool sdkLoadPPM4ub(const char* name, unsigned char** data, unsigned* width, unsigned* height) {
  std::vector<unsigned char> pixels;
  unsigned channels = 0;
  if (!isomer::emulator::read_image(name, pixels, *width, *height, channels) || channels != 3) return false;
  const std::size_t count = pixels.size() / 3;
  *data = static_cast<unsigned char*>(std::malloc(count * 4));
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(*data + 4 * i, &pixels[3 * i], 3);
    (*data)[4 * i + 3] = 0;
  }
  return true;
}
template <class T>
bool sdkLoadPPM4(const char* name, T** data, unsigned* width, unsigned* height) {
  return sdkLoadPPM4ub(name, reinterpret_cast<unsigned char**>(data), width, height);
}
inline bool sdkSavePPM4ub(const char* name, unsigned char* data, unsigned width, unsigned height) {
  std::vector<unsigned char> pixels(std::size_t{width} * height * 3);
  for (std::size_t i = 0; i < pixels.size() / 3; ++i) std::memcpy(&pixels[3 * i], data + 4 * i, 3);
  return isomer::emulator::write_image(name, pixels.data(), width, height, 3);
}

/// Numbers of a text file, or the bytes of any other.
template <class T>
bool sdkReadFile(const char* name, T** data, unsigned* count, bool = false) {
  std::ifstream in(name);
  std::vector<T> values;
  for (T value; in >> value;) values.push_back(value);
  if (values.empty()) return false;
  if (*data == nullptr) *count = static_cast<unsigned>(values.size());
  std::memcpy(isomer::emulator::room_for(data, values.size()), values.data(), *count * sizeof(T));
  return true;
}
template <class T, class S>
bool sdkWriteFile(const char* name, const T* data, unsigned count, const S, bool = false, bool append = false) {
  std::ofstream out(name, append ? std::ios::app : std::ios::trunc);
  for (unsigned i = 0; i < count; ++i) out << data[i] << ' ';
  return static_cast<bool>(out);
}
inline void sdkDumpBin(void* data, unsigned bytes, const char* name) {
  std::ofstream(name, std::ios::binary).write(static_cast<const char*>(data), bytes);
}

/// Whether so many values differ by no more than `epsilon`; `threshold` is the part of them that may.
template <class T, class S>
bool compareData(const T* reference, const T* data, unsigned count, const S epsilon, const float threshold) {
  std::size_t wrong = 0;
  for (unsigned i = 0; i < count; ++i) {
    const double by = static_cast<double>(reference[i]) - static_cast<double>(data[i]);
    wrong += !(by <= static_cast<double>(epsilon) && by >= -static_cast<double>(epsilon));
  }
  return static_cast<double>(wrong) <= static_cast<double>(threshold) * count;
}
/// Whether the norm of the difference is below `epsilon` of the reference's.
inline bool sdkCompareL2fe(const float* reference, const float* data, unsigned count, float epsilon) {
  double difference = 0, whole = 0;
  for (unsigned i = 0; i < count; ++i) {
    const double by = static_cast<double>(reference[i]) - static_cast<double>(data[i]);
    difference += by * by, whole += static_cast<double>(reference[i]) * reference[i];
  }
  return whole > 0 && std::sqrt(difference) / std::sqrt(whole) < epsilon;
}
template <class T>
bool isomer_emulator_same_files(const char* one, const char* other, std::size_t count, float epsilon,
                                float threshold) {
  std::vector<T> a(count), b(count);
  std::ifstream in(one, std::ios::binary), of(other, std::ios::binary);
  const auto bytes = static_cast<long>(count * sizeof(T));
  if (!in.read(reinterpret_cast<char*>(a.data()), bytes) || !of.read(reinterpret_cast<char*>(b.data()), bytes))
    return false;
  return compareData(a.data(), b.data(), static_cast<unsigned>(count), epsilon, threshold);
}
inline bool sdkCompareBin2BinUint(const char* one, const char* other, unsigned count, float epsilon, float threshold,
                                  char*) {
  return isomer_emulator_same_files<unsigned>(one, other, count, epsilon, threshold);
}
inline bool sdkCompareBin2BinFloat(const char* one, const char* other, unsigned count, float epsilon, float threshold,
                                   char*) {
  return isomer_emulator_same_files<float>(one, other, count, epsilon, threshold);
}
inline bool isomer_emulator_same_images(const char* one, const char* other, float epsilon, float threshold) {
  std::vector<unsigned char> a, b;
  unsigned width[2] = {}, height[2] = {}, channels[2] = {};
  return isomer::emulator::read_image(one, a, width[0], height[0], channels[0]) &&
         isomer::emulator::read_image(other, b, width[1], height[1], channels[1]) && a.size() == b.size() &&
         compareData(a.data(), b.data(), static_cast<unsigned>(a.size()), epsilon, threshold);
}
inline bool sdkComparePPM(const char* one, const char* other, float epsilon, float threshold, bool = false) {
  return isomer_emulator_same_images(one, other, epsilon, threshold);
}
inline bool sdkComparePGM(const char* one, const char* other, float epsilon, float threshold, bool = false) {
  return isomer_emulator_same_images(one, other, epsilon, threshold);
}
