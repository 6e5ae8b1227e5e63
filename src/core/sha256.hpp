#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace isomer::core {

/// SHA-256 (FIPS 180-4) of what was added, for keys and checks of files.
class Sha256 {
 public:
  /// `portable` leaves the processor's own instructions for it aside, where it has them.
  explicit Sha256(bool portable = false);
  Sha256& add(std::span<const std::byte> bytes);
  Sha256& add(std::string_view text) { return add(std::as_bytes(std::span(text))); }
  /// Text with its length before it, so that two fields cannot flow into each other.
  Sha256& field(std::string_view text);
  /// 64 hexadecimal digits. The object is spent.
  std::string hex();

 private:
  std::uint32_t state_[8];
  std::uint8_t pending_[64];
  std::uint64_t length_ = 0;
  void (*blocks_)(std::uint32_t* state, const std::uint8_t* data, std::size_t count);
};

std::string sha256(std::span<const std::byte> bytes);

}  // namespace isomer::core
