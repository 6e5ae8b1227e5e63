#include "core/sentence.hpp"
#include "lab/candidate/candidate.hpp"
#include "lab/diagnose/audit.hpp"
#include "lab/diagnose/diagnose.hpp"
#include "lab/record/kept.hpp"
#include "lab/record/python_child.hpp"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <regex>

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
  static const std::regex warps("warpSize|__shfl|__ballot|__any|__all|__activemask|__syncwarp");
  return (file.string().find(".hip") != std::string::npos ||
          source.find("hip/hip_runtime.h") != std::string::npos) &&
         std::regex_search(source, warps);
}

Finding not_compiled(const BuildFailure& failure, const std::string& source) {
  Finding finding;
  finding.code = "does-not-compile";
  finding.argument = failure.missing_header;
  finding.evidence = failure.message;
  finding.location = failure.place;
  finding.fix =
      failure.missing_header.empty()
          ? source.find("ATen/") != std::string::npos || source.find("torch/") != std::string::npos
                ? "mend what the compiler complains of; where a newer PyTorch has it, name that one's torch "
                  "folder in ISOMER_TORCH"
                : "mend what the compiler complains of"
          : fmt::format(
                "install what has {}, name its folder in case.toml (include_directories), or do without it",
                failure.missing_header);
  return finding;
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
    notes.emplace_back(error.what());
    return nullptr;
  }
}

/// Why a file is no Python, with its line; empty where it is, or where there is no Python to ask.
std::string broken_python(const fs::path& file) {
  if (file.empty()) return {};
  constexpr const char* kParse =
      "import ast, sys\n"
      "try:\n    ast.parse(open(sys.argv[1], 'rb').read())\n"
      "except SyntaxError as error:\n    print(error.lineno, error.msg, sep=': ')\n    sys.exit(3)\n"
      "except ValueError as error:\n    print(1, error, sep=': ')\n    sys.exit(3)\n";
  const ChildEnd end = run_child({"python3", "-c", kParse, file.string()}, 10);
  if (!end.started || end.timed_out || end.exit_status != 3) return {};
  return fmt::format("{}:{}", file.string(), end.output.substr(0, end.output.find('\n')));
}

}  // namespace

std::vector<std::string> python_functions(const std::string& source) {
  static const std::regex definition("(^|\\n)def[ \\t]+([A-Za-z_][A-Za-z_0-9]*)[ \\t]*\\(");
  std::vector<std::string> names;
  for (std::sregex_iterator at(source.begin(), source.end(), definition), end; at != end; ++at) {
    // A kernel is no host function.
    const std::size_t begin = static_cast<std::size_t>(at->position(0));
    const std::string before = source.substr(begin > 160 ? begin - 160 : 0, begin > 160 ? 160 : begin);
    const std::size_t line = before.find_last_not_of(" \n\t");
    const std::size_t start = before.rfind('\n', line);
    const std::string decorator = before.substr(start == std::string::npos ? 0 : start + 1);
    if (decorator.rfind("@triton", 0) != 0) names.push_back((*at)[2]);
  }
  return names;
}

std::vector<Diagnosis> diagnose_folder(const CaseFolder& folder) {
  std::vector<Diagnosis> list;
  const auto empty = [&](const fs::path& candidate) {
    Diagnosis diagnosis;
    diagnosis.folder = folder.folder.string();
    diagnosis.candidate = candidate.filename().string();
    diagnosis.op = folder.op;
    return diagnosis;
  };
  if (!folder.error.empty()) {
    list.push_back(empty({}));
    list.back().error = folder.error;
    return list;
  }
  DiagnoseRequest request;
  request.op = folder.op;
  request.entry = folder.entry;
  request.rtol = folder.rtol;
  request.atol = folder.atol;
  request.function = function_of_label(folder);
  std::vector<std::string> notes;
  std::string broken;
  const bool known = !folder.op.empty() || !request.function.empty();
  try {
    request.recording = recording_of_folder(folder, known, notes);
  } catch (const Error& error) {
    broken = error.what();
  }
  for (const fs::path& path : folder.candidates) {
    const auto begin = std::chrono::steady_clock::now();
    Diagnosis diagnosis = empty(path);
    try {
      if (!broken.empty()) core::fail(ErrorCode::io, broken);
      BuildSettings settings;
      settings.include_directories = folder.include_directories;
      settings.definitions = folder.definitions;
      settings.signature = folder.signature;
      BuildFailure failure;
      request.source = is_library(path) ? std::string() : text_of(path);
      request.source_file = path.string();
      const std::shared_ptr<const Candidate> candidate = build_candidate(path, settings, failure);
      if (candidate == nullptr) {
        diagnosis.compile = Stage::failed;
        diagnosis.findings.push_back(not_compiled(failure, request.source));
        if (diagnosis.op.empty()) diagnosis.op = op_of_functions({request.function});
      } else {
        request.wide = nullptr;
        if (may_depend_on_lanes(path, request.source))
          request.wide = [path, settings]() mutable -> std::shared_ptr<const Candidate> {
            settings.lanes = 64;
            BuildFailure ignored;
            return build_candidate(path, settings, ignored);
          };
        const Diagnosis said = diagnose(*candidate, request);
        const std::string where = diagnosis.folder, name = diagnosis.candidate;
        diagnosis = said;
        diagnosis.folder = where;
        diagnosis.candidate = name;
      }
    } catch (const Error& error) {
      diagnosis.error = error.what();
    } catch (const std::exception& error) {
      diagnosis.error = fmt::format("{}: {}", path.string(), error.what());
    }
    if (!diagnosis.error.empty() && !notes.empty()) diagnosis.error += "; " + notes.front();
    diagnosis.notes.insert(diagnosis.notes.end(), notes.begin(), notes.end());
    diagnosis.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    list.push_back(std::move(diagnosis));
  }
  // Said once for the folder, with its first candidate.
  if (!list.empty() && list.front().error.empty() && !(folder.test.empty() && folder.instruction.empty())) {
    const std::vector<Finding> said =
        audit(folder, request.recording != nullptr ? *request.recording : Recording());
    list.front().findings.insert(list.front().findings.end(), said.begin(), said.end());
    order(list.front().findings);
  }
  // The candidate is judged as far as that goes without them.
  for (const fs::path& file : {folder.label, folder.test}) {
    const std::string why = broken_python(file);
    if (why.empty()) continue;
    list.push_back(empty(file));
    list.back().error = "no valid Python: " + why;
  }
  return list;
}

}  // namespace isomer::lab
