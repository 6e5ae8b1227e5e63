// Copies into shared memory that a thread begins and waits for later (cp.async). In a watched launch they are
// as late as can be: the bytes are there when their thread waits, and poison until then.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "watch/reporter.hpp"

namespace isomer::emulator {

class Block;

class AsyncCopies {
 public:
  explicit AsyncCopies(Block& block) : block_(block) {}
  void begin();  ///< a block
  /// By the running thread; what lies behind `from_bytes` is zeros.
  void copy(void* to, const void* from, std::size_t bytes, std::size_t from_bytes, const watch::Site& site);
  void commit();
  /// Until at most so many groups of the running thread's are under way.
  void wait(std::size_t groups);
  void wait_for_all();
  /// Where the copy was begun that still writes this byte; null where none does.
  const watch::Site* begun_at(const void* byte) const;

 private:
  struct Copy {
    std::byte* to = nullptr;
    const void* from = nullptr;
    std::size_t bytes = 0, from_bytes = 0;
    watch::Site site;
  };
  using Group = std::vector<Copy>;
  struct OfThread {
    Group open;
    std::deque<Group> groups;  ///< oldest first
  };
  OfThread& mine();
  void land(const Group& group);

  Block& block_;
  std::vector<OfThread> threads_;
};

}  // namespace isomer::emulator
