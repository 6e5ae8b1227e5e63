#include "lab/launches/inject/output.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <charconv>
#include <cstring>

namespace isomer::inject {
namespace {

constexpr std::size_t kWindow = 1 << 20;
constexpr std::size_t kPage = 1 << 16;  // of any machine's page size a multiple
constexpr char kDigits[] = "0123456789abcdef";

/// Length of the UTF-8 sequence there; 0 where it is none.
std::size_t sequence(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xC2 && lead < 0xE0 ? 2
                             : lead >= 0xE1 && lead < 0xED ? 3
                                                           : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[at + i]) & 0xC0) != 0x80) return 0;
  return length;
}

}  // namespace

Output& output() {
  // Never destroyed: the driver's threads may write until the process is gone.
  static Output& only = *new Output;
  return only;
}

bool Output::open(const std::string& path) {
  const std::lock_guard lock(mutex_);
  window_begin_ = end_ = lost_ = 0;
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  return file_ >= 0;
}

bool Output::map(std::size_t bytes) {
  unmap();
  window_begin_ = end_ / kPage * kPage;
  const std::size_t needed = end_ - window_begin_ + bytes;
  window_bytes_ = (needed < kWindow ? kWindow : needed + kPage - 1) / kPage * kPage;
  // Without its blocks a full disk would be a SIGBUS in the program.
  if (posix_fallocate(file_, static_cast<off_t>(window_begin_), static_cast<off_t>(window_bytes_)) != 0)
    return false;
  void* window = mmap(nullptr, window_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_,
                      static_cast<off_t>(window_begin_));
  if (window == MAP_FAILED) return false;
  window_ = static_cast<char*>(window);
  return true;
}

void Output::unmap() {
  if (window_ != nullptr) munmap(window_, window_bytes_);
  window_ = nullptr;
}

void Output::line(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (file_ < 0) return;
  const std::size_t bytes = text.size() + 1;
  if ((window_ == nullptr || end_ + bytes > window_begin_ + window_bytes_) && !map(bytes)) {
    unmap();
    ++lost_;
    return;
  }
  char* to = window_ + (end_ - window_begin_);
  std::memcpy(to, text.data(), text.size());
  to[text.size()] = '\n';
  end_ += bytes;
}

void Output::close() {
  const std::lock_guard lock(mutex_);
  if (file_ < 0) return;
  unmap();
  if (ftruncate(file_, static_cast<off_t>(end_)) != 0) ++lost_;
  ::close(file_);
  file_ = -1;
}

void Output::abandon() {
  // Only this thread lives in the child, and another one of the parent's may have held the lock.
  new (&mutex_) std::mutex;
  unmap();
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

void append(std::string& text, std::uint64_t value) {
  char digits[20];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void append_quoted(std::string& text, std::string_view value) {
  text += '"';
  for (std::size_t i = 0; i < value.size();) {
    const std::size_t length = sequence(value, i);
    const char c = value[i];
    if (length == 0) {
      text += '?';
      ++i;
      continue;
    }
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      text += "\\u00";
      text += kDigits[c >> 4];
      text += kDigits[c & 15];
    } else {
      text.append(value, i, length);
    }
    i += length;
  }
  text += '"';
}

void append_hex(std::string& text, const unsigned char* bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
}

Line::Line(std::string_view name, std::uint64_t value) : line_("{\"") {
  line_ += name;
  line_ += "\":";
  append(line_, value);
}

void Line::key(std::string_view name) {
  line_ += ",\"";
  line_ += name;
  line_ += "\":";
}

Line& Line::number(std::string_view name, std::uint64_t value) {
  key(name);
  append(line_, value);
  return *this;
}

Line& Line::text(std::string_view name, std::string_view value) {
  key(name);
  append_quoted(line_, value);
  return *this;
}

Line& Line::yes(std::string_view name) {
  key(name);
  line_ += "true";
  return *this;
}

Line& Line::triple(std::string_view name, std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  key(name);
  line_ += '[';
  append(line_, x);
  line_ += ',';
  append(line_, y);
  line_ += ',';
  append(line_, z);
  line_ += ']';
  return *this;
}

Line& Line::raw(std::string_view json) {
  line_ += json;
  return *this;
}

void Line::write() {
  line_ += '}';
  output().line(line_);
}

}  // namespace isomer::inject
