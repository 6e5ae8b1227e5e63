#include "lab/capture/json_window.hpp"

#include <algorithm>
#include <cstring>

namespace isomer::lab {
namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool is_plain_end(char c) { return is_space(c) || c == ',' || c == ']' || c == '}' || c == ':'; }

}  // namespace

/// What was taken goes, and as much as there is room for comes.
bool JsonWindow::more() {
  constexpr std::size_t kChunk = std::size_t{1} << 20;
  if (at_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + at_, size_ - at_);
    size_ -= at_;
    at_ = 0;
  }
  if (buffer_.size() < size_ + kChunk + kPadding) buffer_.resize(size_ + kChunk + kPadding);
  const std::streamsize got = in_.rdbuf()->sgetn(buffer_.data() + size_, kChunk);
  if (got <= 0) return false;
  size_ += static_cast<std::size_t>(got);
  return true;
}

char JsonWindow::peek() {
  for (;;) {
    while (at_ < size_ && is_space(buffer_[at_])) ++at_;
    if (at_ < size_) return buffer_[at_];
    if (!more()) return 0;
  }
}

bool JsonWindow::eat(char c) {
  if (peek() != c) return false;
  ++at_;
  return true;
}

/// Finds where the value that begins at `at_` ends; where it need not be held, at_ moves along.
bool JsonWindow::find_end(std::size_t& end, bool hold) {
  const char first = peek();
  if (first == 0 || first == ']' || first == '}' || first == ',' || first == ':') return false;
  std::size_t at = at_;  // of the character that is looked at
  const auto refill = [&] {
    if (!hold) at_ = at;
    const std::size_t before = at_;
    const bool got = more();
    at -= before - at_;
    return got;
  };
  const auto string = [&]() {  // `at` stands behind the opening quote
    for (;;) {
      const void* const quote = size_ > at ? std::memchr(buffer_.data() + at, '"', size_ - at) : nullptr;
      if (quote == nullptr) {
        // A backslash at the end belongs to what follows.
        std::size_t back = 0;
        while (size_ > at + back && buffer_[size_ - 1 - back] == '\\') ++back;
        const bool odd = back % 2 == 1;
        at = size_ - (odd ? 1 : 0);
        const std::size_t left = size_ - at;
        if (!refill()) return false;
        if (left == 1) at = std::min(at + 2, size_);
        continue;
      }
      const auto place = static_cast<std::size_t>(static_cast<const char*>(quote) - buffer_.data());
      std::size_t back = 0;
      while (place - back > at && buffer_[place - 1 - back] == '\\') ++back;
      at = place + 1;
      if (back % 2 == 0) return true;
    }
  };
  if (first == '"') {
    ++at;
    if (!string()) return false;
    end = at;
    return true;
  }
  if (first != '{' && first != '[') {
    for (;; ++at) {
      if (at == size_ && !refill()) return hold && at > at_ ? (end = at, true) : false;
      if (is_plain_end(buffer_[at])) break;
    }
    end = at;
    return true;
  }
  for (std::size_t depth = 0;;) {
    if (at == size_ && !refill()) return false;
    const char c = buffer_[at++];
    if (c == '"') {
      if (!string()) return false;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      end = at;
      return true;
    }
  }
}

std::string_view JsonWindow::take() {
  std::size_t end = 0;
  if (!find_end(end, true)) return {};
  const std::string_view text(buffer_.data() + at_, end - at_);
  at_ = end;
  return text;
}

bool JsonWindow::skip() {
  std::size_t end = 0;
  if (!find_end(end, false)) return false;
  at_ = end;
  return true;
}

}  // namespace isomer::lab
