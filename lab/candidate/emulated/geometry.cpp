#include "lab/candidate/emulated/geometry.hpp"

#include <isomer/error.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <regex>

#include <fmt/format.h>

namespace isomer::lab {
namespace {

constexpr std::uint32_t kBlock = 256;
constexpr std::uint32_t kMostThreads = 1024;
constexpr std::uint64_t kSharedBytes = 48 << 10;

// An expression of a launch comment, over the arguments of the call.
class Expression {
 public:
  Expression(const std::string& text, const Entry& kernel, const std::vector<Value>& arguments)
      : text_(text), kernel_(kernel), arguments_(arguments) {}

  double value() {
    const double result = sum();
    blanks();
    if (at_ != text_.size()) wrong();
    return result;
  }

 private:
  [[noreturn]] void wrong() const {
    throw Error(ErrorCode::bad_argument,
                fmt::format("{}: the launch comment's '{}' is no expression over the arguments", kernel_.name,
                            text_));
  }
  void blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(char c) {
    blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
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
        if (right == 0) wrong();
        left = in_ceil_ > 0 ? left / right : std::floor(left / right);
      } else {
        return left;
      }
    }
  }
  std::string word() {
    std::string w;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      w += text_[at_++];
    return w;
  }
  double factor() {
    blanks();
    if (take('(')) {
      const double inner = sum();
      if (!take(')')) wrong();
      return inner;
    }
    const std::string w = word();
    if (w.empty()) wrong();
    if (std::isdigit(static_cast<unsigned char>(w[0]))) return std::stod(w);
    if (w == "ceil" && take('(')) {
      ++in_ceil_;
      const double inner = std::ceil(sum());
      --in_ceil_;
      if (!take(')')) wrong();
      return inner;
    }
    return of_argument(w);
  }
  double of_argument(const std::string& name) {
    for (std::size_t i = 0; i < arguments_.size() && i < kernel_.parameters.size(); ++i) {
      if (kernel_.parameters[i].name != name) continue;
      const Value& v = arguments_[i];
      if (!v.is_tensor()) return static_cast<double>(v.integer);
      if (!take('.')) wrong();
      const std::string member = word();
      if (member == "numel" && take('(') && take(')')) return static_cast<double>(v.tensor.numel());
      if ((member == "size" && take('(')) || (member == "shape" && take('['))) {
        const std::string number = word();
        if (number.empty() || !(take(')') || take(']'))) wrong();
        const int dim = std::atoi(number.c_str());
        if (dim >= v.tensor.rank) wrong();
        return static_cast<double>(v.tensor.size(dim));
      }
      wrong();
    }
    wrong();
  }

  const std::string& text_;
  const Entry& kernel_;
  const std::vector<Value>& arguments_;
  std::size_t at_ = 0;
  int in_ceil_ = 0;
};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (char c : list) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// What stands in the parentheses behind `word` in a comment.
std::optional<std::string> in_parentheses(const std::string& comment, const std::string& word) {
  const auto at = comment.find(word + "(");
  if (at == std::string::npos) return std::nullopt;
  int depth = 0;
  const std::size_t begin = at + word.size();
  for (std::size_t i = begin; i < comment.size(); ++i) {
    if (comment[i] == '(') ++depth;
    if (comment[i] == ')' && --depth == 0) return comment.substr(begin + 1, i - begin - 1);
  }
  return std::nullopt;
}

std::vector<std::string> lines_of(const std::string& source) {
  std::vector<std::string> lines(1);
  for (char c : source) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

// The comment nearest above the kernel's name, within its last few lines.
std::string launch_comment(const Entry& kernel, const std::vector<std::string>& lines) {
  constexpr int kAbove = 8;
  for (int line = kernel.place.line; line > 0 && line > kernel.place.line - kAbove; --line) {
    if (static_cast<std::size_t>(line) > lines.size()) continue;
    const std::string& text = lines[static_cast<std::size_t>(line) - 1];
    if (const auto at = text.find("launch:"); at != std::string::npos && text.find("//") < at)
      return text.substr(at);
  }
  return {};
}

// From the line of its name to the brace that closes it.
std::string body_of(const Entry& kernel, const std::vector<std::string>& lines) {
  std::string body;
  int depth = 0;
  for (std::size_t i = static_cast<std::size_t>(std::max(kernel.place.line, 1)) - 1; i < lines.size(); ++i) {
    body += lines[i] + '\n';
    for (char c : lines[i]) {
      if (c == '{') ++depth;
      if (c == '}' && --depth == 0) return body;
    }
  }
  return body;
}

std::uint32_t whole(double number) {
  return static_cast<std::uint32_t>(std::clamp(number, 0.0, 4294967295.0));
}

emulator::Index3 evaluated(const std::string& list, const Entry& kernel,
                           const std::vector<Value>& arguments) {
  emulator::Index3 index{1, 1, 1};
  const std::vector<std::string> parts = split(list);
  for (std::size_t i = 0; i < parts.size() && i < 3; ++i)
    index[i] = whole(Expression(parts[i], kernel, arguments).value());
  return index;
}

// The largest tensor decides: its elements, or its rows.
ChosenGeometry suggested(const std::string& body, const std::vector<Value>& arguments) {
  const Value* largest = nullptr;
  for (const Value& v : arguments) {
    if (v.is_tensor() && (!largest || v.tensor.numel() > largest->tensor.numel())) largest = &v;
  }
  ChosenGeometry chosen;
  chosen.geometry.block = {kBlock, 1, 1};
  const std::int64_t elements = largest ? largest->tensor.numel() : 1;
  static const std::regex flat(
      R"(blockIdx\s*\.\s*x\s*\*\s*blockDim\s*\.\s*x|blockDim\s*\.\s*x\s*\*\s*blockIdx\s*\.\s*x)");
  const int rank = largest ? largest->tensor.rank : 0;
  const bool second = body.find("blockIdx.y") != std::string::npos,
             third = body.find("blockIdx.z") != std::string::npos;
  if (std::regex_search(body, flat) || rank < 2 || body.find("blockIdx") == std::string::npos) {
    chosen.geometry.grid = {whole(std::ceil(static_cast<double>(elements) / kBlock)), 1, 1};
    chosen.said = "one thread for each element of the largest tensor";
  } else if (second && rank >= 3) {
    const Tensor& t = largest->tensor;
    chosen.geometry.grid = {whole(static_cast<double>(t.size(0))), whole(static_cast<double>(t.size(1))),
                            third && rank >= 4 ? whole(static_cast<double>(t.size(2))) : 1};
    chosen.said = "one block for each of the largest tensor's leading indices";
  } else {
    const std::int64_t row = std::max<std::int64_t>(largest->tensor.size(-1), 1);
    chosen.geometry.grid = {whole(static_cast<double>(elements / row)), 1, 1};
    chosen.said = "one block for each row of the largest tensor";
  }
  return chosen;
}

}  // namespace

ChosenGeometry choose_geometry(const Entry& kernel, const std::string& source,
                               const std::vector<Value>& arguments, const CallSettings& settings) {
  ChosenGeometry chosen;
  const std::vector<std::string> lines = lines_of(source);
  const std::string body = body_of(kernel, lines);
  const std::uint64_t shared = body.find("extern __shared__") != std::string::npos ||
                                       body.find("HIP_DYNAMIC_SHARED") != std::string::npos
                                   ? kSharedBytes
                                   : 0;
  if (settings.grid[0] > 0 && settings.block[0] > 0) {
    for (std::size_t i = 0; i < 3; ++i) {
      chosen.geometry.grid[i] = std::max(settings.grid[i], 1u);
      chosen.geometry.block[i] = std::max(settings.block[i], 1u);
    }
    chosen.geometry.shared_bytes = settings.shared_bytes;
    chosen.said = "as asked for";
  } else if (const std::string comment = launch_comment(kernel, lines); !comment.empty()) {
    const auto grid = in_parentheses(comment, "grid"), block = in_parentheses(comment, "block"),
               bytes = in_parentheses(comment, "shared");
    if (!grid || !block)
      throw Error(ErrorCode::bad_argument,
                  fmt::format("{}: the comment '{}' names no grid(…) and block(…)", kernel.name, comment));
    chosen.geometry.grid = evaluated(*grid, kernel, arguments);
    chosen.geometry.block = evaluated(*block, kernel, arguments);
    chosen.geometry.shared_bytes = bytes ? evaluated(*bytes, kernel, arguments)[0] : shared;
    chosen.said = "from the launch comment over the kernel";
  } else {
    chosen = suggested(body, arguments);
    chosen.geometry.shared_bytes = settings.shared_bytes ? settings.shared_bytes : shared;
    if (settings.block[0] > 0)
      chosen.geometry.block = {settings.block[0], std::max(settings.block[1], 1u),
                               std::max(settings.block[2], 1u)};
  }
  const emulator::Geometry& g = chosen.geometry;
  if (std::uint64_t{g.block[0]} * g.block[1] * g.block[2] > kMostThreads)
    chosen.said += ", more threads than a block may have";
  chosen.said = fmt::format("grid ({},{},{}) block ({},{},{}): {}", g.grid[0], g.grid[1], g.grid[2],
                            g.block[0], g.block[1], g.block[2], chosen.said);
  return chosen;
}

}  // namespace isomer::lab
