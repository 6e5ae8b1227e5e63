#include "source/tokens.hpp"

#include <cctype>
#include <map>
#include <utility>

#include "isomer/emulator/error.hpp"

namespace isomer::emulator::source {
namespace {

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80); }
bool continues_name(char c) { return begins_name(c) || std::isdigit(static_cast<unsigned char>(c)); }

class Lexer {
 public:
  Lexer(std::string_view text, bool of_systems) : text_(text), of_systems_(of_systems) {}

  Text run() {
    while (at_ < text_.size()) {
      if (line_start_ && marker()) continue;
      if (system_ && !of_systems_) {
        skip_line();
        continue;
      }
      step();
    }
    return std::move(result_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void skip_line() {
    const std::size_t end = text_.find('\n', at_);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
    line_start_ = true;
  }

  // # 12 "file.cpp" 1 3   (a flag of 3: a system header). Other directives are pragmas: not ours to read.
  bool marker() {
    if (peek() != '#') {
      line_start_ = false;
      return false;
    }
    std::size_t i = at_ + 1;
    while (i < text_.size() && text_[i] == ' ') ++i;
    if (i < text_.size() && std::isdigit(static_cast<unsigned char>(text_[i]))) {
      std::uint32_t number = 0;
      while (i < text_.size() && std::isdigit(static_cast<unsigned char>(text_[i])))
        number = number * 10 + (text_[i++] - '0');
      const std::size_t quote = text_.find('"', i), line_end = text_.find('\n', i);
      if (quote < line_end) {
        const std::size_t close = text_.find('"', quote + 1);
        const std::string file(text_.substr(quote + 1, close - quote - 1));
        const std::string_view flags = text_.substr(close + 1, line_end - close - 1);
        // The flag of the first sight decides: macros of system headers carry it into the user's files, and
        // macros of the command line lose it inside of headers.
        const bool flagged =
            flags.find(" 3") != std::string_view::npos || file == "<built-in>" || file == "<command-line>";
        system_ = system_files_.try_emplace(file, flagged).first->second;
        if (file.find("/ATen/") != std::string::npos) result_.uses_aten = true;
        if (!system_ || of_systems_) file_ = number_of(file);
        line_ = number;
      }
    } else if (!system_) {
      ++line_;
    }
    skip_line();
    return true;
  }

  std::uint32_t number_of(const std::string& file) {
    const auto [it, inserted] = numbers_.try_emplace(file, static_cast<std::uint32_t>(result_.files.size()));
    if (inserted) result_.files.push_back(file);
    return it->second;
  }

  void add(Token::Kind kind, std::size_t begin) {
    result_.tokens.push_back(
        {kind, text_.substr(begin, at_ - begin), static_cast<std::uint32_t>(begin), file_, line_});
  }

  void step() {
    const char c = peek();
    if (c == '\n') {
      ++line_, ++at_;
      line_start_ = true;
      return;
    }
    if (std::isspace(static_cast<unsigned char>(c))) {
      ++at_;
      return;
    }
    const std::size_t begin = at_;
    if (begins_name(c)) {
      while (continues_name(peek())) ++at_;
      const std::string_view name = text_.substr(begin, at_ - begin);
      if (peek() == '"' && (name == "R" || name == "LR" || name == "uR" || name == "UR" || name == "u8R")) {
        raw_string(begin);
        return;
      }
      if ((peek() == '"' || peek() == '\'') && (name == "L" || name == "u" || name == "U" || name == "u8")) {
        quoted(begin, peek());
        return;
      }
      add(Token::name, begin);
      return;
    }
    if (std::isdigit(static_cast<unsigned char>(c)) ||
        (c == '.' && std::isdigit(static_cast<unsigned char>(peek(1))))) {
      while (continues_name(peek()) || peek() == '.' || (peek() == '\'' && continues_name(peek(1))) ||
             ((peek() == '+' || peek() == '-') &&
              std::string_view("eEpP").find(text_[at_ - 1]) != std::string_view::npos &&
              !(text_[begin] == '0' && (text_[begin + 1] | 0x20) == 'x' && (text_[at_ - 1] | 0x20) == 'e'))) {
        ++at_;
      }
      add(Token::number, begin);
      return;
    }
    if (c == '"' || c == '\'') {
      quoted(begin, c);
      return;
    }
    // Only the marks that matter are read as one: `<<<`, `::`, `->`.
    if (const std::size_t launch = launch_mark()) {
      at_ += launch;
      add(Token::mark, begin);
      result_.tokens.back().text = "<<<";
      return;
    }
    if (text_.substr(at_, 2) == "::" || text_.substr(at_, 2) == "->") {
      at_ += 2;
    } else {
      ++at_;
    }
    add(Token::mark, begin);
  }

  /// The length of a launch's beginning: `<<<`, or with blanks in it, which some editors make of it and nvcc
  /// takes as well. Three of this mark are nothing else.
  std::size_t launch_mark() const {
    if (text_.substr(at_, 3) == "<<<") return 3;
    if (result_.tokens.empty() || result_.tokens.back().is("operator")) return 0;
    std::size_t i = at_;
    for (int marks = 0; i < text_.size(); ++i) {
      if (text_[i] == '<' && ++marks == 3) return i + 1 - at_;
      if (text_[i] != '<' && text_[i] != ' ' && text_[i] != '\t') break;
    }
    return 0;
  }

  void quoted(std::size_t begin, char quote) {
    ++at_;
    while (at_ < text_.size() && peek() != quote && peek() != '\n') at_ += peek() == '\\' ? 2 : 1;
    if (at_ < text_.size() && peek() == quote) ++at_;
    add(quote == '"' ? Token::string : Token::character, begin);
  }

  void raw_string(std::size_t begin) {
    const std::size_t open = text_.find('(', at_);
    const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const std::size_t end = text_.find(close, open);
    at_ = end == std::string_view::npos ? text_.size() : end + close.size();
    add(Token::string, begin);
    for (char c : result_.tokens.back().text) line_ += c == '\n';
  }

  std::string_view text_;
  bool of_systems_;  ///< text of system headers is read too
  std::size_t at_ = 0;
  bool line_start_ = true, system_ = false;
  std::uint32_t file_ = 0, line_ = 1;
  std::map<std::string, std::uint32_t> numbers_;
  std::map<std::string, bool> system_files_;
  Text result_;
};

/// The innermost bracket that is still open at the end; null where there is none.
const Token* never_closed(const Text& text) {
  static constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"{", "}"}, {"(", ")"}, {"[", "]"}};
  for (const auto& [open, close] : kKinds) {
    std::vector<const Token*> opened;
    for (const Token& t : text.tokens) {
      if (t.kind != Token::mark) continue;
      if (t.is(open)) opened.push_back(&t);
      if (t.is(close) && !opened.empty()) opened.pop_back();
    }
    if (!opened.empty()) return opened.back();
  }
  return nullptr;
}

}  // namespace

Text tokenize(std::string_view text) {
  Text result = Lexer(text, false).run();
  // A macro of a system header may open what its own text closes: all of the text decides.
  if (const Token* open = never_closed(result); open != nullptr)
    if (never_closed(Lexer(text, true).run()) != nullptr)
      throw Error(result.files[open->file] + ":" + std::to_string(open->line) + ": '" +
                  std::string(open->text) + "' is never closed");
  return result;
}

}  // namespace isomer::emulator::source
