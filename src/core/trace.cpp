#include "core/trace.hpp"

#include "core/json_text.hpp"
#include "core/record.hpp"
#include "core/sentence.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>

namespace isomer::core {
namespace {

/// Whole lines at a time, so that what a crash leaves behind can be read.
class TraceFile {
 public:
  explicit TraceFile(std::string folder) : folder_(std::move(folder)) {}

  void take(const LaunchRecord& record) {
    if (record.implementation.starts_with("cpu/")) return;
    const std::lock_guard lock(mutex_);
    open_for_this_process();
    if (file_ < 0) return;
    std::string lines;
    for (const Launch& launch : record.description.launches) add(record, launch, lines);
    // A full disk loses lines, and the missing last line tells it.
    if (write(file_, lines.data(), lines.size()) != static_cast<ssize_t>(lines.size())) broken_ = true;
  }

  void end() {
    const std::lock_guard lock(mutex_);
    if (file_ < 0 || process_ != getpid() || broken_) return;
    const std::string line = say("{\"end\":{\"launches\":", launches_, ",\"dropped\":0}}\n");
    if (write(file_, line.data(), line.size()) < 0) broken_ = true;
    close(file_);
    file_ = -1;
  }

 private:
  /// A fork's child has a file of its own.
  void open_for_this_process() {
    if (process_ == getpid()) return;
    if (file_ >= 0) close(file_);
    process_ = getpid();
    kernels_.clear();
    launches_ = 0;
    broken_ = false;
    const std::string path = say(folder_, "/isomer-", process_, ".jsonl");
    file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
    if (file_ < 0) return;
    std::ifstream words("/proc/self/cmdline", std::ios::binary);
    std::string command((std::istreambuf_iterator<char>(words)), std::istreambuf_iterator<char>());
    while (!command.empty() && command.back() == '\0') command.pop_back();
    for (char& c : command)
      if (c == '\0') c = ' ';
    if (!is_utf8(command)) command.clear();
    const std::string line =
        say("{\"isomer_trace\":1,\"tool\":\"isomer's own launches\",\"command\":", json_quoted(command),
            ",\"process\":", process_, ",\"facts\":{}}\n");
    if (write(file_, line.data(), line.size()) < 0) broken_ = true;
  }

  static void add_named(std::string& line, const Named& values, const char* prefix) {
    for (const auto& [name, value] : values) {
      if (line.back() != '{') line += ',';
      line += json_quoted(prefix + name) + ":" + json_quoted(value);
    }
  }

  static std::string triple(const std::array<std::int64_t, 3>& values) {
    return say('[', values[0], ',', values[1], ',', values[2], ']');
  }

  void add(const LaunchRecord& record, const Launch& launch, std::string& lines) {
    std::string kernel = say(",\"name\":", json_quoted(launch.kernel));
    if (!launch.binary.hash.empty()) kernel += say(",\"code_hash\":", json_quoted(launch.binary.hash));
    if (launch.binary.registers >= 0) kernel += say(",\"registers\":", launch.binary.registers);
    kernel += say(",\"variant\":{\"op\":", json_quoted(record.op),
                  ",\"implementation\":", json_quoted(record.implementation));
    add_named(kernel, record.description.variant, "");
    kernel += "}}\n";
    const auto [entry, is_new] = kernels_.emplace(kernel, kernels_.size() + 1);
    if (is_new) lines += say("{\"kernel\":", entry->second, kernel);
    std::string parameters = "{";
    add_named(parameters, record.description.parameters, "");
    add_named(parameters, record.description.constants, "constant ");
    lines += say("{\"launch\":", ++launches_, ",\"kernel\":", entry->second, ",\"thread\":", gettid(),
                 ",\"grid\":", triple(launch.grid), ",\"block\":", triple(launch.block),
                 ",\"cluster\":", triple(launch.cluster), ",\"shared_dynamic\":", launch.shared_bytes,
                 ",\"parameters\":", parameters, "}}\n");
  }

  std::mutex mutex_;
  std::string folder_;
  int file_ = -1;
  pid_t process_ = 0;
  bool broken_ = false;
  std::uint64_t launches_ = 0;
  std::map<std::string, std::uint64_t> kernels_;  ///< by the text of their line
};

}  // namespace

void trace_where_asked() {
  static const bool decided = [] {
    const char* folder = std::getenv("ISOMER_TRACE");
    if (folder == nullptr || *folder == '\0') return true;
    // Never destroyed: a thread may launch until the process is gone.
    static TraceFile& file = *new TraceFile(folder);
    static const Listening& listening =
        *new Listening([](const LaunchRecord& record) { file.take(record); }, false);
    (void)listening;
    std::atexit([] { file.end(); });
    return true;
  }();
  (void)decided;
}

}  // namespace isomer::core
