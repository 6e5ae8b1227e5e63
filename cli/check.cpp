#include "cli/check.hpp"
#include "cli/report_file.hpp"
#include "cli/verbs.hpp"
#include "core/registry.hpp"
#include "core/sentence.hpp"
#include "lab/check/coverage.hpp"
#include "lab/check/suite.hpp"
#include "lab/report/check_report.hpp"
#include "lab/report/findings_document.hpp"
#include "lab/report/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

namespace isomer::cli {
namespace {

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

int run(CheckOptions& options) {
  if (options.codes) {
    fmt::print("{}", lab::findings_document());
    return holds;
  }
  sort_positionals(options);
  if (!options.paths.empty()) return check_candidates(options);
  for (const std::string* only :
       {&options.html, &options.markdown, &options.entry, &options.jsonl, &options.resume, &options.shard,
        &options.budget, &options.limit, &options.sign})
    if (!only->empty())
      core::fail(ErrorCode::bad_argument,
                 "check: --html, --markdown, --entry, --jsonl, --resume, --shard, --budget, --limit and "
                 "--sign are for "
                 "candidates, got no path to one");
  if (options.verify_fixes)
    core::fail(ErrorCode::bad_argument, "check: --verify-fixes is for candidates, got no path to one");
  ReportFile junit("check", options.junit);
  if (!options.backends.empty()) options.selection.backends = options.backends;
  lab::ProgressBar bar;
  const auto show = [&](int done, int all, const std::string& line) { bar.show(done, all, line); };
  const auto late = [](const std::string& line, const std::string& implementation, double seconds) {
    fmt::print(stderr, "isomer: {} has worked on this case for {:.0f} s, and has not ended: {}\n",
               implementation, seconds, line);
  };
  const lab::Suite suite = lab::check(options.selection, show, late);
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
  app.add_option("--repeat", options->selection.repeat,
                 "ops only: run each case N times; all results must have the same bits. Default: 2")
      ->check(CLI::Range(2, 1000000))
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
  app.add_option("--jsonl", options->jsonl,
                 "candidates only: write a line of JSON for each candidate as soon as it is judged (-: on "
                 "stdout), and "
                 "print totals in place of the table")
      ->option_text("FILE");
  app.add_option(
         "--resume", options->resume,
         "candidates only: as --jsonl, but what the file has already is kept, and not judged again where its "
         "files are the same")
      ->option_text("FILE");
  app.add_option("--shard", options->shard, "candidates only: judge every N-th folder, from the I-th on")
      ->option_text("I/N");
  app.add_option("--budget", options->budget, "candidates only: begin no folder after this time")
      ->option_text("N[s|m|h]");
  app.add_option("--limit", options->limit,
                 "candidates only: what one folder may take; it could not be judged where it takes longer")
      ->option_text("N[s|m|h]");
  app.add_flag("--codes", options->codes,
               "check nothing: print every code of a finding and what it means, as Markdown");
  app.add_flag("--verify-fixes", options->verify_fixes,
               "candidates only: try mechanical edits against the findings on copies of a source, judge each "
               "copy, and write the edits that were seen to help as PATH.patch");
  app.add_option(
         "--isolation", options->isolation,
         "candidates only: how they are contained while they are compiled and run. best: by what this "
         "machine "
         "has; strict: not at all where a part of it is missing; none: by limits alone, for your own code. "
         "isomer doctor says what is there. Default: best")
      ->check(CLI::IsMember({"strict", "best", "none"}))
      ->option_text("HOW");
  app.add_option("--sign", options->sign,
                 "candidates only: sign the results file with this key of isomer report key, into FILE.sig")
      ->option_text("KEY");
  return [options] { return run(*options); };
}

}  // namespace isomer::cli
