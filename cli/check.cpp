#include "cli/report_file.hpp"
#include "cli/verbs.hpp"
#include "core/registry.hpp"
#include "core/sentence.hpp"
#include "lab/candidate/folder.hpp"
#include "lab/check/coverage.hpp"
#include "lab/check/suite.hpp"
#include "lab/diagnose/diagnose.hpp"
#include "lab/plan/parallel.hpp"
#include "lab/report/candidate_report.hpp"
#include "lab/report/check_report.hpp"
#include "lab/report/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <utility>

namespace isomer::cli {
namespace {

struct CheckOptions {
  lab::Selection selection;
  std::vector<std::string> what, paths;
  std::vector<std::string> backends;
  std::string junit, html, markdown, entry;
  bool json = false, coverage = false;
};

/// A positional is a path where one exists, otherwise an op.
void sort_positionals(CheckOptions& options) {
  for (const std::string& word : options.what) {
    std::error_code failed;  // what leads to itself is no op either
    if (std::filesystem::exists(word, failed) || failed || word.find('/') != std::string::npos)
      options.paths.push_back(word);
    else
      options.selection.ops.push_back(word);  // refused with the list of ops
  }
}

#ifdef ISOMER_HAS_EMULATOR
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

/// Candidates, one after the other or several at once; whatever is wrong with one, the others go on.
int check_candidates(CheckOptions& options) {
  const std::pair<const char*, bool> of_ops[] = {
      {"--implementation", !options.selection.implementations.empty()},
      {"--case", !options.selection.lines.empty()},
      {"--sample", options.selection.sample > 0},
      {"--seed", options.selection.seed != 0},
      {"--coverage", options.coverage}};
  for (const auto& [name, given] : of_ops)
    if (given)
      core::fail(ErrorCode::bad_argument, "check: ", name, " is for ops, got a path as well: '",
                 options.paths.front(), "'");
  if (options.selection.ops.size() > 1)
    core::fail(ErrorCode::bad_argument, "check: expected one --op for candidates, got ",
               options.selection.ops.size());
  const lab::Backend backend = backend_of(options);
  if (backend != lab::Backend::emulated)
    if (const std::string why = lab::device_missing(backend); !why.empty())
      core::fail(ErrorCode::unsupported, "check: no candidate can run on ", lab::name_of(backend),
                 " here: ", why);
  ReportFile junit("check", options.junit), html("check", options.html), markdown("check", options.markdown);
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
  lab::ProgressBar bar;
  std::mutex mutex;
  int done = 0;
  std::vector<std::vector<lab::Diagnosis>> said(folders.size());
  const int jobs = options.selection.jobs > 0 ? options.selection.jobs : Executor::standard()->concurrency();
  // What several folders leave over is for the candidates of one.
  const int each = std::max(1, jobs / std::max(1, static_cast<int>(folders.size())));
  lab::parallel(folders.size(), jobs, [&](std::size_t i) {
    said[i] = lab::diagnose_folder(folders[i], backend, each);
    const std::scoped_lock lock(mutex);
    bar.show(++done, static_cast<int>(folders.size()), folders[i].folder.string());
  });
  bar.clear();
  std::vector<lab::Diagnosis> diagnoses;
  for (std::vector<lab::Diagnosis>& list : said)
    for (lab::Diagnosis& each : list) diagnoses.push_back(std::move(each));
  if (junit.asked()) junit.write(lab::candidates_junit(diagnoses));
  if (html.asked()) html.write(lab::candidates_html(diagnoses));
  if (markdown.asked()) markdown.write(lab::candidates_markdown(diagnoses));
  fmt::print("{}", options.json ? lab::candidates_json(diagnoses) : lab::candidates_table(diagnoses));
  const auto any = [&](const char* verdict) {
    return std::any_of(diagnoses.begin(), diagnoses.end(),
                       [&](const lab::Diagnosis& d) { return d.verdict() == verdict; });
  };
  if (any("error")) return bad_usage;
  if (diagnoses.empty()) return nothing_checked;
  return any("fail") ? findings : holds;
}
#else
int check_candidates(CheckOptions& options) {
  core::fail(ErrorCode::unsupported, "check: '", options.paths.front(),
             "' is a path, and this build has no emulator to run candidates on");
}
#endif

int run(CheckOptions& options) {
  sort_positionals(options);
  if (!options.paths.empty()) return check_candidates(options);
  for (const std::string* only : {&options.html, &options.markdown, &options.entry})
    if (!only->empty())
      core::fail(ErrorCode::bad_argument,
                 "check: --html, --markdown and --entry are for candidates, got no path to one");
  ReportFile junit("check", options.junit);
  if (!options.backends.empty()) options.selection.backends = options.backends;
  lab::ProgressBar bar;
  const lab::Suite suite = lab::check(
      options.selection, [&](int done, int all, const std::string& line) { bar.show(done, all, line); });
  bar.clear();
  const lab::Coverage coverage = options.coverage ? lab::coverage(suite) : lab::Coverage();
  if (junit.asked()) junit.write(lab::check_junit(suite));
  if (options.json)
    fmt::print("{}", lab::check_json(suite, options.coverage ? &coverage : nullptr));
  else
    fmt::print("{}{}", lab::check_table(suite), options.coverage ? lab::coverage_table(coverage) : "");
  if (suite.checked() == 0) return nothing_checked;
  return suite.count(lab::Status::failed) > 0 ? findings : holds;
}

}  // namespace

Run check(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  app.add_option("what", options->what,
                 "candidates to diagnose (files, case folders, or folders of case folders), or ops; without "
                 "any, all ops are checked")
      ->option_text("PATH ... | OP ...");
  app.add_option("--op", options->selection.ops,
                 "check this op (may be repeated); with candidates: the op that they implement")
      ->option_text("OP")
      ->allow_extra_args(false);
  app.add_option("--implementation", options->selection.implementations,
                 "ops only: check this implementation, such as cpu/avx2, or a whole backend, such as cpu")
      ->option_text("NAME")
      ->allow_extra_args(false);
  app.add_option("--backend", options->backends,
                 "cpu, cuda, hip or emulated. Default for ops: cpu and the real devices. Default for "
                 "candidates: emulated; cuda (compiled by nvcc) and hip (by hipcc) need such a device")
      ->option_text("NAME")
      ->allow_extra_args(false);
  app.add_option(
         "--case", options->selection.lines,
         "ops only: check this case line, in the form that a failure prints, instead of the ordinary cases")
      ->option_text("'LINE'")
      ->allow_extra_args(false);
  app.add_option(
         "--sample", options->selection.sample,
         "ops only: check N cases of each op, spread evenly over its list; the cheapest ones to compile and "
         "run are chosen, and more are added until every kernel runs. The report says that it is a sample")
      ->check(CLI::Range(1, 1000000))
      ->option_text("N");
  app.add_option("--seed", options->selection.seed,
                 "ops only: seed of the random inputs; default: a fresh one, which is printed")
      ->check(positive_whole_number)
      ->option_text("N");
  app.add_option("--jobs", options->selection.jobs,
                 "how many cases or candidates run at once; default: one per CPU")
      ->check(CLI::Range(1, 1024))
      ->option_text("N");
  app.add_flag(
      "--coverage", options->coverage,
      "ops only: also print how many of the checked cases have each dtype, layout, value regime and feature");
  app.add_flag("--json", options->json, "print JSON on stdout instead of the table");
  app.add_option("--junit", options->junit, "also write a JUnit report")->option_text("FILE");
  app.add_option("--entry", options->entry, "candidates only: the function or kernel to call")
      ->option_text("NAME");
  app.add_option("--html", options->html, "candidates only: also write an HTML page with pictures")
      ->option_text("FILE");
  app.add_option("--markdown", options->markdown, "candidates only: also write a Markdown report")
      ->option_text("FILE");
  return [options] { return run(*options); };
}

}  // namespace isomer::cli
