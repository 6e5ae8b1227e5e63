#include "fault.hpp"

#include <cstdlib>

namespace isomer::stand_in {
namespace {

/// What stands behind the name, beginning with the colon if there is one; null where it is not planted.
bool find(std::string_view fault, std::string& value) {
  const char* text = std::getenv("ISOMER_STAND_IN_FAULT");
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (word.substr(0, word.find(':')) != fault) continue;
    value = word.size() > fault.size() ? std::string(word.substr(fault.size() + 1)) : std::string();
    return true;
  }
  return false;
}

}  // namespace

bool planted(std::string_view fault) {
  std::string value;
  return find(fault, value);
}

std::string value_of(std::string_view fault) {
  std::string value;
  find(fault, value);
  return value;
}

int number_of(std::string_view fault) {
  std::string value;
  if (!find(fault, value)) return 0;
  return value.empty() ? 1 : std::atoi(value.c_str());
}

bool executes() {
#ifdef ISOMER_STAND_IN_EMULATOR
  const char* value = std::getenv("ISOMER_STAND_IN_EXECUTE");
  return value == nullptr || std::string_view(value) != "0";
#else
  return false;
#endif
}

}  // namespace isomer::stand_in
