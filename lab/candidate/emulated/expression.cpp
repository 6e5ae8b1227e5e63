#include "lab/candidate/emulated/expression.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

namespace isomer::lab {
namespace {

constexpr int kDepth = 64;

struct NoExpression {};

bool continues_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class Parser {
 public:
  Parser(std::string_view text, const Resolve& resolve) : text_(text), resolve_(resolve) {}

  double whole() {
    const double value = sum();
    blanks();
    if (at_ != text_.size()) throw NoExpression();
    return value;
  }

 private:
  void blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(char c) {
    blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void must(char c) {
    if (!take(c)) throw NoExpression();
  }
  std::string word() {
    blanks();
    std::string w;
    while (at_ < text_.size() && (continues_name(text_[at_]) || (text_[at_] == ':' && !w.empty())))
      w += text_[at_++];
    return w;
  }
  double sum() {
    double left = product();
    while (true) {
      if (take('+')) {
        left += product();
      } else if (take('-')) {
        left -= product();
      } else {
        return left;
      }
    }
  }
  double product() {
    double left = factor();
    while (true) {
      if (take('*')) {
        left *= factor();
      } else if (take('/')) {
        const double right = factor();
        if (right == 0) throw NoExpression();
        left = in_ceil_ > 0 ? left / right : std::floor(left / right);
      } else if (take('%')) {
        const double right = factor();
        if (right == 0) throw NoExpression();
        left = std::fmod(left, right);
      } else {
        return left;
      }
    }
  }
  double factor() {
    if (++depth_ > kDepth) throw NoExpression();
    const double value = unary();
    --depth_;
    return value;
  }
  double unary() {
    if (take('-')) return -factor();
    if (take('(')) {
      if (cast()) return factor();
      const double inner = sum();
      must(')');
      return inner;
    }
    blanks();
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) return number();
    const std::string w = word();
    if (w.empty()) throw NoExpression();
    if (take('<')) {  // static_cast<unsigned>(…)
      while (at_ < text_.size() && text_[at_] != '>') ++at_;
      must('>');
      must('(');
      const double inner = sum();
      must(')');
      return inner;
    }
    blanks();
    if (at_ < text_.size() && text_[at_] == '(') return function(w);
    std::string member;
    if (take('.')) member = rest_of_member();
    const std::optional<double> value = resolve_(w, member);
    if (!value) throw NoExpression();
    return *value;
  }
  // "(int)" and its kin, behind the opening parenthesis.
  bool cast() {
    const std::size_t back = at_;
    bool type = false;
    for (std::string w = word(); !w.empty(); w = word()) {
      static const char* const words[] = {"int",     "unsigned", "long",  "size_t", "float",      "double",
                                          "int64_t", "uint32_t", "const", "signed", "std::size_t"};
      if (std::none_of(std::begin(words), std::end(words), [&](const char* known) { return w == known; })) {
        at_ = back;
        return false;
      }
      type = true;
    }
    if (type && take(')')) return true;
    at_ = back;
    return false;
  }
  double number() {
    const std::string rest(text_.substr(at_, 40));
    char* end = nullptr;
    const double value = rest.rfind("0x", 0) == 0 ? static_cast<double>(std::strtoull(rest.c_str(), &end, 16))
                                                  : std::strtod(rest.c_str(), &end);
    at_ += static_cast<std::size_t>(end - rest.c_str());
    while (at_ < text_.size() && std::string_view("uUlLfF").find(text_[at_]) != std::string_view::npos) ++at_;
    return value;
  }
  double function(const std::string& name) {
    must('(');
    const bool ceil = name == "ceil" || name == "std::ceil" || name == "ceilf";
    in_ceil_ += ceil ? 1 : 0;
    const double first = sum();
    in_ceil_ -= ceil ? 1 : 0;
    if (ceil) {
      must(')');
      return std::ceil(first);
    }
    if (take(')')) return first;  // int(x)
    must(',');
    const double second = sum();
    must(')');
    if (name == "min" || name == "std::min") return std::min(first, second);
    if (name == "max" || name == "std::max") return std::max(first, second);
    // Every other function of two numbers in a launch that we have met divides and rounds up: cdiv, div_up,
    // ceil_div.
    if (name.find("div") == std::string::npos && name.find("DIV") == std::string::npos) throw NoExpression();
    if (second == 0) throw NoExpression();
    return std::ceil(first / second);
  }
  std::string rest_of_member() {
    std::string member = word();
    if (at_ < text_.size() && (text_[at_] == '(' || text_[at_] == '[')) {
      const auto inner = in_brackets(text_, at_);
      if (!inner) throw NoExpression();
      member += text_[at_] + *inner + (text_[at_] == '(' ? ')' : ']');
      at_ += inner->size() + 2;
    }
    return member;
  }

  std::string_view text_;
  const Resolve& resolve_;
  std::size_t at_ = 0;
  int in_ceil_ = 0, depth_ = 0;
};

}  // namespace

std::optional<double> evaluate(std::string_view expression, const Resolve& resolve) {
  try {
    return Parser(expression, resolve).whole();
  } catch (const NoExpression&) {
    return std::nullopt;
  }
}

std::vector<std::string> split_at_commas(std::string_view list) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (char c : list) {
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (std::string& part : parts) {
    while (!part.empty() && std::isspace(static_cast<unsigned char>(part.back()))) part.pop_back();
    part.erase(0, std::min(part.find_first_not_of(" \t\n\r"), part.size()));
  }
  return parts;
}

std::optional<std::string> in_brackets(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[' || text[i] == '{') ++depth;
    if ((text[i] == ')' || text[i] == ']' || text[i] == '}') && --depth == 0)
      return std::string(text.substr(open + 1, i - open - 1));
  }
  return std::nullopt;
}

}  // namespace isomer::lab
