#include "contain/means.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <sstream>

#include <fmt/format.h>

#include "contain/landlock.hpp"
#include "contain/system_calls.hpp"
#include "isomer/emulator/containment.hpp"
#include "isomer/emulator/error.hpp"
#include "module/process.hpp"
#include "text/last_line.hpp"

namespace isomer::emulator {
namespace {

namespace fs = std::filesystem;

struct Found {
  std::string bubblewrap, why;
};

Isolation chosen = Isolation::none;

std::string program_of(const char* name) {
  std::istringstream path(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "/usr/bin:/bin");
  for (std::string folder; std::getline(path, folder, ':');) {
    const fs::path file = fs::path(folder) / name;
    if (access(file.c_str(), X_OK) == 0) return file.string();
  }
  return {};
}

Found find_bubblewrap() {
  // Tests, and whoever wants to see what is left without it.
  if (const char* off = std::getenv("ISOMER_NAMESPACES"); off != nullptr && std::string(off) == "never")
    return {"", "ISOMER_NAMESPACES=never"};
  const std::string program = program_of("bwrap");
  if (program.empty()) return {"", "bubblewrap is not installed"};
  // As rooms are made: a kernel may refuse any part of it.
  const Finished tried = run_process({program,
                                      "--unshare-user",
                                      "--unshare-pid",
                                      "--unshare-net",
                                      "--unshare-ipc",
                                      "--unshare-uts",
                                      "--new-session",
                                      "--die-with-parent",
                                      "--ro-bind",
                                      "/",
                                      "/",
                                      "--dev",
                                      "/dev",
                                      "--proc",
                                      "/proc",
                                      "--size",
                                      "65536",
                                      "--tmpfs",
                                      "/tmp",
                                      "--",
                                      "/bin/sh",
                                      "-c",
                                      "exit 0"},
                                     20, 4096);
  if (tried.started && !tried.timed_out && WIFEXITED(tried.status) && WEXITSTATUS(tried.status) == 0)
    return {program, ""};
  const std::string line = last_line(tried.output);
  return {"", fmt::format("{} may not make namespaces here{}", program, line.empty() ? "" : ": " + line)};
}

const Found& found() {
  static const Found once = find_bubblewrap();
  return once;
}

}  // namespace

const std::string& bubblewrap() { return found().bubblewrap; }

const std::vector<Means>& means_of_containment() {
  static const std::vector<Means> all = [] {
    const int landlock = landlock_version();
    const bool calls = can_refuse_system_calls();
    return std::vector<Means>{
        {"namespaces", !found().bubblewrap.empty(),
         found().bubblewrap.empty()
             ? found().why
             : found().bubblewrap + ": processes, network, files and mounts of its own",
         found().bubblewrap.empty() ? "apt-get install bubblewrap, and allow unprivileged user namespaces"
                                    : ""},
        {"Landlock", landlock > 0,
         landlock > 0 ? fmt::format("version {}: files that may be read and written", landlock)
                      : "the kernel has none, or it is switched off",
         landlock > 0 ? "" : "a kernel from 5.13 on, with landlock among its security modules"},
        {"seccomp", calls,
         calls ? "calls of the kernel that no kernel's code needs are refused"
               : "this build has no libseccomp, or the kernel has no filters",
         calls ? "" : "apt-get install libseccomp-dev, and build again"}};
  }();
  return all;
}

std::vector<std::string> missing_means() {
  std::vector<std::string> names;
  for (const Means& each : means_of_containment())
    if (!each.there) names.push_back(fmt::format("{} ({})", each.name, each.detail));
  return names;
}

void isolate(Isolation isolation) {
  if (const char* said = std::getenv("ISOMER_NAMESPACES");
      said != nullptr && *said != '\0' && std::string(said) != "never")
    throw Error(fmt::format("ISOMER_NAMESPACES expects never, got '{}'", said));
  if (isolation == Isolation::strict)
    if (const std::vector<std::string> missing = missing_means(); !missing.empty())
      throw Error(
          fmt::format("strict isolation cannot be had here: there is no {}", fmt::join(missing, ", no ")));
  if (isolation == Isolation::best) found();  // before anything is forked
  chosen = isolation;
}

Isolation isolation() { return chosen; }

}  // namespace isomer::emulator
