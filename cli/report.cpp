#include "cli/report_file.hpp"
#include "cli/verbs.hpp"
#include "core/sentence.hpp"
#include "lab/batch/signature.hpp"
#include "lab/batch/totals.hpp"
#include "lab/report/batch_report.hpp"
#include "lab/report/candidate_report.hpp"

#include <fmt/format.h>

#include <memory>

namespace isomer::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> merged, compared;
  std::string jsonl, html, markdown, junit, key, verified, public_key;
  bool merge_json = false, compare_json = false;
};

std::vector<lab::Judged> read(const std::string& file) {
  lab::ResultsRead results = lab::read_results(file);
  if (results.broken > 0)
    fmt::print(stderr, "isomer: {}: {} {} no candidate's and {} left out\n", file, results.broken,
               results.broken == 1 ? "line is" : "lines are", results.broken == 1 ? "is" : "are");
  return std::move(results.judged);
}

int merge(const ReportOptions& options) {
  ReportFile jsonl("report", options.jsonl), html("report", options.html),
      markdown("report", options.markdown), junit("report", options.junit);
  std::vector<lab::Judged> all;
  std::size_t twice = 0;
  for (const std::string& file : options.merged) twice += lab::add_results(all, read(file));
  const lab::Totals totals = lab::totals_of(all);
  if (jsonl.asked()) {
    std::string text;
    for (std::size_t i = 0; i < all.size(); ++i)
      text += lab::line_of(all[i], i > 0 ? &all[i - 1].diagnosis : nullptr);
    jsonl.write(text);
  }
  if (html.asked()) html.write(lab::batch_html(all, totals));
  if (markdown.asked()) markdown.write(lab::totals_markdown(totals));
  if (junit.asked()) {
    std::vector<lab::Diagnosis> diagnoses;
    for (const lab::Judged& each : all) diagnoses.push_back(each.diagnosis);
    junit.write(lab::candidates_junit(diagnoses));
  }
  fmt::print("{}", options.merge_json ? lab::totals_json(totals) : lab::totals_table(totals));
  if (twice > 0)
    fmt::print(stderr, "isomer: {} {} judged in more than one file; the last counts\n", twice,
               twice == 1 ? "candidate was" : "candidates were");
  if (totals.all.errors > 0) return bad_usage;
  if (all.empty()) return nothing_checked;
  return totals.all.failed > 0 ? findings : holds;
}

int compare(const ReportOptions& options) {
  const lab::Comparison c = lab::compare(read(options.compared.front()), read(options.compared.back()));
  fmt::print("{}", options.compare_json ? lab::comparison_json(c) : lab::comparison_table(c));
  if (c.better.size() + c.worse.size() + c.other.size() + c.same == 0) return nothing_checked;
  return c.worse.empty() ? holds : findings;
}

int make_keys(const ReportOptions& options) {
  lab::make_keys(options.key);
  fmt::print("{0}: the key to sign with; keep it.\n{0}.pub: the key to verify with.\n", options.key);
  return holds;
}

int verify(const ReportOptions& options) {
  if (!lab::verify_file(options.verified, options.public_key)) {
    fmt::print("{}: not what the owner of {} signed\n", options.verified, options.public_key);
    return findings;
  }
  fmt::print("{}: as the owner of {} signed it\n", options.verified, options.public_key);
  return holds;
}

}  // namespace

Run report(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  app.require_subcommand(1);
  CLI::App* merged = app.add_subcommand("merge", "put results of several batches together, with totals");
  merged->add_option("files", options->merged, "what check --jsonl wrote")
      ->required()
      ->option_text("FILE ...");
  merged->add_flag("--json", options->merge_json, "print the totals as JSON on stdout");
  merged->add_option("--jsonl", options->jsonl, "also write all lines into one file")->option_text("FILE");
  merged->add_option("--html", options->html, "also write a page with a table that can be filtered")
      ->option_text("FILE");
  merged->add_option("--markdown", options->markdown, "also write the totals as Markdown")
      ->option_text("FILE");
  merged->add_option("--junit", options->junit, "also write a JUnit report")->option_text("FILE");
  CLI::App* compared =
      app.add_subcommand("compare", "show what is better and what is worse in the second of two batches");
  compared->add_option("files", options->compared, "what check --jsonl wrote")
      ->required()
      ->expected(2)
      ->option_text("FILE FILE");
  compared->add_flag("--json", options->compare_json, "print JSON on stdout");
  CLI::App* key = app.add_subcommand("key", "make a pair of keys, to sign results of a batch with");
  key->add_option("file", options->key, "the key's file; the other one is FILE.pub")
      ->required()
      ->option_text("FILE");
  CLI::App* verified = app.add_subcommand("verify", "say whether a results file is what was signed");
  verified->add_option("file", options->verified, "the results; FILE.sig lies beside it")
      ->required()
      ->option_text("FILE");
  verified->add_option("--key", options->public_key, "the public key")->required()->option_text("KEY.pub");
  return [options, merged, compared, key] {
    return merged->parsed()     ? merge(*options)
           : compared->parsed() ? compare(*options)
           : key->parsed()      ? make_keys(*options)
                                : verify(*options);
  };
}

}  // namespace isomer::cli
