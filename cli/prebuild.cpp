#include "cli/verbs.hpp"
#include "core/registry.hpp"
#include "core/sentence.hpp"
#include "lab/report/prebuild_report.hpp"
#include "lab/report/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

namespace isomer::cli {
namespace {

struct PrebuildOptions {
  std::vector<std::string> architectures;
  lab::ProgramSelection selection;
  std::string variants, folder;
  bool json = false, no_spills = false;
};

void check_ops(const lab::ProgramSelection& selection) {
  std::vector<std::string> known;
  for (const core::Registry::Op& op : core::Registry::builtin().ops()) known.push_back(op.contract->op);
  for (const std::string& op : selection.ops)
    if (std::find(known.begin(), known.end(), op) == known.end())
      core::fail(ErrorCode::bad_argument, "prebuild: expected an op (", core::either(known), "), got '", op,
                 "'");
  for (const oracle::Case& c : selection.cases)
    if (!selection.ops.empty() &&
        std::find(selection.ops.begin(), selection.ops.end(), c.schema().op) == selection.ops.end())
      core::fail(ErrorCode::bad_argument, "prebuild: the case '", c.line(), "' belongs to ", c.schema().op,
                 ", but only ", core::either(selection.ops), " is asked for");
}

void check_implementations(const lab::ProgramSelection& selection) {
  std::vector<std::string> known;
  for (const core::Registry::Op& op : core::Registry::builtin().ops())
    for (const lab::PlanDevice& backend : selection.backends)
      for (const gpu::Implementation* implementation :
           lab::implementations_for(op.contract->op, *backend.vendor))
        if (std::find(known.begin(), known.end(), implementation->name()) == known.end())
          known.push_back(implementation->name());
  for (const std::string& name : selection.implementations)
    if (std::find(known.begin(), known.end(), name) == known.end())
      core::fail(ErrorCode::bad_argument, "prebuild: expected an implementation (", core::either(known),
                 "), got '", name, "'");
}

int run(PrebuildOptions& options) {
  for (const std::string& architecture : options.architectures)
    options.selection.backends.push_back(lab::parse_architecture("prebuild", architecture));
  if (!options.variants.empty()) options.selection.cases = lab::read_variants(options.variants);
  check_ops(options.selection);
  check_implementations(options.selection);
  const auto begin = std::chrono::steady_clock::now();
  lab::Prebuild result;
  result.folder = options.folder;
  result.programs = lab::programs_of(options.selection);
  if (result.programs.planned == 0) {
    const auto& refused = result.programs.refused;
    fmt::print(stderr, "isomer: prebuild: no implementation plans a kernel for {}{}\n",
               core::either(options.architectures), refused.empty() ? "" : ": " + refused.front().reason);
    return nothing_checked;
  }
  lab::ProgressBar bar;
  result.built =
      lab::prebuild(result.programs.wanted, options.folder, options.selection.jobs,
                    [&](int done, int all, const std::string& program) { bar.show(done, all, program); });
  bar.clear();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  fmt::print("{}", options.json ? lab::prebuild_json(result)
                                : lab::prebuild_table(result, !options.variants.empty()));
  if (result.failed() > 0 || (options.no_spills && result.falling_short() > 0)) return findings;
  // A case that was asked for by name and that nobody takes is missing from the bundle.
  return !options.variants.empty() && result.programs.untaken > 0 ? findings : holds;
}

}  // namespace

Run prebuild(CLI::App& app) {
  auto options = std::make_shared<PrebuildOptions>();
  app.add_option("--arch", options->architectures,
                 "an architecture to compile for: sm_90a, gfx90a, … (may be repeated)")
      ->required()
      ->option_text("ARCH")
      ->allow_extra_args(false);
  app.add_option("--out", options->folder, "folder to write the bundle into; set ISOMER_BUNDLE=DIR to use it")
      ->required()
      ->option_text("DIR");
  app.add_option("--op", options->selection.ops, "compile only this op's kernels (may be repeated)")
      ->option_text("OP")
      ->allow_extra_args(false);
  app.add_option("--implementation", options->selection.implementations,
                 "compile only this implementation's kernels, such as cuda/sm80 (may be repeated)")
      ->option_text("NAME")
      ->allow_extra_args(false);
  app.add_option("--variants", options->variants,
                 "compile only what the cases in this file need, instead of what all ordinary cases need; "
                 "the file has one case line per line, and # begins a comment")
      ->option_text("FILE");
  app.add_option("--sample", options->selection.sample,
                 "compile only N programs of each kernel, spread evenly over its list; the report says that "
                 "it is a sample")
      ->check(CLI::Range(1, 1000000))
      ->option_text("N");
  app.add_option("--jobs", options->selection.jobs,
                 "how many programs are compiled at once; default: one per CPU")
      ->check(CLI::Range(1, 1024))
      ->option_text("N");
  app.add_flag("--no-spills", options->no_spills,
               "exit with 1 if a kernel spills registers, or if the products of a warpgroup are serialized");
  app.add_flag("--json", options->json, "print JSON on stdout");
  app.footer(
      "This needs no GPU. NVRTC compiles for sm_…; hipRTC, or hipcc if there is no hipRTC, compiles for "
      "gfx….");
  return [options] { return run(*options); };
}

}  // namespace isomer::cli
