#include "module/cache.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "isomer/emulator/leftovers.hpp"
#include "module/language.hpp"
#include "module/paths.hpp"

namespace isomer::emulator {
namespace {

namespace fs = std::filesystem;
constexpr const char* kManifest = "manifest.txt";
constexpr const char* kLibrary = "module.so";
constexpr const char* kVersion = "isomer-emulator-module 2";

// Two FNV-1a sums with different beginnings: the key names a build, it guards against no attacker.
struct Sum {
  std::uint64_t a = 0xcbf29ce484222325ull, b = 0x84222325cbf29ce4ull;
  void add(std::string_view text) {
    for (unsigned char c : text) {
      a = (a ^ c) * 0x100000001b3ull;
      b = (b ^ (c + 0x5au)) * 0x100000001b3ull;
    }
    a = (a ^ 0x1ff) * 0x100000001b3ull;
    b = (b ^ 0x1ff) * 0x100000001b3ull;
  }
  std::string text() const { return fmt::format("{:016x}{:016x}", a, b); }
};

// Size and time of a file: what a compiler's or header's change cannot leave as they were.
std::string stamp(const fs::path& path) {
  struct stat s {};
  if (stat(path.c_str(), &s) != 0) return "missing";
  return fmt::format("{}.{}.{}", s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
}

std::string read_sum(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return "missing";
  std::ostringstream text;
  text << in.rdbuf();
  Sum sum;
  sum.add(text.str());
  return sum.text();
}

// A library's thousands of headers are read once, however many builds of one process have them.
std::string content_sum(const fs::path& path) {
  static std::mutex mutex;
  static std::map<std::string, std::pair<std::string, std::string>> known;
  const std::string stamped = stamp(path);
  {
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(path.string()); found != known.end() && found->second.first == stamped)
      return found->second.second;
  }
  std::string sum = read_sum(path);
  const std::lock_guard lock(mutex);
  known[path.string()] = {stamped, sum};
  return sum;
}

}  // namespace

void remove_unfinished_builds() {
  std::error_code none;
  for (const auto& found : fs::directory_iterator(cache_directory(), none)) {
    // KEY.NAMES.PROCESS.XXXXXX
    const std::string name = found.path().filename().string();
    const std::size_t begin = name.find('.'), end = name.rfind('.');
    if (begin < end && is_of_ended_process(name.substr(begin + 1, end - begin - 1)))
      fs::remove_all(found.path(), none);
  }
}

std::string key_of(const std::vector<std::string>& texts) {
  Sum sum;
  for (const std::string& text : texts) sum.add(text);
  return sum.text();
}

std::string cache_key(const BuildOptions& options, const fs::path& compiler) {
  Sum sum;
  sum.add(kVersion);
  sum.add(compiler.string());
  sum.add(stamp(fs::canonical(compiler)));
  sum.add(stamp(own_library()));
  for (const fs::path& source : options.sources) {
    sum.add(fs::absolute(source).string());
    sum.add(content_sum(source));
  }
  const bool clang = compiler.filename().string().find("clang") != std::string::npos;
  const bool hip = is_hip(options.sources);
  const bool real = options.target != Target::emulated;
  if (real) sum.add(options.device_compiler + stamp(options.device_compiler));
  for (const std::string& flag : real ? device_flags(options, hip) : compile_flags(options, hip, clang))
    sum.add(flag);
  sum.add("instantiate");
  for (const std::string& name : options.instantiate) sum.add(name);
  for (const std::string& flag : options.link_flags) sum.add(flag);
  if (options.entries) sum.add("entries");
  return sum.text();
}

std::optional<CacheEntry> find_cached(const std::string& key) {
  const fs::path directory = cache_directory() / key;
  std::ifstream in(directory / kManifest);
  std::string line, word;
  if (!std::getline(in, line) || line != kVersion) return std::nullopt;
  CacheEntry entry;
  entry.library = directory / kLibrary;
  std::string library_stamp;
  bool complete = false;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    words >> word;
    std::string rest;
    if (word == "end") {
      complete = true;
    } else if (word == "hip") {
      entry.compiled.hip = true;
    } else if (word == "main") {
      entry.compiled.has_main = true;
    } else if (word == "kernel") {
      std::getline(words >> std::ws, rest);
      entry.compiled.kernels.push_back(rest);
    } else if (word == "reaches") {
      std::getline(words >> std::ws, rest);
      entry.compiled.reaches.push_back(rest);
    } else if (word == "library") {
      words >> library_stamp;
    } else if (word == "file") {
      std::string stamped, sum;
      words >> stamped >> sum;
      std::getline(words >> std::ws, rest);
      if (stamp(rest) != stamped && content_sum(rest) != sum) return std::nullopt;
    }
  }
  std::error_code none;
  if (!complete || library_stamp != std::to_string(fs::file_size(entry.library, none)) || none)
    return std::nullopt;
  return entry;
}

CacheEntry build_cached(const std::string& key, const BuildOptions& options, const fs::path& compiler) {
  const fs::path root = cache_directory();
  std::error_code failed;
  fs::create_directories(root, failed);
  std::string pattern = (root / fmt::format("{}.{}.XXXXXX", key, owners_mark())).string();
  if (failed || !mkdtemp(pattern.data()))
    throw MachineError(fmt::format(
        "the cache directory {} cannot be written; set ISOMER_CACHE to one that can", root.string()));
  const fs::path work = pattern;
  CacheEntry entry;
  try {
    entry.compiled = compile(options, compiler, work, work / kLibrary);
  } catch (...) {
    fs::remove_all(work, failed);
    throw;
  }
  for (const auto& file : fs::directory_iterator(work)) {
    if (file.path().filename() != kLibrary) fs::remove(file.path(), failed);
  }
  {
    std::ofstream out(work / kManifest);
    out << kVersion << '\n';
    if (entry.compiled.hip) out << "hip\n";
    if (entry.compiled.has_main) out << "main\n";
    for (const std::string& k : entry.compiled.kernels) out << "kernel " << k << '\n';
    for (const std::string& r : entry.compiled.reaches) out << "reaches " << r << '\n';
    std::vector<fs::path> files = entry.compiled.dependencies;
    std::sort(files.begin(), files.end());
    files.erase(std::unique(files.begin(), files.end()), files.end());
    for (const fs::path& f : files)
      out << "file " << stamp(f) << ' ' << content_sum(f) << ' ' << fs::absolute(f).string() << '\n';
    out << "library " << fs::file_size(work / kLibrary) << "\nend\n";
    if (!out.flush())
      throw MachineError(fmt::format(
          "the cache directory {} cannot be written; set ISOMER_CACHE to one that can", root.string()));
  }
  const fs::path place = root / key;
  fs::rename(work, place, failed);
  if (failed) {
    // Somebody else's entry stands there. A good one serves; a stale one makes way.
    if (auto theirs = find_cached(key)) {
      fs::remove_all(work, failed);
      return *theirs;
    }
    const fs::path old = work.string() + ".old";
    fs::rename(place, old, failed);
    fs::rename(work, place, failed);
    if (failed) {
      if (auto theirs = find_cached(key)) return *theirs;
      throw MachineError(fmt::format("the cache entry {} cannot be replaced; remove it, or set ISOMER_CACHE",
                                     place.string()));
    }
    fs::remove_all(old, failed);
  }
  entry.library = place / kLibrary;
  return entry;
}

}  // namespace isomer::emulator
