#include "lab/ask/adapting/launch_steps.hpp"

#include "lab/text/pattern.hpp"
#include "lab/text/source_text.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace isomer::lab {
namespace {

using What = Passing::What;

/// What an axis of the grid is multiplied by in the kernel: a number, or the block's size along an axis.
struct Step {
  bool used = false;  ///< the kernel reads that axis
  std::int64_t per = 1;
  int of_block = -1;     ///< 0 to 2: the block's size along that axis
  bool threads = false;  ///< a thread for each index within a step
  bool said() const { return per > 1 || of_block >= 0; }
};

/// The number behind a word: itself, or what the source sets it to.
std::optional<std::int64_t> number_of(const std::string& text, const std::string& word) {
  const auto whole = [](const std::string& digits) {
    return std::optional<std::int64_t>(std::strtoll(digits.c_str(), nullptr, 10));
  };
  if (Pattern("^[0-9]+$").found_in(word)) return whole(word);
  const std::optional<Match> set = Pattern("(?:#\\s*define\\s+" + literally(word) + "\\s+\\(?|\\b" +
                                           literally(word) + "\\s*=\\s*)([0-9]+)\\b")
                                       .find(text);
  return set ? whole((*set)[1]) : std::nullopt;
}

std::array<Step, 3> steps_of(const std::string& text, const std::string& body) {
  std::string thread = "threadIdx\\s*\\.\\s*x\\b";
  if (const std::optional<Match> named = Pattern("\\b(\\w+)\\s*=\\s*" + thread + "\\s*[;,]").find(body))
    thread = "(?:" + thread + "|" + literally((*named)[1]) + "\\b)";
  const Pattern one_to_each("^\\s*\\)?\\s*\\+\\s*(?:\\(\\s*\\w+\\s*\\)\\s*)?" + thread);
  std::array<Step, 3> steps;
  for (int axis = 0; axis < 3; ++axis) {
    Step& step = steps[static_cast<std::size_t>(axis)];
    const std::string at = std::string("blockIdx\\s*\\.\\s*") + static_cast<char>('x' + axis);
    step.used = Pattern(at + "\\b").found_in(body);
    // Of a name that the index is given, too.
    std::string index = at;
    if (const std::optional<Match> named = Pattern("\\b(\\w+)\\s*=\\s*" + at + "\\s*[;,]").find(body))
      index = "(?:" + at + "|\\b" + literally((*named)[1]) + ")";
    const std::string factor = "(\\w+(?:\\s*\\.\\s*[xyz])?)";
    for (const Pattern& pattern :
         {Pattern(index + "\\b\\s*\\)?\\s*\\*\\s*" + factor),
          Pattern("\\b" + factor + "\\s*\\*\\s*(?:\\(\\s*\\w+\\s*\\)\\s*)?" + index + "\\b")})
      for (const Match& match : pattern.all(body)) {
        const std::string word = match[1];
        if (word.find("blockDim") == 0) {
          step.of_block = word.back() - 'x';
        } else if (const std::optional<std::int64_t> number = number_of(text, word);
                   number && *number > 1 && *number <= 1024 && step.per == 1) {
          step.per = *number;
          step.threads = one_to_each.found_in(std::string_view(body).substr(match.end()));
        }
      }
  }
  return steps;
}

LaunchForm::Axis constant_axis(std::int64_t number) {
  LaunchForm::Axis axis;
  axis.count.what = What::constant;
  axis.count.constant = static_cast<double>(number);
  return axis;
}

/// What an axis may run through.
struct Run {
  What what = What::size;
  int role = 0, dim = 0;
};

std::vector<Run> runs_of(const Port& port, const Given& given) {
  std::vector<Run> list;
  for (std::size_t r = 0; r < port.roles.size(); ++r) {
    const Value& value = given.values[r];
    if (!port.roles[r].output || !value.is_tensor() || value.tensor.rank == 0 || value.tensor.empty())
      continue;
    const int role = static_cast<int>(r);
    for (int dim = 0; dim < value.tensor.rank; ++dim) list.push_back({What::size, role, dim});
    list.push_back({What::rows, role, 0});
    list.push_back({What::elements, role, 0});
  }
  return list;
}

std::vector<std::array<std::int64_t, 2>> blocks_of(const std::array<Step, 3>& steps, const std::string& body,
                                                   const Port& port, const Given& given) {
  if (Pattern("threadIdx\\s*\\.\\s*y\\b").found_in(body))
    return {{16, 16}, {32, 8}, {32, 4}, {8, 8}, {32, 32}, {32, 16}, {32, 2}, {64, 4}};
  std::vector<std::array<std::int64_t, 2>> list;
  const auto add = [&](std::int64_t threads) {
    if (threads >= 1 && threads <= 1024 &&
        std::find(list.begin(), list.end(), std::array{threads, std::int64_t{1}}) == list.end())
      list.push_back({threads, 1});
  };
  for (const Step& step : steps)
    if (step.threads) return {{step.per, 1}};
  // A thread for each of a tile's rows, or a warp.
  for (const Step& step : steps)
    if (step.per >= 16) add(step.per);
  for (const std::int64_t usual : {256, 128, 64, 32, 512, 1024}) add(usual);
  for (std::size_t r = 0; r < port.roles.size(); ++r)
    if (port.roles[r].output && given.values[r].is_tensor() && given.values[r].tensor.rank > 0)
      add(given.values[r].tensor.size(-1));
  return list;
}

}  // namespace

std::vector<LaunchForm> geometries_by_steps(const std::string& text, int line, const Port& port,
                                            const Given& given) {
  const std::string plain = without_comments(text), body = body_at(plain, line);
  const std::array<Step, 3> steps = steps_of(plain, body);
  if (std::none_of(steps.begin(), steps.end(), [](const Step& each) { return each.said(); })) return {};
  const std::vector<Run> runs = runs_of(port, given);
  std::array<std::optional<Run>, 3> chosen;
  std::vector<LaunchForm> list;
  const auto axis_of = [&](std::size_t axis, const std::array<std::int64_t, 2>& block) {
    if (!chosen[axis]) return constant_axis(1);
    LaunchForm::Axis made;
    made.count.what = chosen[axis]->what;
    made.count.role = chosen[axis]->role;
    made.count.dim = chosen[axis]->dim;
    made.per = steps[axis].per;
    if (steps[axis].of_block == 0 || steps[axis].of_block == 1)
      made.per *= block[static_cast<std::size_t>(steps[axis].of_block)];
    return made;
  };
  const std::vector<std::array<std::int64_t, 2>> blocks = blocks_of(steps, body, port, given);
  const auto choose = [&](const auto& self, std::size_t axis) -> void {
    if (axis == 3) {
      for (const std::array<std::int64_t, 2>& block : blocks)
        list.push_back({{axis_of(0, block), axis_of(1, block), axis_of(2, block)},
                        {constant_axis(block[0]), constant_axis(block[1]), constant_axis(1)}});
      return;
    }
    chosen[axis].reset();
    if (!steps[axis].used) return self(self, axis + 1);
    for (const Run& run : runs) {
      const auto same = [&](const std::optional<Run>& other) {
        return other && other->what == run.what && other->role == run.role && other->dim == run.dim;
      };
      if (std::any_of(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(axis), same)) continue;
      chosen[axis] = run;
      self(self, axis + 1);
    }
    chosen[axis].reset();
    // Of what there is one of, in this problem.
    if (axis > 0 && !steps[axis].said()) self(self, axis + 1);
  };
  choose(choose, 0);
  return list;
}

std::optional<LaunchForm> launch_of_single_index(const std::string& text, int line, const Port& port,
                                                 const Given& given) {
  constexpr std::int64_t kThreads = 256;
  const std::string body = body_at(without_comments(text), line);
  const auto once = [&](const char* word) { return Pattern(word).all(body).size() == 1; };
  if (!once("\\bblockIdx\\b") || !once("\\bthreadIdx\\b") || !once("\\bblockDim\\b") ||
      Pattern("gridDim|__shared__|__sync|__shfl").found_in(body))
    return std::nullopt;
  const std::string
      in_row = "blockIdx\\s*\\.\\s*x\\s*\\)?\\s*\\*\\s*(?:\\(\\s*\\w+\\s*\\)\\s*)?blockDim\\s*\\.\\s*x",
      turned = "blockDim\\s*\\.\\s*x\\s*\\*\\s*(?:\\(\\s*\\w+\\s*\\)\\s*)?blockIdx\\s*\\.\\s*x",
      thread = "threadIdx\\s*\\.\\s*x";
  const std::optional<Match> index =
      Pattern("\\b(\\w+)\\s*=[^;=]*(?:(?:" + in_row + "|" + turned + ")[^;]*" + thread + "|" + thread +
              "[^;]*(?:" + in_row + "|" + turned + "))[^;]*;")
          .find(body);
  if (!index || !Pattern("if\\s*\\(\\s*" + literally((*index)[1]) + "\\s*(>=|<)").found_in(body))
    return std::nullopt;
  for (std::size_t r = 0; r < port.roles.size(); ++r) {
    if (!port.roles[r].output || !given.values[r].is_tensor() || given.values[r].tensor.empty()) continue;
    LaunchForm launch{{constant_axis(1), constant_axis(1), constant_axis(1)},
                      {constant_axis(kThreads), constant_axis(1), constant_axis(1)}};
    launch.grid[0].count.what = What::elements;
    launch.grid[0].count.role = static_cast<int>(r);
    launch.grid[0].per = kThreads;
    launch.certain = true;
    return launch;
  }
  return std::nullopt;
}

}  // namespace isomer::lab
