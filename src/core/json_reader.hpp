#pragma once

#include "core/json_text.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

/// The JSON of bundle headers and of tables: objects, arrays, strings and integers, strictly by RFC 8259.
namespace isomer::core {

/// Reads a text front to back; the caller holds the grammar. Throws Error io: "<what> is not valid at byte 7:
/// …".
class JsonReader {
 public:
  /// `text` must outlive the reader. `what` is the subject of its sentences.
  JsonReader(std::string_view text, std::string what) : text_(text), what_(std::move(what)) {}

  /// Calls member(key) at each value, which member must read. A key that is there twice is refused.
  template <class Member>
  void object(Member&& member) {
    take('{');
    std::set<std::string> keys;
    for (bool first = true; !close('}', first); first = false) {
      std::string key = string();
      if (!keys.insert(key).second) wrong("the key " + json_quoted(key) + " is there twice");
      take(':');
      member(key);
    }
  }

  /// Calls element() at each value, which element must read.
  template <class Element>
  void array(Element&& element) {
    take('[');
    for (bool first = true; !close(']', first); first = false) element();
  }

  std::string string();
  /// A whole number of int64, with no fraction or exponent.
  std::int64_t integer();
  /// Nothing but white space is left.
  void end();

  [[noreturn]] void wrong(const std::string& why) const;

 private:
  void skip_space();
  bool at(char c);
  void take(char c);
  /// True at the end of an object or array; otherwise takes the comma before every element but the first.
  bool close(char bracket, bool first);
  void escape(std::string& to);
  std::uint32_t hex4();

  std::string_view text_;
  std::size_t position_ = 0;
  std::string what_;
};

}  // namespace isomer::core
