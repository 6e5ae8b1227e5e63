#include "isomer/emulator/suppressions.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "runtime/kernels.hpp"

namespace isomer::emulator {
namespace {

bool is_kind(const std::string& word) {
  if (word == "*") return true;
  for (int k = 0;; ++k) {
    const std::string known = name(static_cast<Kind>(k));
    if (known == "?") return false;
    if (known == word) return true;
  }
}

Suppression parsed(const std::string& text, const std::string& place) {
  std::istringstream words(text);
  Suppression s;
  words >> s.kind;
  if (!is_kind(s.kind)) throw Error(fmt::format("{}: {} is no kind of finding, nor *", place, s.kind));
  for (std::string word; words >> word;) {
    if (word.rfind("kernel=", 0) == 0 && word.size() > 7) {
      s.kernel = word.substr(7);
    } else if (word.rfind("file=", 0) == 0 && word.size() > 5) {
      s.file = word.substr(5);
      const auto colon = s.file.rfind(':');
      if (colon == std::string::npos) continue;
      const char *begin = s.file.data() + colon + 1, *end = s.file.data() + s.file.size();
      if (const auto [rest, error] = std::from_chars(begin, end, s.line); error != std::errc() || rest != end)
        throw Error(fmt::format("{}: file=PATH:LINE expected, got {}", place, word));
      s.file.resize(colon);
    } else {
      throw Error(fmt::format("{}: kernel=NAME or file=PATH[:LINE] expected, got {}", place, word));
    }
  }
  return s;
}

bool lies_in(const Place& place, const Suppression& s) {
  if (s.line != 0 && s.line != place.line) return false;
  if (s.file.empty()) return true;
  if (s.file.back() == '/') return ("/" + place.file).find("/" + s.file) != std::string::npos;
  return ("/" + place.file).ends_with("/" + s.file);
}

bool covers(const Suppression& s, const Report& r) {
  if (s.kind != "*" && s.kind != name(r.kind)) return false;
  if (!s.kernel.empty() && !is_named(r.kernel, s.kernel)) return false;
  return lies_in(r.place, s) || (r.other.line != 0 && lies_in(r.other, s));
}

}  // namespace

std::vector<Suppression> read_suppressions(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw Error(file.string() + " cannot be read");
  std::vector<Suppression> all;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    line.resize(std::min(line.find('#'), line.size()));
    if (line.find_first_not_of(" \t\r") != std::string::npos)
      all.push_back(parsed(line, fmt::format("{}:{}", file.string(), number)));
  }
  return all;
}

std::size_t suppress(RunResult& result, const std::vector<Suppression>& known) {
  return std::erase_if(result.reports, [&](const Report& r) {
    return std::any_of(known.begin(), known.end(), [&](const Suppression& s) { return covers(s, r); });
  });
}

}  // namespace isomer::emulator
