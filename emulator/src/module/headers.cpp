#include "module/headers.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <system_error>

#include <fmt/format.h>

#include "module/compiler.hpp"
#include "module/paths.hpp"
#include "module/shared_memory.hpp"
#include "source/beginning.hpp"

namespace isomer::emulator {
namespace {

namespace fs = std::filesystem;

// Making one takes as long as three and a half compilations of the headers; 450 MB for PyTorch's, 20 for
// those of the runtime, which every source has.
constexpr std::size_t kWorthIt = std::size_t{256} << 10, kLarge = std::size_t{4} << 20;
constexpr std::uintmax_t kSeenBefore = 3;
constexpr std::uintmax_t kKeptBytes = std::uintmax_t{3} << 29;
constexpr std::uintmax_t kFreeBytes = std::uintmax_t{4} << 30;
constexpr const char* kText = "headers.ii";
constexpr const char* kHeader = "headers.gch";

/// Two hash functions of the text and the flags name a folder; the text in it is compared as well.
std::string key_of(const std::vector<std::string>& command, const std::string& text) {
  std::string all;
  for (const std::string& word : command) all += word + '\n';
  std::error_code none;  // a new compiler of the same name reads no other's
  all += fmt::format("{} {}", fs::file_size(command[0], none),
                     fs::last_write_time(command[0], none).time_since_epoch().count());
  const std::size_t flags = std::hash<std::string>{}(all);
  return fmt::format("{:016x}{:016x}", flags, std::hash<std::string>{}(text));
}

/// How often the key has been asked for, this time included: a byte of a file for each.
std::uintmax_t seen(const fs::path& file) {
  const Descriptor out(open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (out.get() < 0 || write(out.get(), ".", 1) != 1) return 0;
  const off_t size = lseek(out.get(), 0, SEEK_END);
  return size < 0 ? 0 : static_cast<std::uintmax_t>(size);
}

/// Those that were used last stay.
void remove_oldest(const fs::path& root) {
  std::vector<std::pair<fs::file_time_type, fs::path>> made;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(root, none))
    if (fs::exists(entry.path() / kHeader, none))
      made.emplace_back(fs::last_write_time(entry.path() / kText, none), entry.path());
  std::sort(made.rbegin(), made.rend());
  std::uintmax_t bytes = 0;
  for (const auto& [used, folder] : made) {
    const std::uintmax_t size = fs::file_size(folder / kHeader, none);
    if (!none) bytes += size;
    if (bytes > kKeptBytes) fs::remove_all(folder, none);
  }
}

/// False where it is being made elsewhere, or cannot be made.
bool make(const BuildOptions& options, const std::vector<std::string>& command, const fs::path& folder,
          const std::string& text) {
  const Descriptor lock(open((folder / "lock").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (lock.get() < 0 || flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return false;
  std::error_code none;
  if (fs::exists(folder / kHeader, none) || fs::exists(folder / "failed", none)) return false;
  if (fs::space(folder, none).available < kFreeBytes || none) return false;
  const fs::path fresh = folder / "fresh.gch";
  std::vector<std::string> words = command;
  words.insert(words.end(),
               {"-fpreprocessed", "-x", "c++-header", (folder / kText).string(), "-o", fresh.string()});
  try {
    write_file(folder / kText, text);
    run_compiler(options, folder, words, "headers", options.compile_seconds);
    fs::rename(fresh, folder / kHeader);
  } catch (const std::exception&) {
    // Then each source compiles them by itself, as before.
    fs::remove(fresh, none);
    close(open((folder / "failed").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    return false;
  }
  remove_oldest(folder.parent_path());
  return true;
}

}  // namespace

std::string with_precompiled_headers(const BuildOptions& options, const std::vector<std::string>& command,
                                     const std::vector<std::string>& folders, const std::string& text) {
  const auto [headers, rest] = source::beginning_of_headers(text, folders, kLarge);
  if (headers.size() < kWorthIt) return {};
  // Where headers are looked for and which macros are defined has no part in it: all is in the text.
  std::vector<std::string> words;
  for (const std::string& word : command)
    if (!word.starts_with("-I") && !word.starts_with("-D")) words.push_back(word);
  const fs::path folder = cache_directory() / "headers" / key_of(words, headers);
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return {};
  if (!fs::exists(folder / kHeader, failed)) {
    // A source of which lines may be refused is compiled several times.
    if (seen(folder / "seen") <= kSeenBefore && !options.every_refused_line) return {};
    if (!make(options, words, folder, headers)) return {};
  }
  if (read_file(folder / kText) != headers) return {};
  fs::last_write_time(folder / kText, fs::file_time_type::clock::now(), failed);
  // The first marker names the source for the debugger; the compiler takes a header before anything else.
  return fmt::format("# 0 {}\n#pragma GCC pch_preprocess \"{}\"\n",
                     rest.substr(rest.find('"'), rest.find('\n') - rest.find('"')),
                     (folder / kHeader).string()) +
         rest;
}

}  // namespace isomer::emulator
