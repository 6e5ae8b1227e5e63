#include "contain/cgroup.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "module/paths.hpp"

namespace isomer::emulator {
namespace {

bool put(const std::string& file, const std::string& text) {
  std::ofstream out(file);
  out << text;
  return static_cast<bool>(out.flush());
}

}  // namespace

Cgroup::Cgroup(int processes) {
  static std::atomic<int> count{0};
  const int number = ++count;
  // The first kind of cgroups has a tree for each thing that is limited; the second one has one tree, in
  // which a group limits processes where its parent lets it.
  for (const char* root : {"/sys/fs/cgroup/pids", "/sys/fs/cgroup"}) {
    const std::string folder = fmt::format("{}/isomer-{}-{}", root, getpid(), number);
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

}  // namespace isomer::emulator
