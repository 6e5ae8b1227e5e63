#include "module/leniency.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>

namespace isomer::emulator {
namespace {

constexpr const char* kNoTypename = "need ‘typename’ before";
constexpr const char* kPermitted[] = {"changes meaning of", "no declarations were found by argument-dependent lookup"};
constexpr const char* kPermissive = "-fpermissive";

bool is_permitted(const std::string& complaint) {
  return std::any_of(std::begin(kPermitted), std::end(kPermitted),
                     [&](const char* words) { return complaint.find(words) != std::string::npos; });
}

}  // namespace

std::vector<std::string> lenient_flags(const std::string& complaint, const std::vector<std::string>& flags) {
  const auto has = [&flags](const char* flag) { return std::find(flags.begin(), flags.end(), flag) != flags.end(); };
  if (complaint.find(kNoTypename) != std::string::npos && !has("-std=gnu++20")) return {"-std=gnu++20"};
  if (is_permitted(complaint) && !has(kPermissive)) return {kPermissive};
  return {};
}

std::string let_through(const std::string& output) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    if (line.find("[-fpermissive]") != std::string::npos && !is_permitted(line)) {
      const std::size_t at = line.find(" warning: ");
      return at == std::string::npos ? line : line.replace(at, 10, " error: ");
    }
  return {};
}

}  // namespace isomer::emulator
