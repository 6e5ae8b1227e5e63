#include "core/sentence.hpp"
#include "lab/ask/adapting/refusal.hpp"
#include "lab/audit/audit.hpp"
#include "lab/candidate/candidate.hpp"
#include "lab/findings/label_version.hpp"
#include "lab/judge/diagnose.hpp"
#include "lab/judge/emulated/exchanged_build.hpp"
#include "lab/judge/emulated/not_built.hpp"
#include "lab/judge/unset_locals.hpp"
#include "lab/plan/parallel.hpp"
#include "lab/record/kept.hpp"
#include "lab/record/python_child.hpp"
#include "lab/text/pattern.hpp"
#include "lab/text/read_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <future>
#include <iterator>
#include <sstream>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;
constexpr std::uintmax_t kLongestSource = 4 << 20;

std::string text_of(const fs::path& file) {
  std::error_code failed;
  if (file.empty() || fs::file_size(file, failed) > kLongestSource || failed) return {};
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

bool is_library(const fs::path& file) { return file.extension() == ".so"; }

/// Whether the size of a warp may matter to a source: only HIP runs with 64 lanes.
bool may_depend_on_lanes(const fs::path& file, const std::string& source) {
  static const Pattern warps("warpSize|__shfl|__ballot|__any|__all|__activemask|__syncwarp");
  return (file.string().find(".hip") != std::string::npos ||
          source.find("hip/hip_runtime.h") != std::string::npos) &&
         warps.found_in(source);
}

/// What the label's host functions are called: those that launch are what callers use.
std::string function_of_label(const CaseFolder& folder) {
  const std::vector<std::string> defined = python_functions(text_of(folder.label));
  for (const std::string& name : defined)
    if (find_port(name) != nullptr && find_port(name)->op != name) return name;
  for (const std::string& name : defined)
    if (find_port(name) != nullptr) return name;
  return {};
}

/// What of the test raised when it was recorded: calls behind it are missing.
void note_what_raised(const Recording& recording, const fs::path& test, std::vector<std::string>& notes) {
  constexpr std::size_t kMost = 3;
  const auto found = recording.metadata.find("test_raised");
  const nlohmann::json raised =
      found == recording.metadata.end() ? nlohmann::json() : read_json(found->second);
  if (!raised.is_array() || test.empty()) return;
  for (std::size_t i = 0; i < raised.size() && i < kMost; ++i) {
    const nlohmann::json& each = raised[i];
    if (!each.is_object() || !each.value("where", nlohmann::json()).is_string() ||
        !each.value("error", nlohmann::json()).is_string())
      continue;
    notes.push_back(fmt::format("{}: {} raised {}", test.filename().string(),
                                each["where"].get<std::string>(), each["error"].get<std::string>()));
  }
}

std::shared_ptr<const Recording> recording_of_folder(const CaseFolder& folder, bool op_known,
                                                     std::vector<std::string>& notes) {
  if (!folder.recording.empty())
    return std::make_shared<Recording>(load_recording(folder.recording.string()));
  // Without an op it is all that there is; with one it still shows how the test calls, and what the test
  // hides.
  if (folder.test.empty() || (op_known && folder.label.empty())) return nullptr;
  try {
    return std::make_shared<Recording>(kept_recording(folder.label, folder.test));
  } catch (const Error& error) {
    const std::string said = error.what();
    notes.push_back(said.starts_with("record: ") ? said.substr(8) : said);
    return nullptr;
  }
}

/// Why each of the files is no Python, with its line; empty where it is, where there is no file, or no Python
/// to ask.
std::vector<std::string> broken_python(const std::vector<fs::path>& files) {
  constexpr const char* kParse =
      "import ast, sys\n"
      "for number, name in enumerate(sys.argv[1:]):\n"
      "    if not name: continue\n"
      "    try:\n        ast.parse(open(name, 'rb').read())\n"
      "    except SyntaxError as error:\n        print(number, error.lineno, error.msg, sep=': ')\n"
      "    except ValueError as error:\n        print(number, 1, error, sep=': ')\n"
      "    except Exception:\n        pass\n";
  std::vector<std::string> why(files.size()), words = {"python3", "-c", kParse};
  for (const fs::path& file : files) words.push_back(file.string());
  const auto named = static_cast<std::size_t>(
      std::count_if(files.begin(), files.end(), [](const fs::path& file) { return !file.empty(); }));
  if (named == 0) return why;
  const ChildEnd end = run_child(words, 10);
  if (!end.started) return why;
  if (named > 1 && (end.timed_out || end.signal != 0 || end.exit_status != 0)) {
    // A file may be too much for the parser: the other is judged all the same.
    for (std::size_t i = 0; i < files.size(); ++i) why[i] = broken_python({files[i]}).front();
    return why;
  }
  std::istringstream lines(end.output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t number = line.empty() ? files.size() : static_cast<std::size_t>(line.front() - '0');
    if (number < files.size() && line.compare(1, 2, ": ") == 0 && why[number].empty())
      why[number] = fmt::format("{}:{}", files[number].string(), line.substr(3));
  }
  return why;
}

Diagnosis empty_diagnosis(const CaseFolder& folder, const fs::path& candidate, Backend backend) {
  Diagnosis diagnosis;
  diagnosis.folder = folder.folder.string();
  diagnosis.candidate = candidate.filename().string();
  diagnosis.op = folder.op;
  diagnosis.backend = name_of(backend);
  return diagnosis;
}

/// The candidate with 64 lanes, built when it is asked for or, with `beside`, from now on in a thread of its
/// own.
std::function<std::shared_ptr<const Candidate>()> with_64_lanes(const fs::path& path, BuildSettings settings,
                                                                bool beside) {
  settings.lanes = 64;
  const auto build = [path, settings]() -> std::shared_ptr<const Candidate> {
    BuildFailure ignored;
    return build_candidate(path, settings, ignored);
  };
  if (!beside) return build;
  return [built = std::async(std::launch::async, build).share()] { return built.get(); };
}

/// The candidate whose shuffles downwards give each lane the whole of a reduction, built when it is asked
/// for.
std::function<std::shared_ptr<const Candidate>()> with_whole_shuffles(const fs::path& path,
                                                                      BuildSettings settings) {
  settings.definitions.emplace_back("ISOMER_EMULATOR_WHOLE_SHUFFLES=1");
  return [path, settings]() -> std::shared_ptr<const Candidate> {
    BuildFailure ignored;
    return build_candidate(path, settings, ignored);
  };
}

/// The candidate with local variables that begin in one way, built when it is asked for.
FilledLocals with_filled_locals(const fs::path& path, const BuildSettings& settings) {
  return [path, settings](Locals locals) -> std::shared_ptr<const Candidate> {
    BuildSettings filled = settings;
    filled.locals = locals;
    BuildFailure ignored;
    return build_candidate(path, filled, ignored);
  };
}

/// `broken`: why the folder's recording cannot be read; `beside`: a core is free for a second build.
Diagnosis diagnose_candidate(const CaseFolder& folder, const fs::path& path, Backend backend,
                             DiagnoseRequest request, const std::string& broken,
                             const std::vector<std::string>& notes, bool beside) {
  const auto begin = std::chrono::steady_clock::now();
  Diagnosis diagnosis = empty_diagnosis(folder, path, backend);
  try {
    if (!broken.empty()) core::fail(ErrorCode::io, broken);
    BuildSettings settings;
    settings.backend = backend;
    settings.include_directories = folder.include_directories;
    settings.definitions = folder.definitions;
    settings.signature = folder.signature;
    BuildFailure failure;
    request.source = is_library(path) ? std::string() : text_of(path);
    request.source_file = path.string();
    // A real device has the lanes that it has.
    if (backend == Backend::emulated && may_depend_on_lanes(path, request.source))
      request.wide = with_64_lanes(path, settings, beside);
    if (backend == Backend::emulated && request.source.find("shfl_down") != std::string::npos)
      request.whole_shuffles = with_whole_shuffles(path, settings);
    if (backend == Backend::emulated && line_of_unset_sum(request.source) != 0)
      request.with_locals = with_filled_locals(path, settings);
    if (backend == Backend::emulated && !request.source.empty())
      request.exchanging = with_exchanges(path, request.source, text_of(folder.label), settings);
    const std::shared_ptr<const Candidate> candidate = build_candidate(path, settings, failure);
    if (candidate == nullptr && lacks_on_device(failure)) {
      diagnosis.error = failure.missing_header.empty()
                            ? failure.message
                            : fmt::format("it includes {}, which is not here: {}", failure.missing_header,
                                          not_built(failure, request.source).fix);
    } else if (candidate == nullptr && failure.of_machine) {
      diagnosis.error = "it could not be compiled here, for a reason that is not its own: " + failure.message;
    } else if (candidate == nullptr) {
      diagnosis.findings.push_back(not_built(failure, request.source));
      diagnosis.compile =
          diagnosis.findings.back().code == Code::does_not_compile ? Stage::failed : Stage::passed;
      if (diagnosis.compile == Stage::passed) diagnosis.call = Stage::failed;
      if (diagnosis.op.empty()) diagnosis.op = op_of_functions({request.function});
    } else {
      const std::string where = diagnosis.folder, name = diagnosis.candidate;
      diagnosis = diagnose(*candidate, request);
      diagnosis.folder = where;
      diagnosis.candidate = name;
      if (const std::vector<std::string> reaches = candidate->reaches(); !reaches.empty())
        diagnosis.notes.push_back(
            fmt::format("suspicious: it {}, which no kernel needs", fmt::join(reaches, ", ")));
    }
  } catch (const Error& error) {
    diagnosis.error = error.what();
  } catch (const std::exception& error) {
    diagnosis.error = fmt::format("{}: {}", path.string(), error.what());
  }
  if (!diagnosis.error.empty() && !notes.empty()) diagnosis.error += ": " + notes.front();
  // As the user called the file, whatever the compiler made of its path.
  for (Finding& finding : diagnosis.findings)
    if (finding.location.file == fs::absolute(path).lexically_normal().string())
      finding.location.file = path.string();
  diagnosis.notes.insert(diagnosis.notes.end(), notes.begin(), notes.end());
  diagnosis.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return diagnosis;
}

}  // namespace

std::vector<std::string> python_functions(const std::string& source) {
  static const Pattern definition("(^|\\n)def[ \\t]+([A-Za-z_][A-Za-z_0-9]*)[ \\t]*\\(");
  std::vector<std::string> names;
  for (const Match& match : definition.all(source)) {
    // A kernel is no host function.
    const std::size_t begin = match.begin();
    const std::string before = source.substr(begin > 160 ? begin - 160 : 0, begin > 160 ? 160 : begin);
    const std::size_t line = before.find_last_not_of(" \n\t");
    const std::size_t start = before.rfind('\n', line);
    const std::string decorator = before.substr(start == std::string::npos ? 0 : start + 1);
    if (decorator.rfind("@triton", 0) != 0) names.push_back(match[2]);
  }
  return names;
}

std::vector<Diagnosis> diagnose_folder(const CaseFolder& folder, Backend backend, int jobs) {
  std::vector<Diagnosis> list;
  if (!folder.error.empty()) {
    list.push_back(empty_diagnosis(folder, {}, backend));
    list.back().error = folder.error;
    return list;
  }
  // Python takes as long to start as several calls of the candidate: it starts beside them.
  const std::vector<fs::path> python = {folder.label, folder.test};
  std::future<std::vector<std::string>> parsed = std::async(std::launch::async, broken_python, python);
  DiagnoseRequest request;
  request.op = folder.op;
  request.entry = folder.entry;
  request.rtol = folder.rtol;
  request.atol = folder.atol;
  request.function = function_of_label(folder);
  request.texts = {text_of(folder.instruction), text_of(folder.label), text_of(folder.test)};
  static const Pattern current("current\\s+(\\w+\\s+)?stream|getCurrent\\w+Stream",
                               Pattern::Letters::of_any_case);
  request.current_stream = current.found_in(text_of(folder.instruction));
  static const Pattern narrow(
      "\\b(wave32|RDNA\\d?|Radeon)\\b|\\b(32\\s*(and|or|/)\\s*64|64\\s*(and|or|/)\\s*32)\\b|"
      "\\b(both|either|any)\\s+(warp|wave)",
      Pattern::Letters::of_any_case);
  request.narrow_warps = narrow.found_in(text_of(folder.instruction));
  std::vector<std::string> notes;
  std::string broken;
  const bool known = !folder.op.empty() || !request.function.empty();
  try {
    request.recording = recording_of_folder(folder, known, notes);
    if (request.recording != nullptr) note_what_raised(*request.recording, folder.test, notes);
  } catch (const Error& error) {
    broken = error.what();
  }
  request.every_edit = folder.every_edit;
  request.stranger = folder.label.empty() && folder.test.empty() && folder.instruction.empty() &&
                     request.recording == nullptr;
  list.resize(folder.candidates.size());
  const bool beside = jobs > static_cast<int>(list.size());
  // A real device is timed: one candidate has it to itself.
  parallel(list.size(), backend == Backend::emulated ? jobs : 1, [&](std::size_t i) {
    list[i] = diagnose_candidate(folder, folder.candidates[i], backend, request, broken, notes, beside);
  });
  for (Diagnosis& diagnosis : list) follow_label(text_of(folder.label), diagnosis);
  // Said once for the folder, with its first candidate.
  if (!list.empty() && (list.front().error.empty() || request.recording != nullptr) &&
      !(folder.test.empty() && folder.instruction.empty())) {
    const std::vector<Finding> said =
        audit(folder, request.recording != nullptr ? *request.recording : Recording());
    list.front().findings.insert(list.front().findings.end(), said.begin(), said.end());
    order(list.front().findings);
  }
  // The candidate is judged as far as that goes without them.
  const std::vector<std::string> why = parsed.get();
  for (std::size_t i = 0; i < python.size(); ++i) {
    if (why[i].empty()) continue;
    // Where that is why nothing could be judged, it is said.
    const std::string at = why[i].substr(why[i].rfind('/') + 1);
    if (std::any_of(list.begin(), list.end(), [&](const Diagnosis& each) {
          return each.error.find(at.substr(0, at.find(' '))) != std::string::npos;
        }))
      continue;
    list.push_back(empty_diagnosis(folder, python[i], backend));
    list.back().error = "not valid Python: " + why[i];
  }
  return list;
}

}  // namespace isomer::lab
