#include "contain/cgroup.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "isomer/emulator/leftovers.hpp"
#include "module/paths.hpp"

namespace isomer::emulator {
namespace {

namespace fs = std::filesystem;

// The first kind of cgroups has a tree for each thing that is limited; the second one has one tree, in which
// a group limits processes where its parent lets it.
constexpr const char* kBegin = "isomer-";
constexpr const char* kRoots[] = {"/sys/fs/cgroup/pids", "/sys/fs/cgroup"};

bool put(const std::string& file, const std::string& text) {
  std::ofstream out(file);
  out << text;
  return static_cast<bool>(out.flush());
}

// Tests, and whoever wants to see what is left without it.
bool switched_off() {
  const char* said = std::getenv("ISOMER_CGROUPS");
  return said != nullptr && std::string(said) == "never";
}

}  // namespace

Cgroup::Cgroup(int processes) {
  static std::atomic<int> count{0};
  const int number = ++count;
  if (switched_off()) return;
  for (const char* root : kRoots) {
    const std::string folder = fmt::format("{}/{}{}.{}", root, kBegin, owners_mark(), number);
    if (mkdir(folder.c_str(), 0755) != 0) continue;
    folder_ = folder;
    if (put(folder + "/pids.max", std::to_string(processes))) return;
    rmdir(folder_.c_str());
    folder_.clear();
  }
}

Cgroup::~Cgroup() {
  // What has just been ended leaves the group in a moment.
  for (int i = 0; !folder_.empty() && rmdir(folder_.c_str()) != 0 && i < 50; ++i) usleep(1000);
}

Cgroup::Cgroup(Cgroup&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}

Cgroup& Cgroup::operator=(Cgroup&& other) noexcept {
  std::swap(folder_, other.folder_);
  return *this;
}

std::vector<std::string> Cgroup::in_group(std::vector<std::string> command) const {
  if (!folder_.empty())
    command.insert(command.begin(), {runner_program().string(), "join", folder_ + "/cgroup.procs"});
  return command;
}

int tasks_of(pid_t process, int most) {
  int count = 0;
  std::error_code none;
  for (fs::directory_iterator it(fmt::format("/proc/{}/task", process), none), end; !none && it != end;
       it.increment(none)) {
    if (++count > most) break;
    std::ifstream children(it->path() / "children");
    for (pid_t child = 0; count <= most && children >> child;) count += tasks_of(child, most - count);
  }
  return count;
}

void remove_empty_groups() {
  std::error_code none;
  for (const char* root : kRoots)
    for (fs::directory_iterator it(root, none), end; !none && it != end; it.increment(none)) {
      const std::string name = it->path().filename().string();
      // isomer-NAMES.PROCESS.NUMBER. A group in which a process still is stays, whoever asks.
      const std::size_t begin = std::string(kBegin).size(), last = name.rfind('.');
      if (name.rfind(kBegin, 0) == 0 && last != std::string::npos && last > begin &&
          is_of_ended_process(name.substr(begin, last - begin)))
        rmdir(it->path().c_str());
    }
}

}  // namespace isomer::emulator
