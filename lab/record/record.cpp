#include "lab/record/record.hpp"

#include "core/sentence.hpp"
#include "core/temporary_folder.hpp"
#include "lab/record/python_child.hpp"
#include "lab/record/python_files.hpp"
#include "lab/text/read_json.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>

#include <unistd.h>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kRecorderStart =
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from isomer_record.main import main; main()";

void write(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) core::fail(ErrorCode::io, "record: cannot write ", path.string());
}

bool is_python(const fs::path& program) { return program.filename().string().starts_with("python"); }

/// Last line that has letters, cut, without what a terminal would obey.
std::string last_words(const std::string& output) {
  std::string line, last;
  const auto keep = [&] {
    if (line.find_first_not_of(' ') != std::string::npos) last = line;
    line.clear();
  };
  for (const char c : output) {
    if (c == '\n')
      keep();
    else if (c >= 0x20 && c < 0x7f)
      line += c;
  }
  keep();
  return last.size() > 200 ? last.substr(0, 200) + "…" : last;
}

/// One run under one Python. False where that one has no PyTorch, with the sentence that says so.
class Run {
 public:
  explicit Run(const RecordSettings& settings) : settings_(settings) {
    for (const PythonFile& file : python_files()) write(folder_.path() / file.path, file.text);
    const auto absolute = [](const fs::path& path) {
      return path.empty() ? std::string() : fs::absolute(path).lexically_normal().string();
    };
    const json job = {{"label", absolute(settings.label)},
                      {"test", absolute(settings.test)},
                      {"arguments", settings.arguments},
                      {"max_bytes", settings.max_bytes},
                      {"seconds", settings.timeout_seconds},
                      {"edit_seconds", settings.edit_seconds},
                      {"status", (folder_.path() / "status.json").string()},
                      {"recording", (folder_.path() / "recording.safetensors").string()}};
    write(folder_.path() / "job.json", job.dump(-1, ' ', false, json::error_handler_t::replace));
  }

  bool attempt(const std::vector<std::string>& python, std::string& why) {
    std::vector<std::string> words = python;
    words.insert(words.end(), {"-B", "-c", kRecorderStart, folder_.path().string(),
                               (folder_.path() / "job.json").string()});
    fs::remove(folder_.path() / "status.json");  // of another Python
    const ChildEnd end = run_child(words, settings_.timeout_seconds);
    if (!end.started) {
      why = core::say("there is no Python: ", python[0],
                      " cannot be run; apt-get install python3-torch brings both it and PyTorch");
      return false;
    }
    if (end.timed_out)
      core::fail(ErrorCode::bad_argument, "record: ", name(), " ran longer than ", settings_.timeout_seconds,
                 " s; --timeout allows more");
    std::ifstream file(folder_.path() / "status.json");
    status_ = read_json(file);
    if (!file || !status_.is_object()) {
      const std::string words_of_it = last_words(end.output);
      core::fail(ErrorCode::bad_argument, "record: ", name(), " ended ", python[0], " with ",
                 end.signal != 0 ? "signal " : "exit status ",
                 end.signal != 0 ? strsignal(end.signal) : std::to_string(end.exit_status),
                 " before its calls could be written",
                 words_of_it.empty() ? "" : "; its last line: ", words_of_it);
    }
    if (status_.value("kind", "") == "no torch") {
      why = core::say(python[0], " has no PyTorch (", status_.value("error", ""),
                      "): apt-get install python3-torch, or pip install torch, or name another Python with "
                      "--python");
      return false;
    }
    if (status_.contains("error"))
      core::fail(ErrorCode::bad_argument, "record: ", status_.value("error", "it failed"));
    return true;
  }

  Recorded recorded() const {
    Recorded recorded{load_recording(folder_.path() / "recording.safetensors"),
                      status_.value("unanswered", 0),
                      status_.value("why", ""),
                      {}};
    for (const json& each : status_.value("raised", json::array()))
      recorded.raised.push_back(each.value("where", "") + ": " + each.value("error", ""));
    return recorded;
  }

 private:
  std::string name() const {
    return (settings_.test.empty() ? settings_.label : settings_.test).filename().string();
  }

  const RecordSettings& settings_;
  core::TemporaryFolder folder_{"record", "record"};
  json status_;
};

void require_file(const fs::path& path) {
  if (!path.empty() && !fs::is_regular_file(path))
    core::fail(ErrorCode::bad_argument, "record: there is no file ", path.string());
}

}  // namespace

RecordSettings settings_of_folder(const fs::path& folder) {
  RecordSettings settings;
  const fs::path label = folder / "1_label_source.py", test = folder / "3_test_code.py";
  if (fs::exists(label)) settings.label = label;
  if (fs::exists(test)) settings.test = test;
  if (settings.label.empty() && settings.test.empty())
    core::fail(ErrorCode::bad_argument, "record: ", folder.string(),
               " has neither 1_label_source.py nor 3_test_code.py; --label and --test name other files");
  return settings;
}

RecordSettings settings_of_command(const std::vector<std::string>& words) {
  RecordSettings settings;
  std::size_t at = 0;
  if (is_python(words.at(0))) {
    settings.python.push_back(words[at++]);
    // -c and -m run no file; -W and -X take a word.
    for (; at < words.size() && words[at].starts_with('-'); ++at) {
      if (words[at] == "-c" || words[at] == "-m")
        core::fail(ErrorCode::bad_argument, "record: ", words[at],
                   " names no file; expected python3 TEST.py");
      settings.python.push_back(words[at]);
      if ((words[at] == "-W" || words[at] == "-X") && at + 1 < words.size())
        settings.python.push_back(words[++at]);
    }
  }
  if (at == words.size() || !words[at].ends_with(".py"))
    core::fail(ErrorCode::bad_argument, "record: expected a folder or python3 TEST.py, got '",
               at == words.size() ? words.back() : words[at], "'");
  settings.test = words[at++];
  settings.arguments.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  if (const fs::path label = settings.test.parent_path() / "1_label_source.py";
      fs::exists(label) && label != settings.test)
    settings.label = label;
  return settings;
}

Recorded record(const RecordSettings& settings) {
  require_file(settings.label);
  require_file(settings.test);
  Run run(settings);
  std::vector<std::vector<std::string>> pythons = {settings.python};
  // The user's own first; a distribution's PyTorch belongs to the distribution's Python.
  if (settings.python.empty()) pythons = {{"python3"}, {"/usr/bin/python3"}};
  std::string first, why;
  for (const auto& python : pythons) {
    if (run.attempt(python, why)) return run.recorded();
    if (first.empty()) first = why;
  }
  core::fail(ErrorCode::bad_argument, "record: ", first);
}

}  // namespace isomer::lab
