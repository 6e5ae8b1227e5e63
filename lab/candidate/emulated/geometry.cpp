#include "lab/candidate/emulated/geometry.hpp"

#include "lab/candidate/emulated/launch_line.hpp"
#include "lab/text/pattern.hpp"
#include "lab/text/source_text.hpp"

#include <isomer/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace isomer::lab {
namespace {

constexpr std::uint32_t kBlock = 256;
constexpr std::uint32_t kMostThreads = 1024;
constexpr std::uint64_t kSharedBytes = 48 << 10;

// What stands in the parentheses behind `word` in a comment.
std::optional<std::string> in_parentheses(const std::string& comment, const std::string& word) {
  const auto at = comment.find(word + "(");
  return at == std::string::npos ? std::nullopt : in_brackets(comment, at + word.size());
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

// The comment with grid(…) and block(…) nearest above the kernel's name, within its last few lines.
std::string launch_comment(const Entry& kernel, const std::vector<std::string>& lines) {
  constexpr int kAbove = 8;
  for (int line = kernel.place.line; line > 0 && line > kernel.place.line - kAbove; --line) {
    if (static_cast<std::size_t>(line) > lines.size()) continue;
    const std::string& text = lines[static_cast<std::size_t>(line) - 1];
    const auto at = std::min(text.find("launch:"), text.find("Launch:"));
    if (at != std::string::npos && text.find("//") < at && text.find("grid(", at) != std::string::npos &&
        text.find("block(", at) != std::string::npos)
      return text.substr(at);
  }
  return {};
}

std::uint32_t whole(double number) {
  return static_cast<std::uint32_t>(std::clamp(number, 0.0, 4294967295.0));
}

emulator::Index3 evaluated(const std::string& list, const Entry& kernel,
                           const std::vector<Value>& arguments) {
  emulator::Index3 index{1, 1, 1};
  const std::vector<std::string> parts = split_at_commas(list);
  for (std::size_t i = 0; i < parts.size() && i < 3; ++i) {
    const std::optional<double> value = evaluate(parts[i], arguments_by_name(kernel, arguments));
    if (!value) {
      throw Error(ErrorCode::bad_argument,
                  fmt::format("{}: '{}' in the launch comment is not an expression over the arguments",
                              kernel.name, parts[i]));
    }
    index[i] = whole(*value);
  }
  return index;
}

// How many indices a block's (or, with threads of its own, a thread's) variable runs through, as the body
// uses it: dest[s] of a tensor with one dimension, or a guard against a number of the call.
std::optional<double> extent_of(const std::string& body, char axis, const Entry& kernel,
                                const std::vector<Value>& arguments, bool& threads) {
  const std::string at = std::string(R"(blockIdx\s*\.\s*)") + axis;
  const Pattern plain(R"((\w+)\s*=\s*(?:\(\s*\w+\s*\)\s*)?)" + at + R"(\s*[;,])");
  const Pattern flat(R"((\w+)\s*=[^;,]*)" + at + R"([^;,]*\*[^;,]*blockDim[^;,]*[;,])");
  std::optional<Match> found = plain.find(body);
  threads = !found;
  if (threads) found = flat.find(body);
  if (!found) return std::nullopt;
  const std::string name = (*found)[1];
  for (std::size_t i = 0; i < arguments.size() && i < kernel.parameters.size(); ++i) {
    const std::string& parameter = kernel.parameters[i].name;
    const Value& v = arguments[i];
    if (parameter.empty()) continue;
    if (v.is_tensor() && v.tensor.rank == 1 &&
        Pattern("\\b" + literally(parameter) + R"(\s*\[\s*)" + name + R"(\s*\])").found_in(body))
      return static_cast<double>(v.tensor.numel());
    // Held against the number itself, not against what is made of it.
    const Pattern guard("\\b" + name + R"(\s*(?:<|>=)\s*)" + literally(parameter) + R"(\b\s*([-+*/]?))");
    const std::vector<Match> guards = guard.all(body);
    if (!v.is_tensor() &&
        std::any_of(guards.begin(), guards.end(), [](const Match& each) { return each[1].empty(); }))
      return static_cast<double>(v.integer);
  }
  return std::nullopt;
}

// What the body's indices run through, axis by axis; nothing where one of them does not say.
std::optional<ChosenGeometry> by_indices(const std::string& body, const Entry& kernel,
                                         const std::vector<Value>& arguments) {
  ChosenGeometry chosen;
  std::array<double, 3> extent{1, 1, 1};
  std::array<bool, 3> threads{};
  int used = 0, with_threads = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const char letter = static_cast<char>('x' + axis);
    if (!Pattern(std::string(R"(blockIdx\s*\.\s*)") + letter).found_in(body)) continue;
    const std::optional<double> found = extent_of(body, letter, kernel, arguments, threads[axis]);
    if (!found) return std::nullopt;
    extent[axis] = *found;
    ++used;
    with_threads += threads[axis];
  }
  if (used == 0) return std::nullopt;
  const double block = with_threads > 1 ? 16 : kBlock;
  chosen.geometry.block = {with_threads == 0 ? kBlock : 1, 1, 1};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (threads[axis]) chosen.geometry.block[axis] = whole(block);
    chosen.geometry.grid[axis] = whole(threads[axis] ? std::ceil(extent[axis] / block) : extent[axis]);
  }
  chosen.said = "as far as its indices run";
  return chosen;
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
  static const Pattern flat(
      R"(blockIdx\s*\.\s*x\s*\*\s*blockDim\s*\.\s*x|blockDim\s*\.\s*x\s*\*\s*blockIdx\s*\.\s*x)");
  const int rank = largest ? largest->tensor.rank : 0;
  const bool second = body.find("blockIdx.y") != std::string::npos,
             third = body.find("blockIdx.z") != std::string::npos;
  if (flat.found_in(body) || rank < 2 || body.find("blockIdx") == std::string::npos) {
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
  const std::string body = body_at(source, kernel.place.line);
  const std::uint64_t shared = body.find("extern __shared__") != std::string::npos ||
                                       body.find("HIP_DYNAMIC_SHARED") != std::string::npos
                                   ? kSharedBytes
                                   : 0;
  if (settings.grid[0] > 0 && settings.block[0] > 0) {
    for (std::size_t i = 0; i < 3; ++i) {
      chosen.geometry.grid[i] = std::max(settings.grid[i], 1u);
      chosen.geometry.block[i] = std::max(settings.block[i], 1u);
    }
    chosen.geometry.shared_bytes = settings.shared_bytes > 0 ? settings.shared_bytes : shared;
    chosen.said = "as asked for";
  } else if (const std::string comment = launch_comment(kernel, lines); !comment.empty()) {
    const auto grid = in_parentheses(comment, "grid"), block = in_parentheses(comment, "block"),
               bytes = in_parentheses(comment, "shared");
    if (!grid || !block)
      throw Error(ErrorCode::bad_argument,
                  fmt::format("{}: a bracket of the comment '{}' is not closed", kernel.name, comment));
    chosen.geometry.grid = evaluated(*grid, kernel, arguments);
    chosen.geometry.block = evaluated(*block, kernel, arguments);
    chosen.geometry.shared_bytes = bytes ? evaluated(*bytes, kernel, arguments)[0] : shared;
    chosen.said = "from the launch comment over the kernel";
  } else if (const auto line = geometry_of_launch_line(kernel, source, arguments)) {
    chosen.geometry = *line;
    chosen.said = "from the source's launch line";
  } else {
    const auto indices = by_indices(body, kernel, arguments);
    chosen = indices ? *indices : suggested(body, arguments);
    chosen.guessed = settings.block[0] == 0;
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
