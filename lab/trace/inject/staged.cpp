#include "lab/trace/inject/staged.hpp"

#include "lab/trace/inject/allocations.hpp"
#include "lab/trace/inject/functions.hpp"
#include "lab/trace/inject/output.hpp"

#include <cstring>

namespace isomer::inject {
namespace {

/// The driver's list {pointer, buffer, size, &n, end}.
struct Buffer {
  const unsigned char* bytes = nullptr;
  std::size_t size = 0;
};

Buffer buffer_of(void** extra) {
  Buffer buffer;
  if (extra == nullptr) return buffer;
  for (int i = 0; i < 16 && extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
    if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer.bytes = static_cast<const unsigned char*>(extra[i + 1]);
    if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[i + 1] != nullptr)
      buffer.size = *static_cast<const std::size_t*>(extra[i + 1]);
  }
  return buffer;
}

void append_triple(std::string& text, const char* key, const unsigned (&values)[3]) {
  text += key;
  append(text, values[0]);
  text += ',';
  append(text, values[1]);
  text += ',';
  append(text, values[2]);
  text += ']';
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

void Staged::take_attributes(const CUlaunchConfig& config) {
  for (unsigned i = 0; config.attrs != nullptr && i < config.numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config.attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      cluster[0] = attribute.value.clusterDim.x;
      cluster[1] = attribute.value.clusterDim.y;
      cluster[2] = attribute.value.clusterDim.z;
    }
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) cooperative = attribute.value.cooperative != 0;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
      programmatic = attribute.value.programmaticStreamSerializationAllowed != 0;
  }
}

std::string Staged::json(const char* symbol) const {
  const auto known = function_of(function, symbol);
  std::string text = ",\"kernel\":";
  append(text, known->id);
  append_triple(text, ",\"grid\":[", grid);
  append_triple(text, ",\"block\":[", block);
  if (cluster[0] > 0) append_triple(text, ",\"cluster\":[", cluster);
  text += ",\"shared_dynamic\":";
  append(text, shared_bytes);
  if (cooperative) text += ",\"cooperative\":true";
  if (programmatic) text += ",\"programmatic\":true";
  const Buffer buffer = buffer_of(extra);
  if (!known->layout_known || (parameters == nullptr && buffer.bytes == nullptr && !known->layout.empty()))
    return text;
  text += ",\"arguments\":[";
  std::string pointers;
  for (std::size_t i = 0; i < known->layout.size(); ++i) {
    const auto [offset, size] = known->layout[i];
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
  return text;
}

}  // namespace isomer::inject
