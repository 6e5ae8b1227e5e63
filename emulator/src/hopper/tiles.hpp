// What the asynchronous units do to the shared memory of a block, for every sixteen bytes of it: which copy
// writes it or wrote it last, which store and which products read it. Everything that a thread or a unit does
// to shared memory is judged by it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "execution/block.hpp"
#include "watch/reporter.hpp"

namespace isomer::emulator::hopper {

/// A copy into shared memory, from its issue on.
struct Filling {
  watch::Site site;
  std::uint32_t thread = 0;
  std::uint32_t to = 0, bytes = 0;
  std::uint32_t barrier = 0;  ///< address
  unsigned swizzle = 0;       ///< bytes
  bool landed = false;
};

/// A copy out of shared memory, from its issue on.
struct Draining {
  watch::Site site;
  std::uint32_t thread = 0;
  std::uint32_t done = 0;  ///< the segment of the thread in which it knew that memory was read; 0: under way
};

class Tiles {
 public:
  static constexpr std::uint32_t kGranule = 16;
  explicit Tiles(Block& block) : block_(block) {}
  void begin();

  std::uint32_t add(Filling filling);
  std::uint32_t add(Draining draining);
  Filling& filling(std::uint32_t index) { return fillings_[index - 1]; }
  Draining& draining(std::uint32_t index) { return drainings_[index - 1]; }

  /// The running thread issues a copy into these bytes; they are that copy's from now on.
  void fill(std::uint32_t index);
  /// The bytes are there, for those who know that the barrier's agent has come to that tick.
  void land(std::uint32_t index, std::uint32_t agent, std::uint32_t tick);
  /// The running thread issues a copy out of these bytes.
  void drain(std::uint32_t index, std::uint32_t from, std::uint32_t bytes);
  /// The running thread issues the n-th product (from 1) of its warpgroup, which reads sixteen bytes.
  struct Reading {
    std::uint32_t product = 0;
    unsigned swizzle = 0;
    const watch::Site* site = nullptr;
    std::uint32_t fine = 0;  ///< a segment whose writes the thread was seen to be allowed to read
  };
  void multiply(std::uint32_t address, Reading& reading);
  /// The running thread reads or writes these bytes itself.
  void touch(const void* at, std::size_t bytes, bool writes, const void* site);

 private:
  struct Granule {
    std::uint32_t filling = 0, draining = 0;
  };
  std::uint32_t warpgroups() const { return (block_.size() + 127) / 128; }
  std::uint32_t& product(std::size_t granule, std::uint32_t warpgroup) {
    return products_[granule * warpgroups() + warpgroup];
  }
  Granule& at(std::uint32_t address) { return granules_[address / kGranule]; }
  /// Those who read the granule are done, as the thread knows; otherwise says so.
  bool readers_done(std::size_t granule, const watch::Site& site, const char* what);
  bool readable(std::uint32_t address, const watch::Site& site, const char* who, std::uint32_t& fine);
  void tell_unlanded(const Filling& filling, std::uint32_t address, const watch::Site& site, const char* who);

  Block& block_;
  std::vector<Granule> granules_;
  std::vector<std::uint32_t> products_;
  std::vector<Filling> fillings_;
  std::vector<Draining> drainings_;
};

}  // namespace isomer::emulator::hopper
