#include "cli/report_file.hpp"
#include "cli/verbs.hpp"
#include "core/registry.hpp"
#include "core/sentence.hpp"
#include "lab/check/coverage.hpp"
#include "lab/check/suite.hpp"
#include "lab/report/check_report.hpp"
#include "lab/report/terminal.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

namespace isomer::cli {
namespace {

struct Options {
  lab::Selection selection;
  std::vector<std::string> what;
  std::vector<std::string> backends;
  std::string junit;
  bool json = false, coverage = false;
};

/// A positional is a path where one exists, otherwise an op.
void sort_positionals(Options& options) {
  for (const std::string& word : options.what) {
    if (core::Registry::builtin().find(word) != nullptr)
      options.selection.ops.push_back(word);
    else if (std::filesystem::exists(word))
      core::fail(ErrorCode::unsupported, "check: '", word,
                 "' is a file or folder; this build checks the library's own ops only");
    else
      options.selection.ops.push_back(word);  // refused with the list of ops
  }
}

int run(Options& options) {
  sort_positionals(options);
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
  auto options = std::make_shared<Options>();
  app.add_option("what", options->what, "ops; all where none is given")->option_text("OP ...");
  app.add_option("--op", options->selection.ops, "check this op (may be repeated)")
      ->option_text("OP")
      ->allow_extra_args(false);
  app.add_option("--implementation", options->selection.implementations,
                 "only this one: cpu/avx2, or cpu for all of a backend")
      ->option_text("NAME")
      ->allow_extra_args(false);
  app.add_option("--backend", options->backends,
                 "cpu, cuda, hip or emulated; without it cpu and real devices")
      ->option_text("NAME")
      ->allow_extra_args(false);
  app.add_option("--case", options->selection.lines,
                 "a case line instead of the ordinary cases, as a failure prints it")
      ->option_text("'LINE'")
      ->allow_extra_args(false);
  app.add_option("--sample", options->selection.sample,
                 "only N cases of each op, spread over its list: of each stretch of the list the case that "
                 "costs least in work and in kernels to compile, and more where these do not run every "
                 "kernel; told as a sample, never as the whole")
      ->check(CLI::Range(1, 1000000))
      ->option_text("N");
  app.add_option("--seed", options->selection.seed,
                 "seed of the random inputs; without it a fresh one, printed")
      ->check(positive_whole_number)
      ->option_text("N");
  app.add_option("--jobs", options->selection.jobs, "cases at once; without it one per CPU")
      ->check(CLI::Range(1, 1024))
      ->option_text("N");
  app.add_flag("--coverage", options->coverage, "also print how many checked cases fall into each cell");
  app.add_flag("--json", options->json, "JSON on stdout instead of the table");
  app.add_option("--junit", options->junit, "also write a JUnit report")->option_text("FILE");
  return [options] { return run(*options); };
}

}  // namespace isomer::cli
