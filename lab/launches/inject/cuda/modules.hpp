#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace isomer::inject {

/// The cubins that the driver has loaded, by the hash of each kernel's machine code.
class Modules {
 public:
  struct Code {
    std::string hash;   ///< SHA-256 of the kernel's .text section
    std::string image;  ///< in words: "cubin of 4712 bytes"
  };
  void loaded(std::uint32_t id, const char* cubin, std::size_t bytes);
  void unloading(std::uint32_t id);
  /// That `handle` is the module of which `first_since`, a count() taken before a call that loaded it, tells.
  void tie(const void* handle, std::uint64_t first_since);
  /// How many this thread has loaded.
  static std::uint64_t count();
  /// The code of a kernel in the module of that handle; with null, or before it is tied, only where all
  /// modules that have such a kernel agree. Empty otherwise: never a guess.
  Code find(const void* handle, const std::string& kernel);

  std::uint64_t hashed_bytes() const { return hashed_bytes_; }
  std::uint64_t ambiguous() const { return ambiguous_; }

 private:
  struct Entry {
    std::uint32_t id;
    Code code;
  };
  std::mutex mutex_;
  std::map<std::string, std::vector<Entry>> kernels_;
  std::map<const void*, std::uint32_t> handles_;
  std::uint64_t hashed_bytes_ = 0, ambiguous_ = 0;
};

Modules& modules();

}  // namespace isomer::inject
