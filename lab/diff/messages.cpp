#include "lab/diff/messages.hpp"

#include "core/sentence.hpp"
#include "lab/text/read_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace isomer::lab {

const Messages& Messages::of(std::string_view language) {
  static const std::map<std::string, Messages, std::less<>> all = [] {
    std::map<std::string, Messages, std::less<>> read;
    for (const MessageFile& file : message_files()) {
      Messages& messages = read[std::string(file.path.substr(0, file.path.rfind('.')))];
      const nlohmann::json texts = read_right_json(file.text);
      for (const auto& [id, text] : texts.items()) messages.texts_.emplace_back(id, text.get<std::string>());
    }
    return read;
  }();
  const auto found = all.find(language);
  if (found == all.end()) {
    std::string known;
    for (const auto& [name, messages] : all) known += (known.empty() ? "" : ", ") + name;
    core::fail(ErrorCode::bad_argument, "--lang: one of ", known, " expected, got '", language, "'");
  }
  return found->second;
}

std::vector<std::string> Messages::languages() {
  std::vector<std::string> names;
  for (const MessageFile& file : message_files())
    names.emplace_back(file.path.substr(0, file.path.rfind('.')));
  return names;
}

std::vector<std::string> Messages::identifiers() const {
  std::vector<std::string> all;
  for (const auto& [id, text] : texts_) all.push_back(id);
  return all;
}

std::string Messages::say(std::string_view id, const Values& values) const {
  const auto found =
      std::lower_bound(texts_.begin(), texts_.end(), id,
                       [](const auto& entry, std::string_view key) { return entry.first < key; });
  if (found == texts_.end() || found->first != id)
    core::fail(ErrorCode::internal, "diff: no message '", id, "'");
  std::string out;
  for (std::string_view rest = found->second; !rest.empty();) {
    const std::size_t open = rest.find('{');
    out += rest.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = rest.find('}', open);
    const std::string_view name = rest.substr(open + 1, close - open - 1);
    const auto value =
        std::find_if(values.begin(), values.end(), [&](const auto& each) { return each.first == name; });
    if (value == values.end()) core::fail(ErrorCode::internal, "diff: message '", id, "' lacks '", name, "'");
    out += value->second;
    rest.remove_prefix(close + 1);
  }
  return out;
}

}  // namespace isomer::lab
