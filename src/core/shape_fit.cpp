#include "core/shape_fit.hpp"

#include "core/sentence.hpp"

#include <algorithm>
#include <cctype>

namespace isomer::core {
namespace {

/// Operations of a parsed dimension expression, in postfix order.
enum : std::int64_t { op_number, op_symbol, op_add, op_sub, op_mul, op_div, op_ceil };

/// Recursive descent over "ceil(N/128)*B+1".
class DimensionParser {
 public:
  DimensionParser(std::string_view text, std::vector<std::string>& names) : text_(text), names_(names) {}

  ShapeRule::Term parse() {
    ShapeRule::Term term;
    term.text = std::string(text_);
    if (text_ == "_") return term;
    sum();
    if (at_ != text_.size()) broken();
    term.program = std::move(program_);
    using Kind = ShapeRule::Term::Kind;
    if (term.program.size() == 2 && term.program[0] == op_number) {
      term.kind = Kind::number;
      term.number = term.program[1];
    } else if (term.program.size() == 2) {
      term.kind = Kind::symbol;
      term.symbol = static_cast<int>(term.program[1]);
    } else {
      term.kind = Kind::expression;
    }
    return term;
  }

 private:
  void sum() {
    product();
    while (peek() == '+' || peek() == '-') {
      const char sign = text_[at_++];
      product();
      emit(sign == '+' ? op_add : op_sub, 0);
    }
  }
  void product() {
    factor();
    while (peek() == '*' || peek() == '/') {
      const char sign = text_[at_++];
      factor();
      emit(sign == '*' ? op_mul : op_div, 0);
    }
  }
  void factor() {
    if (text_.substr(at_).starts_with("ceil(")) {
      at_ += 5;
      product_for_ceil();
      expect(')');
    } else if (peek() == '(') {
      ++at_;
      sum();
      expect(')');
    } else if (std::isdigit(static_cast<unsigned char>(peek()))) {
      std::int64_t value = 0;
      while (std::isdigit(static_cast<unsigned char>(peek()))) value = value * 10 + (text_[at_++] - '0');
      emit(op_number, value);
    } else if (std::isalpha(static_cast<unsigned char>(peek()))) {
      std::string name;
      while (std::isalnum(static_cast<unsigned char>(peek())) || peek() == '_') name += text_[at_++];
      auto found = std::find(names_.begin(), names_.end(), name);
      if (found == names_.end()) found = names_.insert(names_.end(), name);
      emit(op_symbol, found - names_.begin());
    } else {
      broken();
    }
  }
  void product_for_ceil() {
    factor();
    expect('/');
    factor();
    emit(op_ceil, 0);
  }
  void expect(char c) {
    if (peek() != c) broken();
    ++at_;
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void emit(std::int64_t kind, std::int64_t value) {
    program_.push_back(kind);
    program_.push_back(value);
  }
  [[noreturn]] void broken() const {
    fail(ErrorCode::internal, "contract: the dimension '", text_, "' does not parse");
  }

  std::string_view text_;
  std::vector<std::string>& names_;
  std::size_t at_ = 0;
  std::vector<std::int64_t> program_;
};

/// kUnbound where a symbol is not bound yet.
std::int64_t evaluate(const ShapeRule::Term& term, const Symbols& symbols) {
  std::array<std::int64_t, 16> stack{};
  std::size_t top = 0;
  for (std::size_t i = 0; i < term.program.size(); i += 2) {
    const std::int64_t value = term.program[i + 1];
    switch (term.program[i]) {
      case op_number:
        stack[top++] = value;
        continue;
      case op_symbol:
        if (symbols.at(static_cast<int>(value)) == Symbols::kUnbound) return Symbols::kUnbound;
        stack[top++] = symbols.at(static_cast<int>(value));
        continue;
      default:
        break;
    }
    const std::int64_t b = stack[--top];
    std::int64_t& a = stack[top - 1];
    switch (term.program[i]) {
      // No tensor has a size that overflows: INT64_MAX stands for it, and nothing equals it.
      case op_add:
        if (__builtin_add_overflow(a, b, &a)) a = INT64_MAX;
        break;
      case op_sub:
        if (__builtin_sub_overflow(a, b, &a)) a = INT64_MAX;
        break;
      case op_mul:
        if (__builtin_mul_overflow(a, b, &a)) a = INT64_MAX;
        break;
      case op_div:
        a = b == 0 ? Symbols::kUnbound : a / b;
        break;
      default:
        a = b == 0 ? Symbols::kUnbound : a / b + (a % b > 0);
        break;
    }
  }
  return stack[0];
}

}  // namespace

ShapeRule parse_shape(const std::string& text, std::vector<std::string>& names) {
  ShapeRule rule;
  rule.text = text;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = std::string_view(text).substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    if (word == "...")
      rule.leading = true;
    else
      rule.terms.push_back(DimensionParser(word, names).parse());
  }
  return rule;
}

void Symbols::set(std::string_view name, std::int64_t value) {
  for (std::size_t i = 0; i < names_->size(); ++i)
    if ((*names_)[i] == name) values_[i] = value;
}

std::int64_t Symbols::operator[](std::string_view name) const {
  for (std::size_t i = 0; i < names_->size(); ++i)
    if ((*names_)[i] == name) return values_[i];
  return kUnbound;
}

void ShapeFit::learn_from(const ShapeFit& other) {
  for (int i = 0; i < count_; ++i)
    if (symbols_.at(i) == Symbols::kUnbound) symbols_.at(i) = other.symbols_.at(i);
}

bool ShapeFit::allows_rank(const Arg& arg, int rank) {
  return std::any_of(arg.rules.begin(), arg.rules.end(), [rank](const ShapeRule& rule) {
    const int leading = rank - static_cast<int>(rule.terms.size());
    return rule.leading ? leading >= 0 : leading == 0;
  });
}

bool ShapeFit::matches(const ShapeRule& rule, const Tensor& tensor, Symbols& symbols) const {
  const int leading = tensor.rank - static_cast<int>(rule.terms.size());
  if (leading < 0 || (!rule.leading && leading > 0)) return false;
  if (rule.leading && have_leading_) {
    if (leading != leading_) return false;
    for (int i = 0; i < leading; ++i)
      if (tensor.size(i) != leading_sizes_[static_cast<std::size_t>(i)]) return false;
  }
  using Kind = ShapeRule::Term::Kind;
  for (std::size_t i = 0; i < rule.terms.size(); ++i) {
    const ShapeRule::Term& term = rule.terms[i];
    const std::int64_t size = tensor.size(leading + static_cast<int>(i));
    if (term.kind == Kind::symbol && symbols.at(term.symbol) == Symbols::kUnbound)
      symbols.at(term.symbol) = size;
    const std::int64_t want = term.kind == Kind::number       ? term.number
                              : term.kind == Kind::symbol     ? symbols.at(term.symbol)
                              : term.kind == Kind::expression ? evaluate(term, symbols)
                                                              : size;
    if (want != Symbols::kUnbound && want != size) return false;
  }
  return true;
}

bool ShapeFit::take(const Arg& arg, const Tensor& tensor) {
  for (const ShapeRule& rule : arg.rules) {
    Symbols trial = symbols_;
    if (!matches(rule, tensor, trial)) continue;
    symbols_ = trial;
    if (rule.leading && !have_leading_) {
      have_leading_ = true;
      leading_ = tensor.rank - static_cast<int>(rule.terms.size());
      for (int i = 0; i < leading_; ++i) leading_sizes_[static_cast<std::size_t>(i)] = tensor.size(i);
    }
    return true;
  }
  return false;
}

bool ShapeFit::known(const Arg& arg, Tensor& form) const {
  using Kind = ShapeRule::Term::Kind;
  for (const ShapeRule& rule : arg.rules) {
    const int leading = rule.leading ? leading_ : 0;
    const int rank = leading + static_cast<int>(rule.terms.size());
    if ((rule.leading && !have_leading_) || rank > Tensor::kMaxRank) continue;
    bool every = true;
    for (int i = 0; i < leading; ++i)
      form.shape[static_cast<std::size_t>(i)] = leading_sizes_[static_cast<std::size_t>(i)];
    for (int i = leading; i < rank && every; ++i) {
      const ShapeRule::Term& term = rule.terms[static_cast<std::size_t>(i - leading)];
      const std::int64_t size = term.kind == Kind::number   ? term.number
                                : term.kind == Kind::symbol ? symbols_.at(term.symbol)
                                : term.kind == Kind::any    ? Symbols::kUnbound
                                                            : evaluate(term, symbols_);
      every = size != Symbols::kUnbound;
      form.shape[static_cast<std::size_t>(i)] = size;
    }
    if (!every) continue;
    form.rank = rank;
    return true;
  }
  return false;
}

std::string ShapeFit::text_of(const ShapeRule& rule, const Tensor& tensor) const {
  const int own_leading = tensor.rank - static_cast<int>(rule.terms.size());
  const int leading = !rule.leading ? 0 : have_leading_ ? leading_ : std::max(own_leading, 0);
  const bool same_rank = own_leading == leading;
  std::string text = "[";
  const auto add = [&](const std::string& size) { text += (text.size() > 1 ? ", " : "") + size; };
  for (int i = 0; i < leading; ++i)
    add(std::to_string(have_leading_ ? leading_sizes_[static_cast<std::size_t>(i)] : tensor.size(i)));
  using Kind = ShapeRule::Term::Kind;
  for (std::size_t i = 0; i < rule.terms.size(); ++i) {
    const ShapeRule::Term& term = rule.terms[i];
    const std::int64_t want = term.kind == Kind::number       ? term.number
                              : term.kind == Kind::symbol     ? symbols_.at(term.symbol)
                              : term.kind == Kind::expression ? evaluate(term, symbols_)
                                                              : Symbols::kUnbound;
    if (want != Symbols::kUnbound)
      add(std::to_string(want));
    else
      add(same_rank && term.kind != Kind::expression
              ? std::to_string(tensor.size(leading + static_cast<int>(i)))
              : term.text);
  }
  return text + "]";
}

std::string ShapeFit::expected(const Arg& arg, const Tensor& tensor) const {
  // The alternative of the tensor's own rank tells most.
  std::string text;
  for (const ShapeRule& rule : arg.rules) {
    const int trailing = static_cast<int>(rule.terms.size());
    if (arg.rules.size() > 1 && trailing != tensor.rank && !rule.leading && &rule != &arg.rules.back())
      continue;
    if (!text.empty() && trailing != tensor.rank) continue;
    text += (text.empty() ? "" : " or ") + text_of(rule, tensor) + " (" + rule.text + ")";
  }
  return text;
}

}  // namespace isomer::core
