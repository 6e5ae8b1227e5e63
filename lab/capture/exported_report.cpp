#include "lab/capture/exported_report.hpp"

#include "core/sentence.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;

/// Exit status of a program whose standard output goes to a file; 127 where it cannot be started.
int run(std::vector<std::string> words, const fs::path& output) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600),
              nowhere = open("/dev/null", O_WRONLY);
    dup2(file, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    execvp(pointers[0], pointers.data());
    _exit(127);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}

}  // namespace

ExportedReport::ExportedReport(const fs::path& report, bool nsys) : folder_("diff", "report") {
  std::error_code none;
  path_ = folder_.path() / (nsys ? "report.sqlite" : "report.csv");
  const std::string name = report.string();
  const std::vector<std::string> words =
      nsys ? std::vector<std::string>{"nsys", "export", "--type", "sqlite", "--output", path_.string(), name}
           : std::vector<std::string>{"ncu", "--import", name, "--csv", "--page", "raw"};
  const int status = run(words, nsys ? folder_.path() / "printed" : path_);
  if (status == 0 && fs::exists(path_, none)) return;
  const std::string by_hand = nsys ? core::say("nsys export --type sqlite ", name)
                                   : core::say("ncu --import ", name, " --csv --page raw > report.csv");
  core::fail(ErrorCode::io, "diff: '", name, "' is a report that only ", words[0], " can read, ",
             status == 127 ? "which is not on this machine" : "which failed on it",
             "; where it works, run: ", by_hand, ", and pass the result to isomer diff");
}

}  // namespace isomer::lab
