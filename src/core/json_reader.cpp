#include "core/json_reader.hpp"

#include "core/sentence.hpp"

namespace isomer::core {
namespace {

void append_utf8(std::string& to, std::uint32_t code) {
  if (code < 0x80) {
    to += static_cast<char>(code);
  } else if (code < 0x800) {
    to += static_cast<char>(0xC0 | code >> 6);
    to += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    to += static_cast<char>(0xE0 | code >> 12);
    to += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    to += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    to += static_cast<char>(0xF0 | code >> 18);
    to += static_cast<char>(0x80 | (code >> 12 & 0x3F));
    to += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    to += static_cast<char>(0x80 | (code & 0x3F));
  }
}

}  // namespace

void JsonReader::wrong(const std::string& why) const {
  fail(ErrorCode::io, what_, " is not valid at byte ", position_, ": ", why);
}

void JsonReader::skip_space() {
  while (position_ < text_.size() &&
         std::string_view(" \t\n\r").find(text_[position_]) != std::string_view::npos)
    ++position_;
}

bool JsonReader::at(char c) {
  skip_space();
  return position_ < text_.size() && text_[position_] == c;
}

void JsonReader::take(char c) {
  if (!at(c)) wrong(say("expected '", c, "'"));
  ++position_;
}

bool JsonReader::close(char bracket, bool first) {
  if (at(bracket)) {
    ++position_;
    return true;
  }
  if (!first) take(',');
  return false;
}

std::uint32_t JsonReader::hex4() {
  std::uint32_t code = 0;
  for (int i = 0; i < 4; ++i, ++position_) {
    const char c = position_ < text_.size() ? text_[position_] : '\0';
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) wrong("\\u without four hexadecimal digits");
    code = code << 4 | static_cast<std::uint32_t>(digit);
  }
  return code;
}

void JsonReader::escape(std::string& to) {
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const char name = position_ < text_.size() ? text_[position_] : '\0';
  if (const std::size_t which = kNames.find(name); name != '\0' && which != std::string_view::npos) {
    to += kMeanings[which];
    ++position_;
    return;
  }
  if (name != 'u') wrong("an unknown escape");
  ++position_;
  std::uint32_t code = hex4();
  if (code >= 0xD800 && code < 0xDC00) {
    if (text_.substr(position_, 2) != "\\u") wrong("half of a surrogate pair");
    position_ += 2;
    const std::uint32_t low = hex4();
    if (low < 0xDC00 || low > 0xDFFF) wrong("half of a surrogate pair");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  } else if (code >= 0xDC00 && code < 0xE000) {
    wrong("half of a surrogate pair");
  }
  append_utf8(to, code);
}

std::string JsonReader::string() {
  if (!at('"')) wrong("expected a string");
  ++position_;
  std::string out;
  for (;;) {
    if (position_ >= text_.size()) wrong("the string has no end");
    const char c = text_[position_];
    if (static_cast<unsigned char>(c) < 0x20) wrong("a control character in a string");
    ++position_;
    if (c == '"') break;
    if (c == '\\')
      escape(out);
    else
      out += c;
  }
  if (!core::is_utf8(out)) wrong("the string before it is not UTF-8");
  return out;
}

std::int64_t JsonReader::integer() {
  skip_space();
  const auto digit = [&] {
    return position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9';
  };
  const bool negative = at('-');
  if (negative) ++position_;
  if (!digit()) wrong("expected a whole number");
  if (text_[position_] == '0' && position_ + 1 < text_.size() && text_[position_ + 1] >= '0' &&
      text_[position_ + 1] <= '9')
    wrong("a number with a leading zero");
  std::int64_t value = 0;
  for (; digit(); ++position_) {
    const int next = text_[position_] - '0';
    if (__builtin_mul_overflow(value, std::int64_t{10}, &value) ||
        __builtin_add_overflow(value, std::int64_t{negative ? -next : next}, &value))
      wrong("a number beyond 64 bits");
  }
  if (position_ < text_.size() && std::string_view(".eE").find(text_[position_]) != std::string_view::npos)
    wrong("expected a whole number");
  return value;
}

void JsonReader::end() {
  skip_space();
  if (position_ < text_.size()) wrong("text after the end");
}

}  // namespace isomer::core
