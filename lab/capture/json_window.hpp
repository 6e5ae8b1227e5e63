#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>

namespace isomer::lab {

/// A JSON text that is read piece by piece: the values of a list or of an object one after the other, each as
/// its text, so that a file of any size is never held as a whole.
class JsonWindow {
 public:
  /// Room behind each text that `take` gives, which simdjson may read.
  static constexpr std::size_t kPadding = 64;

  explicit JsonWindow(std::istream& in) : in_(in) {}

  /// The next character that is no space, without taking it; 0 at the end.
  char peek();
  /// Takes it if it is that one.
  bool eat(char c);
  /// The text of the next value: an object, a list, a string, a number or a word. It stands until the next
  /// call. Empty where the text breaks off inside of it, or where no value begins.
  std::string_view take();
  /// Passes over the next value without holding it. False where the text breaks off.
  bool skip();

 private:
  bool more();
  bool find_end(std::size_t& end, bool hold);

  std::istream& in_;
  std::string buffer_;
  std::size_t at_ = 0, size_ = 0;
};

}  // namespace isomer::lab
