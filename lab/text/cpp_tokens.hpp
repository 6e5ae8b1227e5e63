#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::lab {

/// A word of a C++ source. Comments, quoted text and preprocessor lines are none.
struct CppToken {
  enum class Kind { identifier, number, quoted, punctuation } kind = Kind::punctuation;
  std::size_t begin = 0, end = 0;
  int line = 0;
  std::size_t partner = 0;  ///< of a bracket, the other one; 0: it has none
};

/// A source as its words. The text must live as long as this.
class CppTokens {
 public:
  explicit CppTokens(std::string_view source);

  std::size_t size() const { return tokens_.size(); }
  const CppToken& operator[](std::size_t i) const { return tokens_[i]; }
  std::string_view text(std::size_t i) const {
    return i < tokens_.size() ? source_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin)
                              : std::string_view();
  }
  /// From the first word to the last, as it is written.
  std::string_view text(std::size_t first, std::size_t last) const {
    return source_.substr(tokens_[first].begin, tokens_[last].end - tokens_[first].begin);
  }
  bool is(std::size_t i, std::string_view word) const { return text(i) == word; }
  bool is_name(std::size_t i) const {
    return i < tokens_.size() && tokens_[i].kind == CppToken::Kind::identifier;
  }
  /// The token behind the bracket that opens there and all that stands in it, or behind another token.
  std::size_t behind(std::size_t i) const {
    return (is(i, "(") || is(i, "[") || is(i, "{")) && tokens_[i].partner > i ? tokens_[i].partner + 1
                                                                              : i + 1;
  }

 private:
  void pair_brackets();

  std::string_view source_;
  std::vector<CppToken> tokens_;
};

}  // namespace isomer::lab
