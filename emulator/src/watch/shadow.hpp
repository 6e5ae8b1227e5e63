// The shadow of device memory: for every byte who wrote it last, who read it since, and whether it was ever
// written.
#pragma once

#include <cstddef>
#include <cstdint>

#include "execution/block.hpp"
#include "memory/memory.hpp"

namespace isomer::emulator::watch {

enum Access : unsigned {
  read = 1,
  write = 2,
  atomic = 4,
  release = 8,         ///< publishes what came before
  typed = 16,          ///< of a type as large as its alignment
  volatile_word = 32,  ///< volatile, and one word
  acquire = 64,        ///< takes what others published
  lock = 128,          ///< a compare-and-swap
  exchange = 256,      ///< reads what may mean nothing
};

// What an entry's site carries beside its number.
constexpr std::uint32_t kAtomic = 0x80000000u, kVolatile = 0x40000000u, kOfBlock = 0x20000000u,
                        kAfterFence = 0x10000000u, kSplit = 0x08000000u, kNumber = 0x07ffffffu;

struct Entry {
  std::uint32_t segment;
  std::uint32_t site;
};

// Two readers are kept: the first since the last write and the latest. Any writer that is unordered with some
// reader is then unordered with one of the two, except where warp operations order exactly those two.
struct Cell {
  Entry written, read_first, read_latest;
};

/// A word of four bytes has one cell as long as it is touched as a whole only; from its first other access on
/// (`kSplit` in written.site) each of its bytes has one.
constexpr std::size_t kWord = 4;
struct Shadow {
  Cell* words = nullptr;  ///< by position / kWord
  Cell* bytes = nullptr;  ///< by position
  std::uint8_t* written = nullptr;
  std::uintptr_t base = 0;  ///< of the memory: a position is counted from it
};
/// Reserved before the first watched launch.
extern Shadow shadow_of_memory;
/// Of an address in device memory.
inline std::size_t position(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) - Memory::instance().base();
}
/// Of an address in a buffer or a variable.
inline std::size_t position(const Buffer& buffer, const void* address) {
  return buffer.shadow + static_cast<std::size_t>(static_cast<const std::byte*>(address) - buffer.begin);
}

/// Judges one access of the running device thread. Does nothing in host code. May not return: a thread whose
/// access would fault is ended there.
void access(const void* address, std::size_t bytes, unsigned how, const void* site);

/// The running device thread uses an address in device memory that its type's alignment forbids.
void misaligned(const void* address, std::size_t alignment, const void* site);

/// Who touched one byte last, as segments (order.hpp) and numbers of sites; 0: nobody.
struct Touches {
  std::uint32_t written = 0, written_site = 0;
  std::uint32_t read_first = 0, read_first_site = 0, read_latest = 0, read_latest_site = 0;
  bool initialised = false;
};
Touches touches(const void* at);
/// An asynchronous unit wrote these bytes.
void set_written(const void* at, std::size_t bytes, std::uint32_t segment, std::uint32_t site);

/// Whether they count as written, without a word of who did it. kUnderWay: a copy of a thread's is to write
/// them, and nobody has waited for it.
constexpr std::uint8_t kUnderWay = 2;
void set_state(const void* at, std::size_t bytes, std::uint8_t state);

/// Reserves what the watch of all device memory needs, which its first use would.
void reserve_all();

/// A watched launch begins, and the buffer is there.
void expect_touches(Buffer& buffer);
/// Nobody has touched anything.
void forget_who_touched();
/// The buffer's bytes count as never written and never touched.
void forget(Buffer& buffer);
/// The host wrote these bytes.
void mark_written(const void* address, std::size_t bytes);
/// Whether the host wrote to a tensor: some byte is not poison that no kernel wrote. So too where the whole
/// was written.
bool host_wrote(Buffer& buffer);
/// The host copied bytes that may or may not be initialised: the state goes with them.
void copy_state(const void* to, const void* from, std::size_t bytes);

}  // namespace isomer::emulator::watch
