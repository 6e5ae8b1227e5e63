#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace isomer::inject {

/// Device memory by the order in which it was allocated, so that addresses of two runs can be compared.
class Allocations {
 public:
  /// Asks the driver for the allocation around an address; false where there is none.
  using Lookup = bool (*)(std::uint64_t address, std::uint64_t& begin, std::uint64_t& bytes);

  /// Whom place() asks of what no call has told of; always, where no call tells of anything. Before all else.
  void ask(Lookup lookup, bool always = false) {
    lookup_ = lookup;
    always_ = always;
  }
  void add(std::uint64_t address, std::uint64_t bytes);
  void remove(std::uint64_t address);
  /// "3+512": byte 512 of the fourth allocation; empty where the word is no address of device memory.
  std::string place(std::uint64_t word);

 private:
  struct Range {
    std::uint64_t bytes, ordinal;
  };
  Lookup lookup_ = nullptr;
  bool always_ = false;
  std::mutex mutex_;
  std::map<std::uint64_t, Range> ranges_;  ///< by their first address
  std::uint64_t next_ = 0;
};

Allocations& allocations();

}  // namespace isomer::inject
