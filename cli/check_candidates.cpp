#include "cli/check.hpp"
#include "cli/report_file.hpp"
#include "cli/verbs.hpp"
#include "core/sentence.hpp"

#ifdef ISOMER_HAS_EMULATOR
#include "lab/batch/running/batch.hpp"
#include "lab/batch/signature.hpp"
#include "lab/batch/totals.hpp"
#include "lab/candidate/folder.hpp"
#include "lab/findings/mend/verify_fixes.hpp"
#include "lab/report/batch_report.hpp"
#include "lab/report/candidate_report.hpp"
#include "lab/report/terminal.hpp"

#include <isomer/emulator/containment.hpp>
#include <isomer/emulator/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>

namespace isomer::cli {
namespace {

/// Where candidates run: on the emulated device unless a real one is asked for.
lab::Backend backend_of(const CheckOptions& options) {
  if (options.backends.empty()) return lab::Backend::emulated;
  if (options.backends.size() > 1)
    core::fail(ErrorCode::bad_argument, "check: expected one --backend for candidates, got ",
               options.backends.size());
  for (const lab::Backend backend : {lab::Backend::emulated, lab::Backend::cuda, lab::Backend::hip})
    if (options.backends.front() == lab::name_of(backend)) return backend;
  core::fail(ErrorCode::bad_argument,
             "check: expected the backend emulated, cuda or hip for candidates, got '",
             options.backends.front(), "'");
}

void refuse_options_of_ops(const CheckOptions& options) {
  const std::pair<const char*, bool> of_ops[] = {
      {"--implementation", !options.selection.implementations.empty()},
      {"--case", !options.selection.lines.empty()},
      {"--sample", options.selection.sample > 0},
      {"--seed", options.selection.seed != 0},
      {"--repeat", options.selection.repeat != 2},
      {"--coverage", options.coverage}};
  for (const auto& [name, given] : of_ops)
    if (given)
      core::fail(ErrorCode::bad_argument, "check: ", name, " is for ops, got a path as well: '",
                 options.paths.front(), "'");
  if (options.selection.ops.size() > 1)
    core::fail(ErrorCode::bad_argument, "check: expected one --op for candidates, got ",
               options.selection.ops.size());
  if (!options.jsonl.empty() && !options.resume.empty())
    core::fail(ErrorCode::bad_argument, "check: expected --jsonl or --resume, got both");
  if (options.resume == "-")
    core::fail(ErrorCode::bad_argument, "check: expected a file to --resume, got '-'");
  if (!options.sign.empty() && (options.jsonl == "-" || options.jsonl.empty() == options.resume.empty()))
    core::fail(ErrorCode::bad_argument, "check: --sign needs a results file: --jsonl FILE or --resume FILE");
  if (options.verify_fixes && !options.backends.empty() && options.backends.front() != "emulated")
    core::fail(ErrorCode::bad_argument,
               "check: --verify-fixes judges copies on the emulated device, got --backend ",
               options.backends.front());
  if (options.json && options.jsonl == "-")
    core::fail(ErrorCode::bad_argument, "check: expected --json or --jsonl - on standard output, got both");
}

/// "90", "90s", "15m", "8h" in seconds; 0 where nothing is said.
double seconds_of(const char* option, const std::string& text) {
  if (text.empty()) return 0;
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const std::string unit = end;
  const double factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (end == text.c_str() || !(number * factor > 0) || number * factor > 1e9)
    core::fail(ErrorCode::bad_argument, "check: ", option, " expects a time such as 90s, 15m or 8h, got '",
               text, "'");
  return number * factor;
}

void isolate(const CheckOptions& options, lab::Backend backend) {
  using emulator::Isolation;
  const bool strict = options.isolation == "strict";
  if (strict && backend != lab::Backend::emulated)
    core::fail(ErrorCode::unsupported, "check: strict isolation cannot be had on a real device");
  try {
    emulator::isolate(strict                        ? Isolation::strict
                      : options.isolation == "best" ? Isolation::best
                                                    : Isolation::none);
  } catch (const emulator::Error& error) {
    core::fail(ErrorCode::unsupported, "check: ", error.what());
  }
}

constexpr double kMendingSeconds = 180;  ///< of one candidate, unless --limit says

/// What mends each of those that fail, as far as that is mechanical; the patches lie beside the sources.
std::string mend(const std::vector<lab::CaseFolder>& folders, const std::vector<lab::Diagnosis>& diagnoses,
                 double seconds) {
  std::string text;
  for (const lab::Diagnosis& diagnosis : diagnoses) {
    if (diagnosis.verdict() != "fail") continue;
    for (const lab::CaseFolder& folder : folders)
      for (const std::filesystem::path& candidate : folder.candidates) {
        if (folder.folder.string() != diagnosis.folder || candidate.filename() != diagnosis.candidate ||
            candidate.extension() == ".so")
          continue;
        const std::string file = candidate.string() + ".patch";
        const lab::VerifiedFixes fixes = lab::verify_fixes(folder, candidate, diagnosis, seconds);
        if (!fixes.patch.empty()) {
          std::ofstream stream(file, std::ios::binary);
          if (!(stream << fixes.patch).flush())
            core::fail(ErrorCode::io, "check: cannot write the patch ", file);
        }
        text += fmt::format("{}: {}", candidate.string(), lab::fixes_in_words(fixes, file));
      }
  }
  return text;
}

std::vector<lab::CaseFolder> folders_of(const CheckOptions& options) {
  std::vector<lab::CaseFolder> folders;
  for (const std::string& path : options.paths) {
    try {
      for (lab::CaseFolder& folder : lab::find_cases(path)) folders.push_back(std::move(folder));
    } catch (const Error& error) {
      // Of several the others go on.
      if (options.paths.size() == 1) throw;
      lab::CaseFolder broken;
      broken.folder = path;
      broken.error = error.what();
      folders.push_back(std::move(broken));
    }
  }
  for (lab::CaseFolder& folder : folders) {
    if (!options.selection.ops.empty()) folder.op = options.selection.ops.front();
    if (!options.entry.empty()) folder.entry = options.entry;
  }
  if (options.shard.empty()) return folders;
  int i = 0, n = 0, end = 0;
  if (std::sscanf(options.shard.c_str(), "%d/%d%n", &i, &n, &end) != 2 ||
      static_cast<std::size_t>(end) != options.shard.size() || i < 1 || n < 1 || i > n)
    core::fail(ErrorCode::bad_argument, "check: --shard expects I/N with 1 <= I <= N, got '", options.shard,
               "'");
  return lab::shard(std::move(folders), i, n);
}

}  // namespace

/// Candidates, one after the other or several at once; whatever is wrong with one, the others go on.
int check_candidates(CheckOptions& options) {
  refuse_options_of_ops(options);
  lab::BatchSettings settings;
  settings.backend = backend_of(options);
  settings.budget = seconds_of("--budget", options.budget);
  settings.limit = seconds_of("--limit", options.limit);
  settings.results = options.resume.empty() ? options.jsonl : options.resume;
  settings.resume = !options.resume.empty();
  settings.pictures = !options.html.empty();
  settings.jobs = options.selection.jobs > 0 ? options.selection.jobs : Executor::standard()->concurrency();
  if (settings.backend != lab::Backend::emulated)
    if (const std::string why = lab::device_missing(settings.backend); !why.empty())
      core::fail(ErrorCode::unsupported, "check: no candidate can run on ", lab::name_of(settings.backend),
                 " here: ", why);
  isolate(options, settings.backend);
  if (!options.sign.empty()) lab::check_key(options.sign);
  ReportFile junit("check", options.junit), html("check", options.html), markdown("check", options.markdown);
  lab::ProgressBar bar;
  settings.progress = [&](int done, int all, const std::string& folder) { bar.show(done, all, folder); };
  const std::vector<lab::CaseFolder> folders = folders_of(options);
  lab::BatchEnd end = lab::run_batch(folders, settings);
  bar.clear();
  if (!options.sign.empty()) lab::sign_file(settings.results, options.sign);
  const lab::Totals totals = lab::totals_of(end.judged);
  std::vector<lab::Diagnosis> diagnoses;
  for (lab::Judged& each : end.judged) diagnoses.push_back(std::move(each.diagnosis));
  if (junit.asked()) junit.write(lab::candidates_junit(diagnoses));
  if (html.asked()) html.write(lab::candidates_html(diagnoses));
  if (markdown.asked()) markdown.write(lab::candidates_markdown(diagnoses));
  if (options.json)
    fmt::print("{}", lab::candidates_json(diagnoses));
  else if (settings.results.empty())
    fmt::print("{}", lab::candidates_table(diagnoses));
  else if (settings.results != "-")
    fmt::print("{}", lab::totals_table(totals));
  if (options.verify_fixes)
    fmt::print(options.json || settings.results == "-" ? stderr : stdout, "{}",
               mend(folders, diagnoses, settings.limit > 0 ? settings.limit : kMendingSeconds));
  if (end.left > 0)
    fmt::print(stderr, "isomer: {}: {} folder{} not come to\n",
               end.signal != 0 ? "stopped by a signal" : "the budget is spent", end.left,
               end.left == 1 ? " was" : "s were");
  if (end.signal != 0) {
    // Ended as whoever sent it expects, with its reports written.
    std::fflush(nullptr);
    std::signal(end.signal, SIG_DFL);
    std::raise(end.signal);
  }
  if (totals.all.errors > 0) return bad_usage;
  if (diagnoses.empty()) return nothing_checked;
  return totals.all.failed > 0 ? findings : holds;
}

}  // namespace isomer::cli
#else
namespace isomer::cli {

int check_candidates(CheckOptions& options) {
  core::fail(ErrorCode::unsupported, "check: '", options.paths.front(),
             "' is a path, and this build has no emulator to run candidates on");
}

}  // namespace isomer::cli
#endif
