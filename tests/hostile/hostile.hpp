// A batch of hostile candidates between harmless ones.
#pragma once

#include "../batch/command.hpp"
#include "attacks.hpp"

#include <nlohmann/json.hpp>

#include <isomer/emulator/containment.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>

namespace isomer::tests {

using Json = nlohmann::json;

class Hostile : public InFolder {
 protected:
  void write_candidate(const std::string& name, const Attack& attack) const {
    write("cases/" + name + "/candidate.cu", source_of(attack, path("canary")));
    write("cases/" + name + "/case.toml", "op = \"sin\"\n");
  }

  /// Were one not contained without namespaces, it would end every process of this user's: the checker runs
  /// in one of processes then. False where none can be had here.
  bool keep_to_itself() {
    for (const char* how : {"unshare --pid --fork --mount-proc --kill-child=KILL ",
                            "unshare --user --map-current-user --pid --fork --mount-proc --kill-child=KILL "})
      if (std::system((std::string(how) + "true 2>/dev/null").c_str()) == 0) {
        within = how;
        return true;
      }
    return false;
  }

  /// The lines of one batch of these attacks, by folder; between them stand harmless candidates.
  std::map<std::string, Json> judged(const std::vector<Attack>& attacks, const std::string& isolation) {
    write("canary", "sings");
    write_candidate("0_harmless", {});
    for (const Attack& attack : attacks) write_candidate(attack.name, attack);
    write_candidate("z_harmless", {});
    const pid_t witness = fork();
    if (witness == 0) {
      for (;;) pause();
    }
    const Said said = isomer("check " + path("cases") + " --jobs 2 --isolation " + isolation + " --jsonl " +
                             path("a.jsonl"));
    int ended = 0;
    EXPECT_EQ(waitpid(witness, &ended, WNOHANG), 0) << "a process of this user's was ended";
    kill(witness, SIGKILL);
    waitpid(witness, nullptr, 0);
    EXPECT_EQ(said.signal, 0) << "the checker was ended: " << said.err;
    std::map<std::string, Json> all;
    for (const std::string& line : lines(path("a.jsonl"))) {
      Json json = Json::parse(line);
      const std::string folder = json["folder"];
      all[folder.substr(folder.rfind('/') + 1)] = std::move(json);
    }
    EXPECT_EQ(all.size(), attacks.size() + 2) << said.out << said.err;
    return all;
  }

  /// The same, and what is expected of each of them.
  std::map<std::string, Json> expect_contained(const std::vector<Attack>& attacks,
                                               const std::string& isolation) {
    std::map<std::string, Json> all = judged(attacks, isolation);
    for (const char* name : {"0_harmless", "z_harmless"})
      EXPECT_EQ(all[name]["verdict"], "pass") << all[name].dump(1);
    for (const Attack& attack : attacks) {
      const std::string told = all[attack.name].dump();
      EXPECT_TRUE(
          std::any_of(attack.says.begin(), attack.says.end(),
                      [&](const std::string& words) { return told.find(words) != std::string::npos; }))
          << attack.name << ": " << all[attack.name].dump(1);
    }
    EXPECT_EQ(read(path("canary")), "sings");
    // Nothing is left of them: no process has their modules or sources in its words or its memory.
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") == std::string::npos)
        EXPECT_EQ(read("/proc/" + name + "/cmdline").find(path("cases") + "/"), std::string::npos) << name;
    }
    return all;
  }

  static std::vector<Attack> sample() {
    std::vector<Attack> some;
    for (const Attack& attack : attacks())
      if (attack.cheap) some.push_back(attack);
    return some;
  }
};

}  // namespace isomer::tests
