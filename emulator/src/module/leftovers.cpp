#include "isomer/emulator/leftovers.hpp"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

#include "contain/cgroup.hpp"
#include "module/cache.hpp"

namespace isomer::emulator {
namespace {

std::string names_of_processes() {
  char space[64] = "";
  [[maybe_unused]] const ssize_t length = readlink("/proc/self/ns/pid", space, sizeof space - 1);
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  std::uint32_t sum = 0x811c9dc5u;
  for (const unsigned char c : boot + space) sum = (sum ^ c) * 0x01000193u;
  return fmt::format("{:08x}", sum);
}

}  // namespace

std::string owners_mark() { return fmt::format("{}.{}", names_of_processes(), getpid()); }

bool is_of_ended_process(const std::string& mark) {
  const std::string names = names_of_processes() + ".";
  const std::string number = mark.rfind(names, 0) == 0 ? mark.substr(names.size()) : "";
  if (number.empty() || number.size() > 9 || number.find_first_not_of("0123456789") != std::string::npos)
    return false;
  const pid_t owner = static_cast<pid_t>(std::strtol(number.c_str(), nullptr, 10));
  return owner > 0 && kill(owner, 0) != 0 && errno == ESRCH;
}

void remove_leftovers() {
  remove_unfinished_builds();
  remove_empty_groups();
}

}  // namespace isomer::emulator
