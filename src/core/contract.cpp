#include "core/contract.hpp"

#include "core/sentence.hpp"

#include <algorithm>
#include <array>

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

std::string shape_text(const Tensor& tensor) {
  std::string text = "[";
  for (int i = 0; i < tensor.rank; ++i) text += (i ? ", " : "") + std::to_string(tensor.size(i));
  return text + "]";
}

/// One validation: binds symbols and leading dimensions as the arguments come.
class Validation {
 public:
  Validation(const Call& call) : call_(call), contract_(*call.contract), symbols_(contract_.symbol_names) {
    // Whatever asks a tensor for its sizes, the op's own symbols first, relies on this.
    for (std::size_t i = 0; i < contract_.args.size(); ++i) rank_and_signs(contract_.args[i], tensor(i));
    if (contract_.symbols) contract_.symbols(call, symbols_);
  }

  const Symbols& symbols() const { return symbols_; }

  void bind_all() {
    for (std::size_t i = 0; i < contract_.args.size(); ++i)
      if (tensor(i).defined()) shape(contract_.args[i], tensor(i));
  }

  void run(Device device, bool check_data) {
    for (std::size_t i = 0; i < contract_.args.size(); ++i) {
      const Arg& arg = contract_.args[i];
      if (!tensor(i).defined()) {
        if (!arg.optional) refuse(arg.name, " is required, got no tensor");
        continue;
      }
      element_type(arg, tensor(i));
      sizes(arg, tensor(i));
      shape(arg, tensor(i));
      memory(arg, tensor(i), device);
      stride_rule(i);
    }
    aliasing();
    clauses(false);
    if (check_data) clauses(true);
  }

  void addresses(Device device) const {
    for (std::size_t i = 0; i < contract_.args.size(); ++i)
      if (tensor(i).defined()) memory(contract_.args[i], tensor(i), device);
    aliasing();
  }

  void clauses(bool that_read_data) const {
    for (const Clause& clause : contract_.clauses)
      if (clause.reads_data == that_read_data)
        if (const auto broken = clause.broken(call_)) refuse(*broken);
  }

 private:
  const Tensor& tensor(std::size_t i) const { return *call_.tensors[i]; }

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(ErrorCode::bad_argument, contract_.op, ": ", parts...);
  }

  void element_type(const Arg& arg, const Tensor& t) const {
    if (!arg.dtype_same_as.empty()) {
      const Tensor& other = tensor(static_cast<std::size_t>(contract_.index_of(arg.dtype_same_as)));
      if (other.defined() && t.dtype != other.dtype)
        refuse(arg.name, " has dtype ", name_of(t.dtype), ", expected ", name_of(other.dtype), " as ",
               arg.dtype_same_as);
    }
    if (std::find(arg.dtypes.begin(), arg.dtypes.end(), t.dtype) != arg.dtypes.end()) return;
    std::vector<std::string_view> names;
    for (const DType type : arg.dtypes) names.push_back(name_of(type));
    refuse(arg.name, " has dtype ", name_of(t.dtype), ", expected ", either(names));
  }

  void rank_and_signs(const Arg& arg, const Tensor& t) const {
    if (t.rank < 0 || t.rank > Tensor::kMaxRank)
      refuse(arg.name, " has rank ", t.rank, ", expected 0 to ", Tensor::kMaxRank);
    for (int i = 0; i < t.rank; ++i)
      if (t.size(i) < 0) refuse(arg.name, " has shape ", shape_text(t), ", expected no negative size");
  }

  void sizes(const Arg& arg, const Tensor& t) const {
    std::int64_t low = 0, high = 0, elements = size_of(t.dtype);
    for (int i = 0; i < t.rank; ++i)
      if (t.size(i) == 0) return;
    for (int i = 0; i < t.rank; ++i) {
      std::int64_t span = 0;
      const bool wide = __builtin_mul_overflow(t.size(i) - 1, t.stride(i), &span) ||
                        __builtin_mul_overflow(span, std::int64_t{size_of(t.dtype)}, &span) ||
                        __builtin_add_overflow(span > 0 ? high : low, span, span > 0 ? &high : &low) ||
                        __builtin_mul_overflow(elements, t.size(i), &elements);
      if (wide || high - low < 0 || high > INT64_MAX / 4 || low < INT64_MIN / 4)
        refuse(arg.name, " has shape ", shape_text(t), ", which spans more than 2^61 bytes");
    }
  }

  bool matches(const ShapeRule& rule, const Tensor& t, Symbols& symbols, std::string* expected) const {
    const int trailing = static_cast<int>(rule.terms.size());
    const int leading = t.rank - trailing;
    bool same = leading >= 0 && (rule.leading || leading == 0);
    std::string text = "[";
    if (rule.leading) {
      const int known = have_leading_ ? leading_ : std::max(leading, 0);
      if (have_leading_ && leading != leading_) same = false;
      for (int i = 0; i < known; ++i) {
        const std::int64_t size = have_leading_ ? leading_sizes_[static_cast<std::size_t>(i)] : t.size(i);
        if (same && t.size(i) != size) same = false;
        text += (text.size() > 1 ? ", " : "") + std::to_string(size);
      }
    }
    using Kind = ShapeRule::Term::Kind;
    for (int i = 0; i < trailing; ++i) {
      const ShapeRule::Term& term = rule.terms[static_cast<std::size_t>(i)];
      const std::int64_t size = same ? t.size(leading + i) : -1;
      std::int64_t want = Symbols::kUnbound;
      if (term.kind == Kind::number) want = term.number;
      if (term.kind == Kind::symbol) {
        std::int64_t& bound = symbols.at(term.symbol);
        if (bound == Symbols::kUnbound && same) bound = size;
        want = bound;
      }
      if (term.kind == Kind::expression) want = evaluate(term, symbols);
      text += (text.size() > 1 ? ", " : "") + (want == Symbols::kUnbound ? term.text : std::to_string(want));
      if (same && term.kind != Kind::any && want != Symbols::kUnbound && want != size) {
        same = false;
      }
    }
    if (expected != nullptr) *expected = text + "]";
    return same;
  }

  void shape(const Arg& arg, const Tensor& t) {
    for (const ShapeRule& rule : arg.rules) {
      Symbols trial = symbols_;
      if (!matches(rule, t, trial, nullptr)) continue;
      symbols_ = trial;
      if (rule.leading && !have_leading_) {
        have_leading_ = true;
        leading_ = t.rank - static_cast<int>(rule.terms.size());
        for (int i = 0; i < leading_; ++i) leading_sizes_[static_cast<std::size_t>(i)] = t.size(i);
      }
      return;
    }
    // The alternative of the tensor's own rank tells most.
    std::string text;
    for (const ShapeRule& rule : arg.rules) {
      const int trailing = static_cast<int>(rule.terms.size());
      if (arg.rules.size() > 1 && trailing != t.rank && !rule.leading && &rule != &arg.rules.back()) continue;
      if (!text.empty() && trailing != t.rank) continue;
      Symbols trial = symbols_;
      std::string expected;
      matches(rule, t, trial, &expected);
      text += (text.empty() ? "" : " or ") + expected + " (" + rule.text + ")";
    }
    refuse(arg.name, " has shape ", shape_text(t), ", expected ", text);
  }

  void memory(const Arg& arg, const Tensor& t, Device device) const {
    const bool on_host = t.device.type == DeviceType::cpu;
    if (t.device != device && !(arg.host_ok && on_host))
      refuse(arg.name, " is on ", to_string(t.device), ", expected ", to_string(device), " as the queue");
    if (t.empty()) return;
    if (t.data == nullptr) refuse(arg.name, " has null data, expected ", t.numel(), " elements");
    const auto address = reinterpret_cast<std::uintptr_t>(t.data);
    if (address % static_cast<std::uintptr_t>(size_of(t.dtype)) != 0)
      refuse(arg.name, " is misaligned: its address must be a multiple of ", size_of(t.dtype), " bytes for ",
             name_of(t.dtype));
  }

  void stride_rule(std::size_t index) const {
    const Arg& arg = contract_.args[index];
    const Tensor& t = tensor(index);
    if (t.empty()) return;
    if (arg.strides == Strides::last_contiguous && t.rank > 0 && t.size(-1) > 1 && t.stride(-1) != 1)
      refuse(arg.name, " has stride ", t.stride(-1), " in its last dimension, expected 1");
    if (arg.strides == Strides::contiguous && !t.is_contiguous())
      refuse(arg.name, " is ", t.describe(), ", expected compact row-major strides");
    if (role_in(call_, index) != Role::in && overlaps_itself(t))
      refuse(arg.name, " is ", t.describe(),
             ", in which elements overlap; an output needs each element of its own");
  }

  void aliasing() const {
    for (std::size_t i = 0; i < contract_.args.size(); ++i) {
      const Arg& out = contract_.args[i];
      if (role_in(call_, i) == Role::in || !tensor(i).defined()) continue;
      for (std::size_t j = 0; j < contract_.args.size(); ++j) {
        if (j == i || !tensor(j).defined() || (role_in(call_, j) != Role::in && j < i)) continue;
        if (out.may_alias == contract_.args[j].name && same_view(tensor(i), tensor(j))) continue;
        if (contract_.args[j].may_alias == out.name && same_view(tensor(i), tensor(j))) continue;
        if (overlap(tensor(i), tensor(j)))
          refuse(out.name, " overlaps ", contract_.args[j].name, " in memory, expected an output of its own");
      }
    }
  }

  static bool same_view(const Tensor& a, const Tensor& b) {
    if (a.data != b.data || a.dtype != b.dtype || a.rank != b.rank) return false;
    for (int i = 0; i < a.rank; ++i)
      if (a.size(i) != b.size(i) || (a.size(i) > 1 && a.stride(i) != b.stride(i))) return false;
    return true;
  }

  const Call& call_;
  const Contract& contract_;
  Symbols symbols_;
  bool have_leading_ = false;
  int leading_ = 0;
  std::array<std::int64_t, Tensor::kMaxRank> leading_sizes_{};
};

}  // namespace

void Symbols::set(std::string_view name, std::int64_t value) {
  for (std::size_t i = 0; i < names_->size(); ++i)
    if ((*names_)[i] == name) values_[i] = value;
}

std::int64_t Symbols::operator[](std::string_view name) const {
  for (std::size_t i = 0; i < names_->size(); ++i)
    if ((*names_)[i] == name) return values_[i];
  return kUnbound;
}

int Contract::index_of(std::string_view arg) const {
  for (std::size_t i = 0; i < args.size(); ++i)
    if (args[i].name == arg) return static_cast<int>(i);
  return -1;
}

const Option* Contract::find_option(std::string_view option) const {
  for (const Option& each : options)
    if (each.name == option) return &each;
  return nullptr;
}

Role role_in(const Call& call, std::size_t index) {
  const Arg& arg = call.contract->args[index];
  if (arg.written_with.empty() || call.tensor(call.contract->index_of(arg.written_with)).defined())
    return arg.role;
  return Role::in;
}

Contract finish(Contract contract) {
  for (Arg& arg : contract.args) {
    for (const std::string& shape : arg.shapes)
      arg.rules.push_back(parse_shape(shape, contract.symbol_names));
    if (std::find(contract.offsets.begin(), contract.offsets.end(), arg.offset) != contract.offsets.end())
      fail(ErrorCode::internal, contract.op, ": the contract has argument ", arg.name, " twice");
    contract.offsets.push_back(arg.offset);
  }
  for (const Option& option : contract.options)
    if (contract.find_option(option.name) != &option)
      fail(ErrorCode::internal, contract.op, ": the contract has option ", option.name, " twice");
  if (contract.symbol_names.size() > 32 || contract.args.size() > Call::kMaxArgs)
    fail(ErrorCode::internal, contract.op, ": at most 32 arguments and 32 symbols expected in a contract");
  return contract;
}

void validate(const Call& call, Device device, bool check_data) { Validation(call).run(device, check_data); }

void check_addresses(const Call& call, Device device) { Validation(call).addresses(device); }

void check_data(const Call& call) { Validation(call).clauses(true); }

Symbols symbols_of(const Call& call) {
  Validation validation(call);
  validation.bind_all();
  return validation.symbols();
}

}  // namespace isomer::core
