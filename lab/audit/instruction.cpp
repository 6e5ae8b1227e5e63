#include "lab/audit/counts.hpp"
#include "lab/audit/declarations.hpp"
#include "lab/audit/parts.hpp"
#include "lab/audit/wording.hpp"
#include "lab/text/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

namespace isomer::lab {
namespace {

constexpr std::size_t kMostLines = 5000;

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  std::ifstream file(path, std::ios::binary);
  std::string line;
  while (lines.size() < kMostLines && std::getline(file, line)) lines.push_back(plain_wording(line));
  return lines;
}

/// The same names, not in their order.
bool in_another_order(std::vector<std::string> said, std::vector<std::string> names) {
  if (said == names || said.size() != names.size()) return false;
  std::sort(said.begin(), said.end());
  std::sort(names.begin(), names.end());
  return said == names;
}

struct Reader {
  const CaseFolder& folder;
  std::vector<std::string> lines;
  std::vector<Finding>& findings;

  Finding& contradiction(const std::string& argument, int line) {
    Finding found;
    found.code = Code::contradicts_label;
    found.subject = Subject::instruction;
    found.argument = argument;
    found.location = {folder.instruction.string(), line};
    return findings.emplace_back(std::move(found));
  }

  /// The recorded values of one argument.
  void argument(const Declaration& said, const std::string& name,
                const std::vector<const RecordedCall*>& calls) {
    const auto dtypes = dtypes_in(said.text);
    auto [rank, words] = rank_in(said.text);
    if (said.text.find(" or ") != std::string::npos) rank = -1;  // "[n] or [b, s]"
    std::size_t given = 0, other_type = 0, other_rank = 0;
    const Tensor *type = nullptr, *ranked = nullptr;
    for (const RecordedCall* call : calls) {
      const Value* value = argument_of(call->before, name);
      if (value == nullptr || !value->is_tensor()) continue;
      ++given;
      if (std::none_of(dtypes.begin(), dtypes.end(),
                       [&](const auto& each) { return each.first == value->tensor.dtype; })) {
        ++other_type;
        type = &value->tensor;
      }
      if (value->tensor.rank != rank) {
        ++other_rank;
        ranked = &value->tensor;
      }
    }
    if (!dtypes.empty() && other_type > 0) {
      Finding& found = contradiction(name, said.line);
      found.evidence =
          fmt::format("it says {} for {}, but the test passes {} in {} of {}", dtypes.front().second, name,
                      isomer::name_of(type->dtype), other_type, calls_in_words(given));
      found.fix = fmt::format("say {}, which the label takes", isomer::name_of(type->dtype));
    }
    if (rank >= 0 && other_rank > 0) {
      Finding& found = contradiction(name, said.line);
      found.evidence =
          fmt::format("it says {} for {}, rank {}, but the test passes rank {} in {} of {}: {}", words, name,
                      rank, ranked->rank, other_rank, calls_in_words(given), ranked->describe());
      found.fix = fmt::format("say rank {} and what every dimension is", ranked->rank);
    }
  }

  /// "f(a, b)" against the label's parameters, and what the calls pass by name.
  void signature(const LabelFunction& function, const Facts& facts,
                 const std::vector<const RecordedCall*>& calls) {
    const Pattern call("(^|[^A-Za-z0-9_.])" + literally(function.name) + "\\s*\\(([^()]*)\\)");
    static const Pattern last_word("([A-Za-z_]\\w*)\\s*(?:=[^,]*)?$");
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::optional<Match> match = call.find(lines[i]);
      if (!match) continue;
      std::vector<std::string> said;
      const std::string inside = (*match)[2];
      if (inside.find("..") != std::string::npos || inside.find_first_not_of(" \t") == std::string::npos)
        return;
      for (std::size_t begin = 0; begin <= inside.size();) {
        const std::size_t end = std::min(inside.find(',', begin), inside.size());
        const std::string part = inside.substr(begin, end - begin);
        const std::optional<Match> name = last_word.find(part);
        // Numbers and expressions: an example of a call, no signature.
        if (!name) return;
        said.push_back((*name)[1]);
        begin = end + 1;
      }
      // A word behind the name that is none of its arguments: "decode (both stages)".
      const auto is_said = [&](const LabelParameter& each) { return each.name == said.front(); };
      if (said.size() == 1 && std::none_of(function.parameters.begin(), function.parameters.end(), is_said))
        continue;
      std::vector<std::string> names, missing;
      std::size_t required = 0;
      for (const LabelParameter& each : function.parameters) {
        names.push_back(each.name);
        required += !each.has_default;
        if (!each.has_default && std::find(said.begin(), said.end(), each.name) == said.end())
          missing.push_back(each.name);
      }
      // More than the label has may be what C needs: sizes, outputs.
      const bool fewer = said.size() < required;
      const bool other = !missing.empty() && said.size() > function.parameters.size();
      if (fewer || other) {
        Finding& found = contradiction(missing.empty() ? "" : missing.front(), static_cast<int>(i + 1));
        found.evidence =
            fmt::format("it says {}({}), {} arguments, but the label's function takes {}: ({}), {}:{}",
                        function.name, fmt::join(said, ", "), said.size(), names.size(),
                        fmt::join(names, ", "), facts.label_file, function.line);
        found.fix = fmt::format("say {}({})", function.name, fmt::join(names, ", "));
      }
      if (in_another_order(said, names)) {
        Finding& found = contradiction("", static_cast<int>(i + 1));
        found.evidence = fmt::format("it says {}({}), but the label takes them in another order: ({}), {}:{}",
                                     function.name, fmt::join(said, ", "), fmt::join(names, ", "),
                                     facts.label_file, function.line);
        found.fix = fmt::format("say {}({})", function.name, fmt::join(names, ", "));
      }
      for (const RecordedCall* each : calls)
        for (std::size_t k = 0; k < each->before.size() && !fewer && !other; ++k) {
          if (k >= each->keyword.size() || !each->keyword[k]) continue;
          const std::string& keyword = each->before[k].name;
          if (said.size() < names.size() || std::find(said.begin(), said.end(), keyword) != said.end())
            continue;
          Finding& found = contradiction(keyword, static_cast<int>(i + 1));
          found.evidence = fmt::format(
              "it says {}({}), but the test passes {}= by name, and the label has an argument of that name: "
              "({}), {}:{}",
              function.name, fmt::join(said, ", "), keyword, fmt::join(names, ", "), facts.label_file,
              function.line);
          found.fix = fmt::format("say {}({})", function.name, fmt::join(names, ", "));
          return;
        }
      return;
    }
  }

  /// "in this order: dest, K, scale" against the label's.
  void order(const LabelFunction& function, const Facts& facts) {
    static const Pattern word("[A-Za-z_]\\w*");
    std::vector<std::string> names;
    for (const LabelParameter& each : function.parameters)
      if (!each.has_default) names.push_back(each.name);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::size_t colon = lines[i].find(':');
      if (colon == std::string::npos || (lines[i].find("order") > colon && lines[i].find("顺序") > colon))
        continue;
      const std::string list = lines[i].substr(colon);
      std::vector<std::string> said;
      for (const Match& each : word.all(list)) said.push_back(each[0]);
      if (!in_another_order(said, names)) continue;
      Finding& found = contradiction("", static_cast<int>(i + 1));
      found.evidence =
          fmt::format("it states the order {}, but {} of the label takes ({}), {}:{}", fmt::join(said, ", "),
                      function.name, fmt::join(names, ", "), facts.label_file, function.line);
      found.fix = fmt::format("say {}", fmt::join(names, ", "));
      return;
    }
  }

  /// "the function takes 3 arguments" against what the label cannot do without. More may be what C needs.
  void count(const LabelFunction& function, const Facts& facts) {
    static const Pattern counted(
        "\\b(?:takes|accepts|expects|receives|has|with)\\s+(?:exactly |only "
        ")?(\\d)\\s+(?:arguments|parameters)\\b");
    const auto required = std::count_if(function.parameters.begin(), function.parameters.end(),
                                        [](const LabelParameter& each) { return !each.has_default; });
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool about =
          lines[i].find("function") != std::string::npos || lines[i].find(function.name) != std::string::npos;
      if (!about || lines[i].find("kernel") != std::string::npos) continue;
      const std::optional<Match> match = counted.find(lines[i]);
      if (!match || std::stol((*match)[1]) >= required) continue;
      Finding& found = contradiction("", static_cast<int>(i + 1));
      found.evidence = fmt::format("it says '{}', but {} of the label takes {}: {}:{}", (*match)[0],
                                   function.name, required, facts.label_file, function.line);
      found.fix = fmt::format("say {} arguments", required);
      return;
    }
  }

  /// "BLOCK_SIZE = 256" against what the label launches with.
  void constants(const LabelFunction& function, const Facts& facts) {
    std::set<std::string> told, block_names;
    for (const LabelConstant& constant : function.constants)
      if (constant.name.starts_with("BLOCK")) block_names.insert(constant.name);
    const std::size_t blocks = block_names.size();
    for (const LabelConstant& constant : function.constants) {
      if (constant.values.empty() || !told.insert(constant.name).second) continue;
      // Where only one of them is a block, "BLOCK = 256" and "block size 256" mean it.
      const std::string names = constant.name.starts_with("BLOCK") && blocks == 1
                                    ? "(?:" + constant.name + "|BLOCK|[Bb]lock size)"
                                    : constant.name;
      const Pattern assigned("\\b" + names + "\\b`?\\s*(?:=|:|of|is)?\\s*`?\\s*(\\d{1,9})\\b");
      for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::optional<Match> match = assigned.find(lines[i]);
        if (!match) continue;
        const std::int64_t said = std::stoll((*match)[1]);
        if (std::find(constant.values.begin(), constant.values.end(), said) != constant.values.end()) break;
        Finding& found = contradiction(constant.name, static_cast<int>(i + 1));
        found.evidence = fmt::format("it says {} = {}, but the label launches with {} ({}:{})", constant.name,
                                     said, fmt::join(constant.values, ", "), facts.label_file, constant.line);
        found.fix =
            "leave the launch to the port: the number of threads in a block is not part of what is computed";
        break;
      }
    }
  }
};

}  // namespace

void audit_instruction(const CaseFolder& folder, const Recording& recording, const Facts* facts,
                       std::vector<Finding>& findings) {
  if (folder.instruction.empty()) return;
  Reader reader{folder, lines_of(folder.instruction), findings};
  // The function that the test is about: the one called most.
  std::map<std::string, std::vector<const RecordedCall*>> functions;
  const std::vector<const RecordedCall*>* calls = nullptr;
  for (const RecordedCall& call : recording.calls) functions[call.function].push_back(&call);
  for (const auto& [name, made] : functions)
    if (calls == nullptr || made.size() > calls->size()) calls = &made;
  if (calls == nullptr) return;
  const std::string& name = calls->front()->function;

  std::set<std::string> arguments;
  for (const RecordedCall* call : *calls)
    for (const Value& value : call->before) arguments.insert(value.name);
  std::set<std::string> told;
  for (const Declaration& said : declarations(reader.lines, arguments))
    for (const std::string& argument : said.names)
      if (told.insert(argument).second) reader.argument(said, argument, *calls);
  std::set<std::pair<std::string, bool>> demanded;
  for (std::size_t i = 0; i < reader.lines.size(); ++i)
    for (const CodeDemand& demand : demands_of(reader.lines[i], arguments)) {
      // Once for each argument and kind, and not what is said of it in words as well.
      if (!demanded.insert({demand.name, demand.rank >= 0}).second) continue;
      const Declaration said{{demand.name},
                             demand.rank >= 0 ? fmt::format("rank {}", demand.rank) : demand.text,
                             static_cast<int>(i + 1)};
      const bool known = std::any_of(findings.begin(), findings.end(), [&](const Finding& each) {
        return each.subject == Subject::instruction && each.argument == demand.name &&
               (each.evidence.find(", rank ") != std::string::npos) == (demand.rank >= 0);
      });
      if (!known) reader.argument(said, demand.name, *calls);
    }
  const LabelFunction* function = facts != nullptr ? facts->function(name) : nullptr;
  if (function == nullptr) return;
  const std::size_t before = findings.size();
  reader.signature(*function, *facts, *calls);
  if (findings.size() == before) reader.count(*function, *facts);
  if (findings.size() == before)
    for (const Miscount& each : miscounts(reader.lines, *function, *calls)) {
      Finding& found = reader.contradiction("", each.line);
      found.evidence =
          fmt::format("it says '{}', but {}: {}:{}", each.said, each.is, facts->label_file, function->line);
      found.fix = each.fix;
    }
  if (findings.size() == before) reader.order(*function, *facts);
  reader.constants(*function, *facts);
}

}  // namespace isomer::lab
