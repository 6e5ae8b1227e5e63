#include "watch/guesses.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "memory/module_images.hpp"
#include "runtime/settings.hpp"
#include "watch/shadow.hpp"

namespace isomer::emulator::watch {

bool counts_a_sample = false;

namespace {
/// A watched launch runs on one thread of the system.
std::unordered_map<const void*, std::size_t> counted;
}  // namespace

void mark_guessed(const void* address, std::size_t bytes) {
  Buffer* buffer = Memory::instance().find(address);
  if (!buffer) buffer = variable_at(address);
  if (!buffer || buffer->space == Space::managed || shadow_of_memory.written == nullptr) return;
  std::uint8_t* const written = shadow_of_memory.written;
  if (buffer->initialised) std::memset(&written[position(*buffer, buffer->begin)], 1, buffer->bytes);
  buffer->initialised = false;
  buffer->sampled = true;
  const auto* const at = static_cast<const std::byte*>(address);
  std::memset(&written[position(*buffer, at)], 0,
              std::min(bytes, static_cast<std::size_t>(buffer->end() - at)));
}

void leave_guesses(Buffer& buffer) {
  if (buffer.space == Space::shared) return;
  buffer.sampled = true;
  // Where the launch wrote to a part of what the host had set, blocks left out may have written to the rest.
  // What a library of the host makes of it is not seen: then all of it is a guess.
  if (buffer.space != Space::global || !buffer.touched) return;
  buffer.initialised = false;
  if (settings().host_writes_unseen) mark_guessed(buffer.begin, buffer.bytes);
}

void begin_counting() {
  counts_a_sample = settings().blocks != 0;
  counted.clear();
}

void note_count(const void* address, std::size_t bytes) { counted[address] = bytes; }

void end_counting(bool left_out) {
  counts_a_sample = false;
  if (left_out)
    for (const auto& [address, bytes] : counted) mark_guessed(address, bytes);
}

}  // namespace isomer::emulator::watch
