#include "watch/places.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include <fmt/format.h>

#include "runtime/settings.hpp"
#include "watch/line_reader.hpp"

namespace isomer::emulator::watch {
namespace {

std::mutex places_mutex;
std::vector<std::string> words;         // folders
std::map<const void*, Place> resolved;  // the user's own line of one address; line 0: none of its lines is

bool is_users(const std::string& file) {
  return file != "??" && file.find("/isomer_emulator/") == std::string::npos && file.rfind("/usr/", 0) != 0 &&
         file.find("<built-in>") == std::string::npos;
}

bool is_word(const std::string& file) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& folder) { return file.rfind(folder, 0) == 0; });
}

std::string quoted(const std::string& text) {
  std::string q = "'";
  for (char c : text) q += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return q + "'";
}

/// What addr2line writes for addresses of a module: the reader of its lines, where one was started, otherwise
/// one for these alone.
std::vector<std::string> lines_of(const std::string& module, const std::vector<std::uintptr_t>& addresses) {
  // Nobody asks where an edit that is tried goes wrong, and to find it takes longer than many calls.
  if (is_edited() && !settings().watch) return {};
  std::vector<std::string> lines = read_lines(module, addresses);
  if (!lines.empty()) return lines;
  // Long lists of addresses would pass the limit of a command line.
  constexpr std::size_t kAtOnce = 400;
  for (std::size_t begin = 0; begin < addresses.size(); begin += kAtOnce) {
    std::string command = "addr2line -a -i -e " + quoted(module);
    for (std::size_t i = begin; i < std::min(addresses.size(), begin + kAtOnce); ++i)
      command += fmt::format(" {:#x}", addresses[i]);
    FILE* pipe = popen((command + " 2>/dev/null").c_str(), "r");
    if (!pipe) return lines;
    char* line = nullptr;
    std::size_t capacity = 0;
    while (getline(&line, &capacity, pipe) > 0) lines.emplace_back(line);
    std::free(line);
    pclose(pipe);
  }
  return lines;
}

void resolve(const std::string& module,
             const std::vector<std::pair<const void*, std::uintptr_t>>& addresses) {
  std::vector<std::uintptr_t> offsets;
  for (const auto& [pc, offset] : addresses) offsets.push_back(offset);
  std::size_t at = 0;
  bool first = true, found = false;
  for (std::string& text : lines_of(module, offsets)) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    if (text.rfind("0x", 0) == 0) {
      if (!first) ++at;
      first = false;
      found = false;
      if (at < addresses.size()) resolved[addresses[at].first] = {};
      continue;
    }
    if (found || at >= addresses.size()) continue;
    if (const auto note = text.find(" (discriminator"); note != std::string::npos) text.resize(note);
    const auto colon = text.rfind(':');
    if (colon == std::string::npos) continue;
    const std::string file = text.substr(0, colon);
    const auto number = static_cast<std::uint32_t>(std::strtoul(text.c_str() + colon + 1, nullptr, 10));
    if (number == 0 || !is_users(file)) continue;
    // A word that no line of the user's has called in place is told itself.
    Place& place = resolved[addresses[at].first];
    if (place.line == 0 || !is_word(file)) place = {file, number};
    found = !is_word(file);
  }
}

Place look_up(const Site& site) {
  Place word;
  const auto users = [&](const void* pc) {
    const auto it = resolved.find(pc);
    if (it == resolved.end() || it->second.line == 0) return false;
    if (word.line == 0) word = it->second;
    return !is_word(it->second.file);
  };
  if (users(site.pc)) return resolved[site.pc];
  for (auto call = site.calls.rbegin(); call != site.calls.rend(); ++call) {
    if (users(*call)) return resolved[*call];
  }
  return word;
}

std::string users_library;

bool is_in_users_library(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 && info.dli_fname && users_library == info.dli_fname;
}

}  // namespace

void add_words_beside(const std::string& file) {
  std::lock_guard lock(places_mutex);
  const std::string folder = file.substr(0, file.rfind('/') + 1);
  if (!folder.empty() && std::find(words.begin(), words.end(), folder) == words.end())
    words.push_back(folder);
}

void set_users_library(std::string path) { users_library = std::move(path); }

const std::string& users_library_name() { return users_library; }

const void* users_address(void* const* frames, int count) {
  for (int i = 0; i < count; ++i) {
    if (is_in_users_library(frames[i])) return frames[i];
  }
  return nullptr;
}

Place place_of_frames(void* const* frames, int count) {
  Site site;
  for (int i = 0; i < count; ++i) {
    if (!is_in_users_library(frames[i])) continue;
    if (!site.pc) {
      site.pc = frames[i];
    } else {
      site.calls.insert(site.calls.begin(), frames[i]);
    }
  }
  return site.pc ? place_of(site) : Place{};
}

std::vector<Place> places_of(const std::vector<Site>& sites) {
  std::lock_guard lock(places_mutex);
  std::map<std::string, std::vector<std::pair<const void*, std::uintptr_t>>> unknown;
  const auto want = [&](const void* pc) {
    if (!pc || resolved.count(pc)) return;
    Dl_info info{};
    if (dladdr(pc, &info) == 0 || !info.dli_fname) return;
    resolved[pc] = {};
    // A return address belongs to the instruction before it.
    unknown[info.dli_fname].emplace_back(
        pc, reinterpret_cast<std::uintptr_t>(pc) - reinterpret_cast<std::uintptr_t>(info.dli_fbase) - 1);
  };
  for (const Site& s : sites) {
    want(s.pc);
    for (const void* call : s.calls) want(call);
  }
  for (const auto& [module, addresses] : unknown) resolve(module, addresses);
  std::vector<Place> places;
  for (const Site& s : sites) places.push_back(look_up(s));
  return places;
}

Place place_of(const Site& site) { return places_of({site})[0]; }

}  // namespace isomer::emulator::watch
