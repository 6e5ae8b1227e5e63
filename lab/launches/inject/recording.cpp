#include "lab/launches/inject/recording.hpp"

#include "lab/launches/inject/output.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace isomer::inject {
namespace {

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string words((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  while (!words.empty() && words.back() == '\0') words.pop_back();
  for (char& c : words)
    if (c == '\0') c = ' ';
  constexpr std::size_t kLongest = 4096;
  return words.substr(0, kLongest);
}

}  // namespace

bool open_part(const char* vendor) {
  const char* folder = std::getenv("ISOMER_TRACE");
  if (folder == nullptr || *folder == '\0') return false;
  if (!output().open(std::string(folder) + "/" + vendor + "-" + std::to_string(getpid()) + ".jsonl"))
    return false;
  pthread_atfork(nullptr, nullptr, [] { output().abandon(); });
  return true;
}

void write_header(const char* tool, const std::map<std::string, std::string>& facts) {
  Line line("isomer_trace", 1);
  line.text("tool", tool).text("command", command_line());
  line.number("process", static_cast<std::uint64_t>(getpid()));
  std::string object = ",\"facts\":{";
  for (const auto& [name, value] : facts) {
    if (object.back() != '{') object += ',';
    append_quoted(object, name);
    object += ':';
    append_quoted(object, value);
  }
  line.raw(object + "}").write();
}

void note(const std::string& sentence) {
  std::string line = "{\"note\":";
  append_quoted(line, sentence);
  output().line(line + "}");
}

void fact(const char* name, const std::string& value) {
  Line("fact", 0).text("name", name).text("is", value).write();
}

void write_end(const Counts& counts) {
  if (output().lost() > 0) note(std::to_string(output().lost()) + " lines did not fit on the disk");
  std::string line = "{\"end\":{\"recorded\":";
  append(line, counts.recorded);
  line += ",\"dropped\":";
  append(line, counts.dropped + output().lost());
  line += ",\"hashed_bytes\":";
  append(line, counts.hashed_bytes);
  output().line(line + "}}");
  output().close();
}

std::uint64_t thread_id() {
  thread_local const auto id = static_cast<std::uint64_t>(syscall(SYS_gettid));
  return id;
}

}  // namespace isomer::inject
