#include "gpu/binary_folder.hpp"

#include "core/sentence.hpp"
#include "core/sha256.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

namespace isomer::gpu {
namespace {

namespace fs = std::filesystem;

// A file: the magic line, lines `name value`, an empty line, the image. The head has the image's size and
// hash, so that any cut or change is seen.
constexpr std::string_view kMagic = "isomer binary 1";
/// Room for a kernel, mostly for many.
constexpr std::uintmax_t kRoom = std::uintmax_t{1} << 20;
/// No kernel comes near it.
constexpr std::uintmax_t kMostBytes = std::uintmax_t{256} << 20;

std::string head_of(const Binary& binary, const Program& program, const std::string& architecture) {
  std::ostringstream head;
  head << kMagic << "\nprogram " << program.text() << "\narchitecture " << architecture << "\ncompiler "
       << binary.image.compiler << "\nkey " << binary.key << "\nregisters "
       << binary.image.resources.registers << "\nspill_bytes " << binary.image.resources.spill_bytes
       << "\nshared_bytes " << binary.image.resources.shared_bytes << "\nseconds " << binary.seconds
       << "\nbytes " << binary.image.bytes.size() << "\nsha256 " << binary.hash << "\n\n";
  return head.str();
}

template <class T>
bool number(const std::map<std::string, std::string>& head, const char* name, T& value) {
  const auto at = head.find(name);
  if (at == head.end()) return false;
  const char* end = at->second.data() + at->second.size();
  const auto [stop, error] = std::from_chars(at->second.data(), end, value);
  return error == std::errc() && stop == end;
}

std::optional<Binary> parse(const std::string& file, const std::string& key) {
  const std::size_t end = file.find("\n\n");
  if (end == std::string::npos || !file.starts_with(kMagic)) return std::nullopt;
  std::map<std::string, std::string> head;
  std::istringstream lines(file.substr(0, end));
  for (std::string line; std::getline(lines, line);)
    if (const std::size_t space = line.find(' '); space != std::string::npos)
      head[line.substr(0, space)] = line.substr(space + 1);
  Binary binary;
  std::uint64_t bytes = 0;
  if (!number(head, "bytes", bytes) || !number(head, "registers", binary.image.resources.registers) ||
      !number(head, "spill_bytes", binary.image.resources.spill_bytes) ||
      !number(head, "shared_bytes", binary.image.resources.shared_bytes))
    return std::nullopt;
  const std::size_t at = end + 2;
  if (head["key"] != key || bytes == 0 || file.size() - at != bytes) return std::nullopt;
  binary.image.bytes.resize(bytes);
  std::memcpy(binary.image.bytes.data(), file.data() + at, bytes);
  binary.image.compiler = head["compiler"];
  binary.key = key;
  binary.hash = core::sha256(binary.image.bytes);
  if (binary.hash != head["sha256"]) return std::nullopt;
  return binary;
}

/// Writes all of it and reaches the disk, or says why not.
std::string write_whole(const fs::path& path, const std::string& head, const std::vector<std::byte>& image) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) return core::say("cannot create '", path.string(), "': ", std::strerror(errno));
  std::string failure;
  const auto write = [&](const char* data, std::size_t bytes) {
    while (bytes > 0 && failure.empty()) {
      const ssize_t count = ::write(file, data, bytes);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        failure = core::say("cannot write '", path.string(), "': ", std::strerror(errno));
        break;
      }
      data += count;
      bytes -= static_cast<std::size_t>(count);
    }
  };
  write(head.data(), head.size());
  write(reinterpret_cast<const char*>(image.data()), image.size());
  // Without it a machine that loses power may show an empty file under the final name.
  if (failure.empty() && ::fsync(file) != 0 && errno != EINVAL)
    failure = core::say("cannot write '", path.string(), "': ", std::strerror(errno));
  ::close(file);
  if (!failure.empty()) ::unlink(path.c_str());
  return failure;
}

/// What processes that were killed while they wrote have left.
void sweep(const fs::path& folder) {
  std::error_code none;
  for (fs::directory_iterator at(folder, none), end; !none && at != end; at.increment(none)) {
    if (at->path().extension() != ".part") continue;
    // Another process may have removed or renamed it.
    std::error_code gone;
    const auto written = at->last_write_time(gone);
    if (!gone && fs::file_time_type::clock::now() - written > std::chrono::hours(1))
      fs::remove(at->path(), gone);
  }
}

std::optional<BinaryFolder> folder_in(const char* variable, const char* below) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value == 0) return std::nullopt;
  return BinaryFolder(*below == 0 ? fs::path(value) : fs::path(value) / below);
}

}  // namespace

fs::path BinaryFolder::file_of(const std::string& key) const { return path_ / (key + ".isomer"); }

std::optional<Binary> BinaryFolder::find(const std::string& key) const {
  const fs::path path = file_of(key);
  std::error_code none;
  const fs::file_status status = fs::status(path, none);
  if (!fs::exists(status)) return std::nullopt;
  std::optional<Binary> binary;
  // A pipe or a device would be read for ever.
  if (fs::is_regular_file(status) && fs::file_size(path, none) <= kMostBytes && !none) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    binary = parse(std::move(text).str(), key);
  }
  if (!binary) fs::remove(path, none);
  return binary;
}

std::string BinaryFolder::store(const Binary& binary, const Program& program,
                                const std::string& architecture) const {
  std::string failure = write(binary, program, architecture);
  if (!failure.empty())
    failure += "; make room for it there, or set ISOMER_CACHE to a folder that can be written";
  return failure;
}

std::string BinaryFolder::write(const Binary& binary, const Program& program,
                                const std::string& architecture) const {
  static std::atomic<unsigned> serial{0};
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) return core::say("cannot create the folder '", path_.string(), "': ", error.message());
  const fs::path part =
      path_ / core::say(binary.key, ".", ::getpid(), ".", serial.fetch_add(1), ".",
                        std::chrono::steady_clock::now().time_since_epoch().count(), ".part");
  if (std::string failure = write_whole(part, head_of(binary, program, architecture), binary.image.bytes);
      !failure.empty())
    return failure;
  fs::rename(part, file_of(binary.key), error);
  if (error) {
    std::error_code none;
    fs::remove(part, none);
    return core::say("cannot rename '", part.string(), "': ", error.message());
  }
  sweep(path_);
  return {};
}

std::string BinaryFolder::closed() const {
  std::error_code error;
  fs::path folder = fs::absolute(path_, error);
  while (!error && folder.has_relative_path() && !fs::exists(folder, error)) folder = folder.parent_path();
  if (error) return error.message();
  if (!fs::is_directory(folder, error)) return std::strerror(ENOTDIR);
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0) return std::strerror(errno);
  const fs::space_info space = fs::space(folder, error);
  return !error && space.available < kRoom ? std::strerror(ENOSPC) : "";
}

std::optional<BinaryFolder> cache_folder() {
  if (auto folder = folder_in("ISOMER_CACHE", "")) return folder;
  if (auto folder = folder_in("XDG_CACHE_HOME", "isomer/kernels")) return folder;
  return folder_in("HOME", ".cache/isomer/kernels");
}

std::optional<BinaryFolder> bundle_folder() { return folder_in("ISOMER_BUNDLE", ""); }

std::optional<BinaryFolder> installed_bundle() {
  static const std::optional<BinaryFolder> found = []() -> std::optional<BinaryFolder> {
    Dl_info here{};
    std::error_code none;
    if (::dladdr(reinterpret_cast<void*>(&installed_bundle), &here) == 0 || here.dli_fname == nullptr)
      return std::nullopt;
    fs::path file = here.dli_fname;
    // A program is named as it was called.
    if (!file.is_absolute()) file = fs::read_symlink("/proc/self/exe", none);
    for (const char* place : {"_command_line", "..", "../.."}) {
      const fs::path folder = file.parent_path() / place / "share/isomer/kernels";
      if (fs::is_directory(folder, none)) return BinaryFolder(folder);
    }
    return std::nullopt;
  }();
  return found;
}

}  // namespace isomer::gpu
