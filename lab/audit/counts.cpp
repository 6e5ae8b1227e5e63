// How many arguments, tensors and results an instruction counts in words, against what there are.
#include "lab/audit/counts.hpp"

#include "lab/text/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isomer::lab {
namespace {

const std::vector<std::string> kNumberWords = {"one",  "two", "three", "four",
                                               "five", "six", "seven", "eight"};
const std::string kNumber = "(\\d|one|two|three|four|five|six|seven|eight)";

std::size_t number_of(const std::string& word) {
  const auto at = std::find(kNumberWords.begin(), kNumberWords.end(), word);
  return at == kNumberWords.end() ? static_cast<std::size_t>(std::stoul(word))
                                  : static_cast<std::size_t>(at - kNumberWords.begin()) + 1;
}

std::size_t tensors_in(const std::vector<Value>& values) {
  return static_cast<std::size_t>(
      std::count_if(values.begin(), values.end(), [](const Value& each) { return each.is_tensor(); }));
}

struct Counted {
  std::string text;  ///< of the line, as far as it counts
  std::size_t number = 0;
  int line = 0;
};

/// The first line about the function, not its kernel, that the expression counts in.
bool find_counted(const std::vector<std::string>& lines, const std::string& name, const Pattern& words,
                  Counted& counted) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool about = lines[i].find("function") != std::string::npos ||
                       lines[i].find(name) != std::string::npos || lines[i].starts_with("Output");
    if (!about || lines[i].find("kernel") != std::string::npos) continue;
    const std::optional<Match> found = words.find(lines[i]);
    if (!found) continue;
    counted.text = (*found)[0];
    counted.number = number_of((*found)[1]);
    counted.line = static_cast<int>(i + 1);
    return true;
  }
  return false;
}

}  // namespace

std::vector<Miscount> miscounts(const std::vector<std::string>& lines, const LabelFunction& function,
                                const std::vector<const RecordedCall*>& calls) {
  static const Pattern extension(
      "[Pp]y[Tt]orch (?:C\\+\\+ |CUDA |HIP |cpp )?[Ee]xtension|torch::Tensor|"
      "at::Tensor|pybind|PYBIND");
  static const Pattern pointer("\\w\\s*\\*\\s*\\w+\\s*[,)]|raw pointer|device pointer");
  static const Pattern arguments(std::string("\\b(?:takes|accepts|expects|receives)\\s+(?:exactly |only )?") +
                                 kNumber + "\\s+(?:arguments|parameters)\\b");
  static const Pattern tensors(std::string("\\b(?:takes|accepts|expects|receives)\\s+(?:exactly |only )?") +
                               kNumber + "\\s+(?:input )?tensors\\b");
  static const Pattern results(std::string("\\breturns?\\s+(?:exactly |only )?(?:a tuple of )?") + kNumber +
                               "\\s+(?:tensors|results|outputs|values)\\b");
  const auto said = [&](const Pattern& words) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const std::string& line) { return words.found_in(line); });
  };
  // A port in C takes sizes and outputs as well, one in PyTorch what the label takes.
  const bool as_label = said(extension) && !said(pointer);
  std::vector<Miscount> all;
  Counted counted;
  if (as_label && find_counted(lines, function.name, arguments, counted) &&
      counted.number > function.parameters.size())
    all.push_back({counted.line, counted.text,
                   fmt::format("{} of the label takes {}", function.name, function.parameters.size()),
                   fmt::format("say {} arguments", function.parameters.size())});
  std::size_t fewest = ~std::size_t{0}, most = 0, least_given = ~std::size_t{0}, most_given = 0;
  for (const RecordedCall* call : calls) {
    fewest = std::min(fewest, tensors_in(call->before));
    most = std::max(most, tensors_in(call->before));
    if (tensors_in(call->returned) == 0) continue;
    least_given = std::min(least_given, tensors_in(call->returned));
    most_given = std::max(most_given, tensors_in(call->returned));
  }
  if (find_counted(lines, function.name, tensors, counted) &&
      (counted.number < fewest || (as_label && counted.number > most && most > 0)))
    all.push_back({counted.line, counted.text,
                   fmt::format("the test passes {} of them to {}", counted.number < fewest ? fewest : most,
                               function.name),
                   fmt::format("say {}", counted.number < fewest ? fewest : most)});
  if (find_counted(lines, function.name, results, counted) && most_given > 0 &&
      (counted.number < least_given || counted.number > most_given))
    all.push_back({counted.line, counted.text,
                   fmt::format("{} of the label gave back {}", function.name, most_given),
                   fmt::format("say {}", most_given)});
  return all;
}

}  // namespace isomer::lab
