#include "lab/launches/inject/arguments.hpp"

#include "lab/launches/inject/allocations.hpp"
#include "lab/launches/inject/output.hpp"

#include <cstring>

namespace isomer::inject {
namespace {

struct Buffer {
  const unsigned char* bytes = nullptr;
  std::size_t size = 0;
};

Buffer buffer_of(void** extra) {
  // The ends differ (CUDA's is null, HIP's is 3); what stands before them does not.
  constexpr std::uintptr_t kPointer = 1, kSize = 2;
  Buffer buffer;
  if (extra == nullptr) return buffer;
  for (int i = 0; i < 16; i += 2) {
    const auto kind = reinterpret_cast<std::uintptr_t>(extra[i]);
    if (kind != kPointer && kind != kSize) break;
    if (kind == kPointer) buffer.bytes = static_cast<const unsigned char*>(extra[i + 1]);
    if (kind == kSize && extra[i + 1] != nullptr)
      buffer.size = *static_cast<const std::size_t*>(extra[i + 1]);
  }
  return buffer;
}

/// Addresses among a parameter's words, aligned as in the parameter buffer.
void append_pointers(std::string& text, std::size_t parameter, const unsigned char* bytes,
                     std::uint32_t offset, std::uint32_t size) {
  for (std::uint32_t at = (8 - offset % 8) % 8; at + 8 <= size; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, sizeof word);
    const std::string place = allocations().place(word);
    if (place.empty()) continue;
    text += text.empty() ? "[" : ",[";
    append(text, parameter);
    text += ',';
    append(text, at);
    text += ",\"" + place + "\"]";
  }
}

}  // namespace

std::string layout_json(const Layout& layout) {
  std::string text = ",\"parameters\":[";
  for (const auto& [offset, size] : layout) {
    if (text.back() != '[') text += ',';
    text += '[';
    append(text, offset);
    text += ',';
    append(text, size);
    text += ']';
  }
  return text + "]";
}

void append_arguments(std::string& text, const Layout& layout, void** parameters, void** extra) {
  const Buffer buffer = buffer_of(extra);
  if (parameters == nullptr && buffer.bytes == nullptr && !layout.empty()) return;
  std::string pointers;
  text += ",\"arguments\":[";
  for (std::size_t i = 0; i < layout.size(); ++i) {
    const auto [offset, size] = layout[i];
    const unsigned char* bytes = nullptr;
    if (parameters != nullptr)
      bytes = static_cast<const unsigned char*>(parameters[i]);
    else if (std::size_t{offset} + size <= buffer.size)
      bytes = buffer.bytes + offset;
    text += i > 0 ? ",\"" : "\"";
    if (bytes != nullptr) {
      append_hex(text, bytes, size);
      append_pointers(pointers, i, bytes, offset, size);
    }
    text += '"';
  }
  text += ']';
  if (!pointers.empty()) text += ",\"pointers\":[" + pointers + "]";
}

void append_triple(std::string& text, const char* key, const std::uint32_t (&values)[3]) {
  text += ",\"";
  text += key;
  text += "\":[";
  append(text, values[0]);
  text += ',';
  append(text, values[1]);
  text += ',';
  append(text, values[2]);
  text += ']';
}

}  // namespace isomer::inject
