#include "cli/verbs.hpp"
#include "lab/report/plan_report.hpp"

#include <fmt/format.h>

#include <memory>

namespace isomer::cli {
namespace {

struct ExplainOptions {
  std::vector<std::string> words;
  lab::ExplainSelection selection;
  bool json = false;
};

int run(ExplainOptions& options) {
  std::string& line = options.selection.line;
  for (const std::string& word : options.words) line += (line.empty() ? "" : " ") + word;
  const lab::CaseExplanation explanation = lab::explain(options.selection);
  fmt::print("{}", options.json ? lab::explain_json(explanation) : lab::explain_text(explanation));
  return explanation.plan.implementation.empty() ? findings : holds;
}

}  // namespace

Run explain(CLI::App& app) {
  auto options = std::make_shared<ExplainOptions>();
  app.add_option("case", options->words,
                 "a case line, such as attention b=1 sq=1285 hq=16 hkv=2 d=128 f16 causal")
      ->required()
      ->option_text("CASE");
  app.add_option("--backend", options->selection.backend,
                 "cpu, cuda, hip or emulated; one of its devices, such as cuda:1; or an architecture, such "
                 "as cuda:sm_90a, of which this machine needs no device")
      ->option_text("NAME");
  app.add_flag("--compile", options->selection.compile,
               "compile kernels that are in neither the bundle nor the cache, to show their registers; the "
               "cache keeps them");
  app.add_option("--implementation", options->selection.implementation,
                 "explain this implementation instead of the one that the registry chooses")
      ->option_text("NAME");
  app.add_option("--like", options->selection.like,
                 "fa3: what FlashAttention-3 would choose for a case of attention (tile, splits, packing, "
                 "scheduler), beside the plan")
      ->option_text("LIBRARY");
  app.add_flag("--json", options->json, "print JSON on stdout");
  return [options] { return run(*options); };
}

}  // namespace isomer::cli
