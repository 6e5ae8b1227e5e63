#include "lab/evidence/edits/repeated.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace isomer::lab {

void add_repeated(EditPlaces& places, const std::vector<SourceValue>& values, ChangedValues& changed) {
  constexpr std::size_t kFewest = 4, kMost = 3;
  constexpr int kRankOfRepeated = 3;
  const CppTokens& tokens = places.tokens();
  for (const SourceValue& value : values) {
    if (value.kind != SourceValue::Kind::real || value.last < value.first + kFewest) continue;
    std::vector<std::string> names;
    bool scaled = false, compared = false;
    for (std::size_t i = value.first; i <= value.last; ++i) {
      scaled = scaled || tokens.is(i, "/") || tokens.is(i, "*");
      for (const char* each : {"?", "<", ">", "==", "&&", "||"}) compared = compared || tokens.is(i, each);
      const CppVariable* variable = tokens.is(i - 1, ".") ? nullptr : places.functions().named(i);
      if (variable == nullptr || !is_real_type(variable->type) || tokens.is(i + 1, "[") ||
          std::find(names.begin(), names.end(), variable->name) != names.end())
        continue;
      names.push_back(variable->name);
    }
    if (!scaled || compared || names.size() > kMost) continue;
    const std::string last(tokens.text(value.last));
    for (const std::string& each : names)
      for (const char* sign : {"-", "+"})
        changed.add(value, {{value.last, value.last, fmt::format("{} {} {}", last, sign, each)}},
                    Code::missing_term, kRankOfRepeated);
  }
}

}  // namespace isomer::lab
