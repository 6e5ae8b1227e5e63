#include "lab/record/record.hpp"
#include "cli/verbs.hpp"
#include "core/sentence.hpp"
#include "lab/report/markup.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>

namespace isomer::cli {
namespace {

namespace fs = std::filesystem;

struct RecordOptions {
  std::vector<std::string> what;
  std::string out, label, test, python;
  double timeout = 120, edit_seconds = 20;
  std::uint64_t max_bytes = std::uint64_t{256} << 20;
  bool json = false, table = false;
};

/// Exit status of a recording: 1 where a part of the test stopped before its end.
int status_of(const lab::Recorded& recorded) { return recorded.raised.empty() ? holds : findings; }

/// Labels of a folder: files with the test below a line of #, or case folders.
std::vector<fs::path> labels_of(const fs::path& folder) {
  std::vector<fs::path> labels;
  for (const fs::directory_entry& each : fs::directory_iterator(folder)) {
    const bool file = each.is_regular_file() && each.path().extension() == ".py";
    const bool both = each.is_directory() && fs::exists(each.path() / "1_label_source.py");
    if (file || both) labels.push_back(each.path());
  }
  std::sort(labels.begin(), labels.end());
  return labels;
}

lab::RecordSettings settings_of(const RecordOptions& options) {
  lab::RecordSettings settings;
  if (options.what.size() == 1 && fs::is_directory(options.what[0])) {
    if (options.label.empty() || options.test.empty()) settings = lab::settings_of_folder(options.what[0]);
  } else if (!options.what.empty()) {
    settings = lab::settings_of_command(options.what);
  } else if (options.label.empty() && options.test.empty()) {
    core::fail(ErrorCode::bad_argument, "record: expected a folder or python3 TEST.py, got nothing");
  }
  if (!options.label.empty()) settings.label = options.label;
  if (!options.test.empty()) settings.test = options.test;
  if (!options.python.empty()) settings.python = {options.python};
  settings.timeout_seconds = options.timeout;
  settings.edit_seconds = options.edit_seconds;
  settings.max_bytes = options.max_bytes;
  return settings;
}

int run(const RecordOptions& options) {
  const lab::RecordSettings settings = settings_of(options);
  const lab::Recorded recorded = lab::record(settings);
  const fs::path beside = (settings.test.empty() ? settings.label : settings.test).parent_path();
  const std::string out = options.out.empty() ? beside / "recording.safetensors" : fs::path(options.out);
  lab::save_recording(out, recorded.recording);
  std::map<std::string, int> functions;
  for (const lab::RecordedCall& call : recorded.recording.calls) ++functions[call.function];
  const std::string answers = recorded.recording.metadata.at("answers");
  if (options.json) {
    const nlohmann::json report = {{"version", 1},
                                   {"file", out},
                                   {"calls", functions},
                                   {"unanswered", recorded.unanswered},
                                   {"why", recorded.why},
                                   {"answers", answers},
                                   {"raised", recorded.raised}};
    fmt::print("{}\n", report.dump(2));
    return status_of(recorded);
  }
  for (const auto& [function, calls] : functions)
    fmt::print("{} {} of {}\n", calls, calls == 1 ? "call" : "calls", function);
  if (recorded.unanswered > 0)
    fmt::print("{} without an answer: {}\n", recorded.unanswered, recorded.why);
  else
    fmt::print("answers by {}\n", answers == "triton" ? "Triton " + recorded.recording.metadata.at("triton")
                                                      : "PyTorch " + recorded.recording.metadata.at("torch"));
  for (const std::string& each : recorded.raised) fmt::print("stopped: {}\n", lab::escape_terminal(each));
  fmt::print("{}, {} bytes\n", out, fs::file_size(out));
  return status_of(recorded);
}

/// A line for each label of a folder, as it comes: recorded, partial, or refused and why.
int run_table(const RecordOptions& options) {
  if (options.what.size() != 1 || !fs::is_directory(options.what[0]))
    core::fail(ErrorCode::bad_argument, "record: --table expects a folder of labels");
  const std::vector<fs::path> labels = labels_of(options.what[0]);
  if (labels.empty())
    core::fail(ErrorCode::bad_argument, "record: ", options.what[0],
               " has no labels: neither Python files nor case folders");
  if (!options.out.empty()) fs::create_directories(options.out);
  int recorded = 0, partial = 0, refused = 0;
  for (const fs::path& label : labels) {
    std::string word, why;
    try {
      lab::RecordSettings settings;
      if (fs::is_directory(label))
        settings = lab::settings_of_folder(label);
      else
        settings.label = label;
      if (!options.python.empty()) settings.python = {options.python};
      settings.timeout_seconds = options.timeout;
      settings.edit_seconds = options.edit_seconds;
      settings.max_bytes = options.max_bytes;
      const lab::Recorded one = lab::record(settings);
      const std::size_t calls = one.recording.calls.size();
      if (!options.out.empty())
        lab::save_recording(fs::path(options.out) / (label.stem().string() + ".safetensors"), one.recording);
      const bool none = static_cast<std::size_t>(one.unanswered) == calls;
      word = none ? "refused" : one.unanswered == 0 && one.raised.empty() ? "recorded" : "partial";
      why = fmt::format("{} {}", calls, calls == 1 ? "call" : "calls");
      if (one.unanswered > 0) why += fmt::format(", {} without an answer: {}", one.unanswered, one.why);
      if (!one.raised.empty()) why += fmt::format("; stopped: {}", one.raised.front());
    } catch (const Error& error) {
      word = "refused";
      why = error.what();
      if (why.starts_with("record: ")) why = why.substr(8);
    }
    (word == "recorded" ? recorded : word == "partial" ? partial : refused) += 1;
    fmt::print("{:<9} {}: {}\n", word, lab::escape_terminal(label.filename().string()),
               lab::escape_terminal(why));
    std::fflush(stdout);
  }
  fmt::print("\n{} labels: {} recorded, {} partial, {} refused\n", labels.size(), recorded, partial, refused);
  return partial + refused == 0 ? holds : findings;
}

}  // namespace

Run record(CLI::App& app) {
  auto options = std::make_shared<RecordOptions>();
  app.add_option(
         "what", options->what,
         "a folder with 1_label_source.py and 3_test_code.py, or -- and a command such as python3 TEST.py")
      ->option_text("FOLDER | -- COMMAND ...");
  app.add_option("-o,--out", options->out, "file to write; default: recording.safetensors beside the test")
      ->option_text("FILE");
  app.add_option("--label", options->label, "the reference; calls of its functions are recorded")
      ->option_text("FILE");
  app.add_option("--test", options->test, "the test that calls the reference")->option_text("FILE");
  app.add_option("--python", options->python, "the Python interpreter that has PyTorch; default: python3")
      ->option_text("PROGRAM");
  app.add_option("--timeout", options->timeout, "seconds after which the test is stopped; default: 120")
      ->check(CLI::PositiveNumber)
      ->option_text("S");
  app.add_option("--edit-seconds", options->edit_seconds,
                 "seconds of these for what the label answers once its text has one edit, by which check "
                 "names causes; 0: none; default: 20")
      ->check(CLI::Range(0.0, 86400.0))
      ->option_text("S");
  app.add_option("--max-bytes", options->max_bytes,
                 "limit for all recorded tensors together, in bytes; default: 268435456")
      ->check(positive_whole_number)
      ->option_text("N");
  app.add_flag("--json", options->json, "print JSON on stdout");
  app.add_flag(
      "--table", options->table,
      "record every label of a folder (Python files with their test below a line of #, or case folders), and "
      "print for each whether it was recorded; --out names a folder for the recordings");
  return [options] { return options->table ? run_table(*options) : run(*options); };
}

}  // namespace isomer::cli
