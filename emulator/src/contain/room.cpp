#include "contain/room.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include <fmt/format.h>

#include "contain/means.hpp"
#include "isomer/emulator/containment.hpp"
#include "module/paths.hpp"

namespace isomer::emulator {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSystem[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt"};
constexpr const char* kScratch = "/tmp";
constexpr const char* kScratchBytes = "268435456";

void add(std::vector<std::string>& words, std::initializer_list<std::string> more) {
  words.insert(words.end(), more);
}

std::vector<std::string> namespaces(const Room& room) {
  std::vector<std::string> words = {bubblewrap()};
  add(words, {"--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
              "--new-session", "--die-with-parent"});
  if (room.sees_everything) {
    add(words, {"--ro-bind", "/", "/"});
  } else {
    for (const char* part : kSystem) add(words, {"--ro-bind-try", part, part});
    add(words, {"--size", kScratchBytes, "--tmpfs", kScratch, "--chdir", kScratch, "--setenv", "TMPDIR",
                kScratch, "--setenv", "HOME", kScratch});
  }
  add(words, {"--dev", "/dev", "--proc", "/proc"});
  for (const fs::path& path : room.readable) add(words, {"--ro-bind-try", path.string(), path.string()});
  for (const fs::path& path : room.writable) add(words, {"--bind", path.string(), path.string()});
  std::error_code none;
  for (const fs::path& path : room.hidden) {
    if (fs::is_directory(path, none))
      add(words, {"--tmpfs", path.string()});
    else if (fs::exists(path, none))
      add(words, {"--ro-bind", "/dev/null", path.string()});
  }
  // A compiler's cache has no place to write to.
  add(words, {"--setenv", "CCACHE_DISABLE", "1", "--"});
  return words;
}

}  // namespace

std::vector<std::string> in_room(const Room& room, std::vector<std::string> command) {
  if (isolation() == Isolation::none) return command;
  std::vector<std::string> words;
  const bool wrapped = !room.real_device && !bubblewrap().empty();
  if (wrapped) words = namespaces(room);
  add(words, {runner_program().string(), "contain", std::to_string(room.processor_seconds),
              std::to_string(room.memory_bytes), std::to_string(room.file_bytes),
              // Outside of a namespace of its own the user's other processes would count.
              std::to_string(wrapped ? room.processes : 0)});
  if (!room.real_device) {
    // Within the namespaces, that a file cannot be seen is settled already.
    if (room.sees_everything || wrapped)
      add(words, {"read", "/"});
    else
      for (const char* part :
           {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/proc", "/dev"})
        add(words, {"read", part});
    if (!wrapped)
      add(words,
          {"read", own_library().parent_path().string(), "read", runner_program().parent_path().string()});
    for (const fs::path& path : room.readable) add(words, {"read", path.string()});
    for (const fs::path& path : room.writable) add(words, {"write", path.string()});
    for (const char* device : {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"})
      add(words, {"write", device});
    if (!room.writable.empty()) add(words, {"temporary", room.writable.front().string()});
    if (wrapped && !room.sees_everything) add(words, {"write", kScratch});
  }
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

int status_in_room(int status) {
  if (isolation() == Isolation::none || !WIFEXITED(status) || WEXITSTATUS(status) <= 128) return status;
  const int number = WEXITSTATUS(status) - 128;
  return number < 65 ? number : status;  // as waitpid says it of a signal
}

}  // namespace isomer::emulator
