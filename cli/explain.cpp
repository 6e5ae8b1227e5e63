#include "cli/verbs.hpp"
#include "core/registry.hpp"
#include "core/sentence.hpp"
#include "lab/report/plan_report.hpp"

#include <fmt/format.h>

#include <memory>

namespace isomer::cli {
namespace {

struct Options {
  std::vector<std::string> words;
  std::string implementation;
  bool json = false;
};

int run(const Options& options) {
  std::string line;
  for (const std::string& word : options.words) line += (line.empty() ? "" : " ") + word;
  const lab::CaseExplanation explanation = lab::explain(line, options.implementation);
  fmt::print("{}", options.json ? lab::explain_json(explanation) : lab::explain_text(explanation));
  return explanation.plan.implementation.empty() ? findings : holds;
}

}  // namespace

Run explain(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("case", options->words, "a case line: attention b=1 sq=1285 hq=16 hkv=2 d=128 f16 causal")
      ->required()
      ->option_text("CASE");
  app.add_option("--implementation", options->implementation,
                 "explain this one instead of the registry's choice")
      ->option_text("NAME");
  app.add_flag("--json", options->json, "JSON on stdout");
  return [options] { return run(*options); };
}

}  // namespace isomer::cli
