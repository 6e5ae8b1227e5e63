#include "lab/names/name_tree.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace isomer::lab {
namespace {

constexpr int kDeepest = 400;

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '~' || c == '.' ||
         c == '@' || static_cast<unsigned char>(c) >= 0x80;
}

bool digit(char c) { return c >= '0' && c <= '9'; }

struct Token {
  enum class Kind { end, word, number, sign } kind = Kind::end;
  std::string_view text;
};

class NameReader {
 public:
  explicit NameReader(std::string_view text) : rest_(text) { advance(); }

  std::optional<NameTree> function() {
    NameArgument ignored;
    if (!sequence(ignored, true) || token_.kind != Token::Kind::end) return std::nullopt;
    NameTree tree;
    tree.arguments = std::move(all_arguments_);
    std::size_t begin = 0, end = out_.size();
    if (parameters_begin_ != kNowhere) {
      begin = chunk_;
      end = parameters_begin_ == group_end_ ? group_end_ : parameters_end_;
    } else if (out_.starts_with("void ")) {
      begin = 5;
    }
    if (begin >= end) return std::nullopt;
    tree.text = out_.substr(begin, end - begin);
    tree.at_the_end = groups_ == 1 && group_end_ == end;
    for (std::size_t i = begin; const auto& [from, to] : spans_) {
      if (from < i || to > end) continue;
      tree.name.append(out_, i, from - i);
      i = to;
      last_span_end_ = to;
    }
    tree.name.append(out_, std::max(begin, last_span_end_), end - std::max(begin, last_span_end_));
    return tree;
  }

 private:
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  // --- tokens ---
  void skip_spaces() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }

  void take(std::size_t count, Token::Kind kind) {
    token_ = {kind, rest_.substr(0, count)};
    rest_.remove_prefix(count);
  }

  void advance() {
    skip_spaces();
    if (rest_.empty()) {
      token_ = {};
      return;
    }
    static constexpr std::string_view kAnonymous[] = {"(anonymous namespace)", "<unnamed>", "{anonymous}",
                                                      "`anonymous namespace'"};
    for (const std::string_view spelling : kAnonymous)
      if (rest_.starts_with(spelling)) {
        rest_.remove_prefix(spelling.size());
        token_ = {Token::Kind::word, "(anonymous namespace)"};
        return;
      }
    std::size_t count = 0;
    while (count < rest_.size() && in_word(rest_[count])) ++count;
    // nvcc's scope for what is static at namespace level, which the source does not have.
    if (rest_.starts_with("_INTERNAL_") && rest_.substr(count).starts_with("::")) {
      rest_.remove_prefix(count + 2);
      return advance();
    }
    if (count > 0) {
      take(count, digit(rest_[0]) ? Token::Kind::number : Token::Kind::word);
      if (token_.text.starts_with("_GLOBAL__N_") || token_.text.starts_with("_NV_ANON_NAMESPACE"))
        token_.text = "(anonymous namespace)";
      return;
    }
    if (rest_.front() == '\'') {
      const std::size_t close = rest_.find('\'', 1);
      if (close != std::string_view::npos) return take(close + 1, Token::Kind::word);
    }
    for (const std::string_view sign : {"::", "->", "&&"})
      if (rest_.starts_with(sign)) return take(sign.size(), Token::Kind::sign);
    take(1, Token::Kind::sign);
  }

  bool at(std::string_view sign) const { return token_.kind == Token::Kind::sign && token_.text == sign; }
  bool at_word(std::string_view word) const {
    return token_.kind == Token::Kind::word && token_.text == word;
  }
  bool eat(std::string_view sign) {
    if (!at(sign)) return false;
    advance();
    return true;
  }

  // --- writing ---
  /// A word, with a space where it would run into what stands before it. Says whether it needed one.
  bool put(std::string_view word, std::size_t start) {
    const char last = out_.size() > start ? out_.back() : '\0';
    const bool address = last == '&' && out_.size() == start + 1;
    const bool space = in_word(last) || last == '>' || last == '*' || (last == '&' && !address) ||
                       last == ')' || last == ']';
    if (space) out_ += ' ';
    out_ += word;
    return space;
  }

  bool list(std::string_view close, std::vector<NameArgument>& arguments) {
    for (bool first = true; !at(close); first = false) {
      if (!first) {
        if (!eat(",")) return false;
        out_ += ", ";
      }
      NameArgument argument;
      if (!sequence(argument, false, close)) return false;
      if (token_.kind == Token::Kind::end) return false;
      arguments.push_back(std::move(argument));
    }
    advance();
    // The parameter list (void) is an empty one.
    if (close == ")" && arguments.size() == 1 && arguments[0].text == "void" && out_.ends_with("(void"))
      out_.resize(out_.size() - 4);
    return true;
  }

  /// (bool)1 → true, (unsigned int)8 → 8u; an enumeration keeps its cast.
  void literal(std::size_t open) {
    std::string value;
    if (eat("-")) value = "-";
    value += token_.text;
    advance();
    const std::string type = out_.substr(open + 1, out_.size() - open - 2);
    static constexpr std::pair<std::string_view, std::string_view> kSuffixes[] = {
        {"int", ""},         {"unsigned int", "u"},        {"long", "l"}, {"unsigned long", "ul"},
        {"long long", "ll"}, {"unsigned long long", "ull"}};
    if (type == "bool") {
      out_.resize(open);
      out_ += value == "0" || value == "false" ? "false" : "true";
      return;
    }
    for (const auto& [name, suffix] : kSuffixes)
      if (type == name) {
        out_.resize(open);
        // Some write the suffix as well as the cast.
        while (!value.empty() && std::isalpha(static_cast<unsigned char>(value.back()))) value.pop_back();
        out_ += value;
        out_ += suffix;
        return;
      }
    out_ += value;
  }

  /// [lambda(int) (instance 2)] → {lambda(int)#2}, behind the bracket.
  bool bracketed_closure() {
    const bool lambda = at_word("lambda");
    advance();
    out_ += lambda ? "{lambda" : "{unnamed type";
    if (lambda) {
      std::vector<NameArgument> ignored;
      if (!eat("(")) return false;
      out_ += '(';
      if (!list(")", ignored)) return false;
      out_ += ')';
    } else if (at_word("type")) {
      advance();
    }
    if (!eat("(") || !at_word("instance")) return false;
    advance();
    out_ += '#';
    out_ += token_.text;
    advance();
    out_ += '}';
    return eat(")") && eat("]");
  }

  /// libc++abi's 'lambda'(int), 'lambda0'(int): the second one is the second.
  bool quoted_closure(std::string_view quoted) {
    const bool lambda = quoted.starts_with("'lambda");
    const std::string_view digits = quoted.substr(lambda ? 7 : 8, quoted.size() - (lambda ? 8 : 9));
    if (digits.size() > 6 || !std::all_of(digits.begin(), digits.end(), digit)) return false;
    const int ordinal = digits.empty() ? 1 : std::stoi(std::string(digits)) + 2;
    out_ += lambda ? "{lambda" : "{unnamed type";
    if (lambda) {
      std::vector<NameArgument> ignored;
      if (!eat("(")) return false;
      out_ += '(';
      if (!list(")", ignored)) return false;
      out_ += ')';
    }
    out_ += '#' + std::to_string(ordinal) + '}';
    return true;
  }

  void operator_name() {
    static constexpr std::string_view kSigns[] = {
        "()", "[]", "->*", "->", "<=>", "<<=", ">>=", "<<", ">>", "<=", ">=", "==", "!=",
        "&&", "||", "++",  "--", "+=",  "-=",  "*=",  "/=", "%=", "&=", "|=", "^=", "<",
        ">",  "=",  "!",   "&",  "|",   "+",   "-",   "*",  "/",  "%",  "^",  "~",  ","};
    skip_spaces();
    for (const std::string_view sign : kSigns)
      if (rest_.starts_with(sign)) {
        out_ += "operator";
        out_ += sign;
        rest_.remove_prefix(sign.size());
        advance();
        after_operator_ = out_.size();
        return;
      }
    out_ += "operator ";  // a conversion: its type follows
    advance();
  }

  /// One argument, one parameter, or (top) the whole text: up to a comma or a bracket that closes.
  bool sequence(NameArgument& node, bool top, std::string_view close = {}) {
    if (depth_ >= kDeepest) return false;
    ++depth_;
    const std::size_t start = out_.size();
    std::size_t chunk = start, group_begin = kNowhere, group_end = kNowhere;
    int groups = 0;
    std::string_view leading;  // const in front of its type, as some write it
    const auto flush = [&] {
      if (leading.empty()) return;
      out_ += ' ';
      out_ += leading;
      leading = {};
    };
    // A name inside a function: what that function returns is no part of it.
    const auto forget_return_type = [&] {
      const std::size_t cut = chunk - start;
      if (cut == 0) return;
      out_.erase(start, cut);
      chunk = start;
      if (group_end != kNowhere) group_end -= cut, group_begin -= cut;
      if (top) {
        for (auto& [from, to] : spans_) from -= std::min(from, cut), to -= std::min(to, cut);
      }
    };
    while (token_.kind != Token::Kind::end) {
      if (at(",") || at(")") || at("]") || at("}")) break;
      if (at(">") && close == ">") break;
      const Token token = token_;
      if (token.kind == Token::Kind::number) {
        advance();
        if (out_.size() > start && in_word(out_.back())) out_ += ' ';
        out_ += token.text;
      } else if (token.kind == Token::Kind::word && token.text == "operator") {
        if (out_.size() > start && out_.back() != ':') {
          out_ += ' ';
          chunk = out_.size();
        }
        operator_name();
      } else if (token.kind == Token::Kind::word) {
        advance();
        const bool qualifier = token.text == "const" || token.text == "volatile";
        if (qualifier && out_.size() == start && leading.empty()) {
          leading = token.text;
        } else if (token.text.front() == '\'' &&
                   (token.text.starts_with("'lambda") || token.text.starts_with("'unnamed"))) {
          if (!quoted_closure(token.text)) return false;
        } else {
          if (!top && !leading.empty() && qualifier) flush();
          const bool spaced = put(token.text, start);
          if (spaced && !qualifier) chunk = out_.size() - token.text.size();
          if (qualifier && at("::")) forget_return_type();
        }
      } else if (at("::")) {
        advance();
        if (out_.size() > start) out_ += "::";
        if (top) parameters_begin_ = kNowhere;
      } else if (at("<") && out_.size() > start &&
                 (in_word(out_.back()) || out_.back() == '}' || out_.back() == ']' ||
                  after_operator_ == out_.size())) {
        advance();
        if (out_.ends_with("operator<") || out_.ends_with("operator<<")) out_ += ' ';
        group_begin = out_.size();
        out_ += '<';
        std::vector<NameArgument> arguments;
        if (!list(">", arguments)) return false;
        out_ += '>';
        group_end = out_.size();
        ++groups;
        if (top) {
          spans_.emplace_back(group_begin, group_end);
          std::move(arguments.begin(), arguments.end(), std::back_inserter(all_arguments_));
          groups_ = groups;
        } else {
          node.arguments = std::move(arguments);
        }
      } else if (at("(")) {
        advance();
        if (out_.size() > start && out_.back() != ':') flush();
        const std::size_t open = out_.size();
        out_ += '(';
        std::vector<NameArgument> ignored;
        if (!list(")", ignored)) return false;
        out_ += ')';
        const bool method = at_word("const") && (skip_spaces(), rest_.starts_with("::"));
        if (token_.kind == Token::Kind::number || (at("-") && !rest_.empty() && digit(rest_.front()))) {
          literal(open);
        } else if (at("::") || method) {
          if (open == group_end) out_.resize(open);
          forget_return_type();
        } else if (top && open > start) {
          parameters_begin_ = open;
          parameters_end_ = out_.size();
          chunk_ = chunk;
          group_end_ = group_end == kNowhere ? kNowhere - 1 : group_end;
          // What follows is a method's qualifiers or a compiler's note in brackets.
          while (at_word("const") || at_word("volatile") || at("&") || at("&&")) advance();
          if (at("[")) {
            token_ = {};
            rest_ = {};
          }
        }
      } else if (at("[")) {
        advance();
        if (at_word("lambda") || at_word("unnamed")) {
          if (!bracketed_closure()) return false;
        } else {
          std::vector<NameArgument> ignored;
          flush();
          out_ += '[';
          if (!list("]", ignored)) return false;
          out_ += ']';
        }
      } else if (at("{")) {
        advance();
        std::vector<NameArgument> ignored;
        out_ += '{';
        if (!list("}", ignored)) return false;
        out_ += '}';
      } else {
        advance();
        if (token.text == "*" || token.text == "&" || token.text == "&&") flush();
        out_ += token.text;
      }
    }
    flush();
    --depth_;
    if (top && parameters_begin_ == kNowhere) group_end_ = group_end;
    if (!top) describe(node, start, groups, group_begin, group_end);
    return true;
  }

  void describe(NameArgument& node, std::size_t start, int groups, std::size_t group_begin,
                std::size_t group_end) const {
    if (groups == 1 && group_end == out_.size()) {
      node.kind = NameArgument::Kind::templated;
      node.text = out_.substr(start, group_begin - start);
      return;
    }
    node.arguments.clear();
    node.text = out_.substr(start);
    if (node.text == "decltype(nullptr)" || node.text == "nullptr_t") node.text = "std::nullptr_t";
    if (node.text == "true" || node.text == "false") node.kind = NameArgument::Kind::boolean;
    const std::size_t sign = node.text.starts_with('-') ? 1 : 0;
    if (node.text.size() > sign && digit(node.text[sign])) node.kind = NameArgument::Kind::integer;
  }

  std::string_view rest_;
  Token token_;
  std::string out_;
  int depth_ = 0, groups_ = 0;
  std::size_t after_operator_ = kNowhere;
  // Of the whole text:
  std::vector<std::pair<std::size_t, std::size_t>> spans_;
  std::vector<NameArgument> all_arguments_;
  std::size_t parameters_begin_ = kNowhere, parameters_end_ = 0, chunk_ = 0, group_end_ = kNowhere,
              last_span_end_ = 0;
};

}  // namespace

std::optional<NameTree> read_name(std::string_view demangled) { return NameReader(demangled).function(); }

}  // namespace isomer::lab
