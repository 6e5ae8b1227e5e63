// Batches of folders, run as their users run them, and what their results files say.
#pragma once

#include "command.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

namespace isomer::tests {

using Json = nlohmann::json;

class Batch : public InFolder {
 protected:
  /// Folders that need no compiler to be judged: half of them are broken, each in a way of its own.
  void write_folders(int count) const {
    for (int i = 0; i < count; ++i) {
      const std::string name = "cases/" + std::to_string(i);
      if (i % 2 == 0)
        write(name + "/case.toml", "op = \"nonsense\"\nthis is no TOML " + std::to_string(i) + "\n");
      else
        write(name + "/candidate.cu", "#error number " + std::to_string(i) + "\n");
      if (i % 2 == 1)
        write(name + "/case.toml", "op = \"sin\"\nauthor = \"author " + std::to_string(i % 4) +
                                       "\"\ntask = \"task " + std::to_string(i / 8) + "\"\n");
    }
  }

  /// Lines by folder and candidate, without what differs from run to run.
  static std::map<std::string, std::string> by_candidate(const std::string& file) {
    std::map<std::string, std::string> all;
    for (const std::string& line : lines(file)) {
      Json json = Json::parse(line);
      json.erase("seconds");
      const std::string name = json["folder"].get<std::string>() + "/" + json["candidate"].get<std::string>();
      EXPECT_TRUE(all.emplace(name, json.dump()).second) << name << " is there twice";
    }
    return all;
  }

  /// The batch in a process of its own.
  pid_t start(const std::string& words) const {
    const pid_t child = fork();
    if (child == 0) {
      const int out = open(path("out").c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
      dup2(out, 1), dup2(out, 2);
      execl("/bin/sh", "sh", "-c", ("exec " + std::string(ISOMER_CLI) + " " + words).c_str(), nullptr);
      _exit(127);
    }
    return child;
  }

  /// Until the file has so many lines; false where the batch ends before.
  static bool wait_for_lines(pid_t batch, const std::string& file, std::size_t count) {
    while (lines(file).size() < count) {
      if (waitpid(batch, nullptr, WNOHANG) == batch) return false;
      usleep(2000);
    }
    return true;
  }

  /// Processes whose words hold the text.
  static int processes_with(const std::string& text) {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      count += read("/proc/" + name + "/cmdline").find(text) != std::string::npos;
    }
    return count;
  }
};

}  // namespace isomer::tests
