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

/// Reserves what the watch of all device memory needs, which its first use would.
void reserve_all();

/// The buffer's bytes count as never written and never touched.
void forget(Buffer& buffer);
/// The host wrote these bytes.
void mark_written(const void* address, std::size_t bytes);
/// The host copied bytes that may or may not be initialised: the state goes with them.
void copy_state(const void* to, const void* from, std::size_t bytes);

}  // namespace isomer::emulator::watch
