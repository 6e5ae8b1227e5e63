#include "lab/candidate/cache_folder.hpp"

#include <cstdlib>
#include <string>

namespace isomer::lab {

std::filesystem::path cache_folder(std::string_view room) {
  const struct {
    const char *variable, *inside;
  } places[] = {{"ISOMER_CACHE", ""}, {"XDG_CACHE_HOME", "isomer"}, {"HOME", ".cache/isomer"}};
  for (const auto& [variable, inside] : places) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value != '\0') return std::filesystem::path(value) / inside / room;
  }
  return {};
}

}  // namespace isomer::lab
