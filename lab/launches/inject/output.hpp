#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace isomer::inject {

/// The capture file of this process, written through a mapping: what is there stays there however the program
/// ends. Any thread may write. After a failure (no space, a fork) it takes lines and drops them.
class Output {
 public:
  /// False where the file cannot be made.
  bool open(const std::string& path);
  void line(std::string_view text);
  /// Cuts the file behind its last line.
  void close();
  /// In the child of a fork: the file is its parent's.
  void abandon();
  std::uint64_t lost() const { return lost_; }  ///< lines that found no space

 private:
  bool map(std::size_t bytes);
  void unmap();

  std::mutex mutex_;
  int file_ = -1;
  char* window_ = nullptr;
  std::size_t window_bytes_ = 0, window_begin_ = 0, end_ = 0;
  std::uint64_t lost_ = 0;
};

Output& output();

/// A JSON object that grows by its keys.
class Line {
 public:
  Line(std::string_view key, std::uint64_t value);
  Line& number(std::string_view key, std::uint64_t value);
  Line& text(std::string_view key, std::string_view value);
  Line& yes(std::string_view key);
  Line& triple(std::string_view key, std::uint64_t x, std::uint64_t y, std::uint64_t z);
  /// Ready JSON: `,"key":value…`.
  Line& raw(std::string_view json);
  void write();

 private:
  void key(std::string_view name);
  std::string line_;
};

void append(std::string& text, std::uint64_t value);
/// With quotes; bytes that are no UTF-8 become '?'.
void append_quoted(std::string& text, std::string_view value);
void append_hex(std::string& text, const unsigned char* bytes, std::size_t count);

}  // namespace isomer::inject
