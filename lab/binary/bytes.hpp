#pragma once

#include "core/sentence.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace isomer::lab {

/// A part of a file that nobody vouches for. What lies outside of it is an Error io that names the file and
/// the part.
class Bytes {
 public:
  Bytes() = default;
  Bytes(std::span<const std::uint8_t> data, std::string_view what) : data_(data), what_(what) {}

  std::size_t size() const { return data_.size(); }
  const std::uint8_t* data() const { return data_.data(); }
  std::span<const std::uint8_t> span() const { return data_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_.data()), data_.size()}; }
  bool starts_with(std::string_view magic) const { return text().starts_with(magic); }
  std::string_view what() const { return what_; }

  /// A little-endian number.
  template <class T>
  T at(std::uint64_t offset, const char* part) const {
    T value;
    std::memcpy(&value, sub(offset, sizeof value, part).data(), sizeof value);
    return value;
  }

  Bytes sub(std::uint64_t offset, std::uint64_t bytes, const char* part) const {
    if (offset > data_.size() || bytes > data_.size() - offset)
      core::fail(ErrorCode::io, what_, ": ", part, " lies outside: ", bytes, " bytes at ", offset, " of ",
                 data_.size());
    return {data_.subspan(offset, bytes), what_};
  }

  /// The text up to the zero that must end it.
  std::string_view string(std::uint64_t offset, const char* part) const {
    const std::string_view all =
        sub(offset, data_.size() - std::min<std::uint64_t>(offset, data_.size()), part).text();
    const std::size_t end = all.find('\0');
    if (end == std::string_view::npos)
      core::fail(ErrorCode::io, what_, ": ", part, " at ", offset, " has no end");
    return all.substr(0, end);
  }

 private:
  std::span<const std::uint8_t> data_;
  std::string_view what_;
};

}  // namespace isomer::lab
