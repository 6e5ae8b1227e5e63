#include "child/defaults.hpp"

#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

namespace isomer::emulator {
namespace {

// A default as it stands in the source: a number, true, false, nothing or a text.
bool read_default(const std::string& text, WireValue& v) {
  if (text == "true" || text == "false") {
    v.kind = ValueKind::boolean;
    v.integer = text == "true";
    return true;
  }
  if (text == "none" || text == "nullptr" || text == "0" || text == "NULL" || text == "{}" ||
      text.find("nullopt") != std::string::npos) {
    v.kind = text == "0" ? ValueKind::integer : ValueKind::none;
    return true;
  }
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    v.kind = ValueKind::text;
    v.text = text.substr(1, text.size() - 2);
    return true;
  }
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return false;
  while (*end && std::strchr("fFlLuU", *end)) ++end;
  if (*end) return false;
  const bool whole = text.find_first_of(".eE") == std::string::npos || text.rfind("0x", 0) == 0;
  v.kind = whole ? ValueKind::integer : ValueKind::real;
  v.integer = whole ? std::strtoll(text.c_str(), nullptr, 0) : 0;
  v.real = number;
  return true;
}

}  // namespace

std::string complete(const OfferedEntry& entry, std::vector<WireValue>& values) {
  const std::size_t wanted = entry.info.parameters.size();
  if (values.size() > wanted)
    return fmt::format("{} takes {} argument{}, got {}", entry.info.name, wanted, wanted == 1 ? "" : "s",
                       values.size());
  for (std::size_t i = values.size(); i < wanted; ++i) {
    WireValue v;
    const EntryParameter& p = entry.info.parameters[i];
    if (p.kind == EntryParameter::Kind::stream) {
      values.push_back(v);
    } else if (!p.has_default) {
      return fmt::format("{} takes {} argument{}, got {}{}", entry.info.name, wanted, wanted == 1 ? "" : "s",
                         i, p.name.empty() ? "" : ": " + p.name + " is missing");
    } else if (read_default(entry.defaults[i], v)) {
      values.push_back(v);
    } else {
      return fmt::format("{}: the default of {} ({}) cannot be evaluated from outside: pass a value",
                         entry.info.name, p.name, entry.defaults[i]);
    }
  }
  return {};
}

}  // namespace isomer::emulator
