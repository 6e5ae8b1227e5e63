#include "memory/closed.hpp"

#include <sys/mman.h>

#include <atomic>
#include <mutex>
#include <vector>

namespace isomer::emulator::closed {
namespace {

std::mutex mutex;
std::atomic<bool> on{false}, shut{false};
int open_for_now = 0;
int closings = 0;
constexpr int kMostClosings = 64;  // of one call: element by element it would take longer than the copies
std::vector<Buffer*> buffers;  // those that are closed

void protect(const Buffer& buffer, int how) { mprotect(buffer.begin, buffer.pages * Memory::kPage, how); }

void close_all() {
  buffers.clear();
  for (Buffer* buffer : Memory::instance().live_buffers()) {
    if (buffer->space != Space::global) continue;
    buffers.push_back(buffer);
    protect(*buffer, PROT_NONE);
  }
  shut = true;
}

void open_all() {
  shut = false;
  // What was freed meanwhile stays as that left it.
  for (const Buffer* buffer : buffers)
    if (buffer->live && buffer->space == Space::global) protect(*buffer, PROT_READ | PROT_WRITE);
  buffers.clear();
}

}  // namespace

void begin() {
  std::lock_guard lock(mutex);
  on = true;
  open_for_now = 0;
  closings = 0;
  close_all();
}

void end() {
  std::lock_guard lock(mutex);
  on = false;
  if (shut) open_all();
}

bool is_closed() { return shut; }

void close(Buffer& made) {
  if (!shut || made.space != Space::global) return;
  std::lock_guard lock(mutex);
  if (!shut) return;
  buffers.push_back(&made);
  protect(made, PROT_NONE);
}

Open::Open() : counted_(on) {
  if (!counted_) return;
  std::lock_guard lock(mutex);
  if (open_for_now++ == 0 && shut) open_all();
}

Open::~Open() {
  if (!counted_) return;
  std::lock_guard lock(mutex);
  if (--open_for_now == 0 && on && ++closings < kMostClosings) close_all();
}

bool open_for(const void* address) {
  if (!on) return false;
  const Buffer* buffer = Memory::instance().find(address);
  if (buffer == nullptr || buffer->space != Space::global) return false;
  if (shut) {
    open_all();
    return true;
  }
  // Another thread has opened it since this one met it closed.
  constexpr int kTries = 3;
  thread_local const void* last = nullptr;
  thread_local int tries = 0;
  tries = address == last ? tries + 1 : 0;
  last = address;
  return tries < kTries;
}

}  // namespace isomer::emulator::closed
