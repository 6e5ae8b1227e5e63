// `typedef float floatx4 __attribute__((ext_vector_type(4)));`: clang's vectors, by a class of the
// emulator's.
#include "source/rewrite.hpp"

namespace isomer::emulator::source {
namespace {

bool is_word(const Token& t) { return t.is("ext_vector_type") || t.is("__ext_vector_type__"); }

/// The first token of the statement or parenthesis that token `i` stands in.
std::size_t beginning(const std::vector<Token>& t, std::size_t i) {
  while (i > 0 && !t[i - 1].is(";") && !t[i - 1].is("{") && !t[i - 1].is("}") && !t[i - 1].is("(") &&
         !t[i - 1].is(",") && !t[i - 1].is("typedef") && !t[i - 1].is("using"))
    --i;
  return i;
}

class Attribute {
 public:
  /// `i` is at __attribute__.
  Attribute(Source& s, std::size_t i) : s_(s), t_(s.text.tokens), open_(i), close_(closing(t_, i + 1)) {}

  void rewrite() {
    const std::size_t begin = beginning(t_, open_);
    std::size_t end = close_ + 1;
    while (end < t_.size() && !t_[end].is(";") && !t_[end].is(")")) ++end;
    if (end >= t_.size()) return;
    if (begin > 0 && t_[begin - 1].is("using")) {
      std::size_t assigned = begin;
      while (assigned < end && !t_[assigned].is("=")) ++assigned;
      if (assigned == end) return;
      if (open_ < assigned) drop(open_, close_);
      name(assigned + 1, end);
    } else if (begin > 0 && t_[begin - 1].is("typedef")) {
      std::size_t named = end - 1;  // the last name that is not of the attribute
      if (named == close_) named = open_ - 1;
      if (t_[named].kind != Token::name || named <= begin) return;
      const std::string as(t_[named].text);
      name(begin, end, named);
      s_.edits.insert(t_[end].offset, " " + as);
    } else {
      std::size_t type = open_;
      while (type > begin && (t_[type - 1].kind == Token::name || t_[type - 1].is("::"))) --type;
      if (type < open_) name(type, close_ + 1);
    }
  }

 private:
  void drop(std::size_t first, std::size_t last) {
    s_.edits.replace(t_[first].offset, t_[last].end() - t_[first].offset, s_.lines(first, last));
  }
  /// The class in place of the tokens up to `end`, of which the attribute and `left_out` are no part of the
  /// type.
  void name(std::size_t begin, std::size_t end, std::size_t left_out = 0) {
    std::string type;
    for (std::size_t i = begin; i < end; ++i) {
      if (i == left_out && left_out != 0) continue;
      if (i == open_) {
        i = close_;
        continue;
      }
      type += std::string(t_[i].text) + " ";
    }
    std::size_t word = open_;
    while (!is_word(t_[word])) ++word;
    const std::size_t count_end = closing(t_, word + 1);
    s_.edits.replace(t_[begin].offset, t_[end - 1].end() - t_[begin].offset,
                     "::isomer::emulator::ExtVector<" + type + ", (" + s_.written(word + 2, count_end) +
                         ")>" + s_.lines(begin, end - 1));
  }

  Source& s_;
  const std::vector<Token>& t_;
  std::size_t open_, close_;
};

/// `__builtin_convertvector(vector, type)`, begun at `i`.
void rewrite_conversion(Source& s, std::size_t i) {
  const auto& t = s.text.tokens;
  const std::size_t close = closing(t, i + 1);
  std::size_t comma = 0;
  for (std::size_t k = i + 2; k < close && k < t.size(); ++k) {
    if (t[k].is("(") || t[k].is("[") || t[k].is("{")) k = closing(t, k);
    if (k < close && t[k].is(",")) comma = k;
  }
  if (comma == 0 || close >= t.size()) return;
  s.edits.replace(t[i].offset, t[i].text.size(),
                  "::isomer::emulator::convert_ext_vector<" + s.written(comma + 1, close) + ">");
  s.edits.replace(t[comma].offset, t[close].offset - t[comma].offset, s.lines(comma, close));
}

}  // namespace

bool rewrite_ext_vectors(Source& s) {
  const auto& t = s.text.tokens;
  bool any = false;
  for (std::size_t i = 0; i + 4 < t.size(); ++i) {
    if (!t[i].is("__attribute__") || !t[i + 1].is("(") || !t[i + 2].is("(") || !is_word(t[i + 3]) ||
        !t[i + 4].is("("))
      continue;
    Attribute(s, i).rewrite();
    any = true;
  }
  for (std::size_t i = 0; any && i + 1 < t.size(); ++i)
    if (t[i].is("__builtin_convertvector") && t[i + 1].is("(")) rewrite_conversion(s, i);
  return any;
}

}  // namespace isomer::emulator::source
