#include <isomer/bundle.hpp>

#include "cli/report_file.hpp"
#include "cli/verbs.hpp"
#include "core/sentence.hpp"
#include "lab/capture/read_capture.hpp"
#include "lab/diff/build_log.hpp"
#include "lab/diff/diff_binaries.hpp"
#include "lab/diff/diff_captures.hpp"
#include "lab/diff/diff_verdict.hpp"
#include "lab/report/difference_html.hpp"
#include "lab/report/difference_report.hpp"
#include "lab/report/tensor_diff_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace isomer::cli {
namespace {

struct DiffOptions {
  std::string a, b, kernel, names, html, build_a, build_b, language = "en";
  std::optional<double> tolerance;
  bool json = false;
};

lab::GroupedCapture grouped(const std::string& path, const std::string& kernel) {
  lab::Grouping grouping(kernel);
  lab::Capture about =
      lab::read_capture(path, [&](lab::Launch&& launch) { grouping.add(std::move(launch)); });
  return grouping.finish(std::move(about));
}

int diff_tensors(const DiffOptions& options) {
  const lab::TensorDiff diff = lab::diff_tensors(load(options.a), load(options.b), options.tolerance);
  if (diff.tensors.empty() && diff.same())
    core::fail(ErrorCode::io, "diff: neither '", options.a, "' nor '", options.b, "' has a tensor");
  fmt::print("{}", options.json ? lab::tensor_diff_json(diff) : lab::tensor_diff_text(diff));
  return diff.same() ? holds : findings;
}

std::vector<lab::CompiledUnit> build(const std::string& log) {
  return log.empty() ? std::vector<lab::CompiledUnit>{} : lab::read_build_log(log);
}

void print(const DiffOptions& options, const lab::DiffResult& result) {
  fmt::print("{}", options.json ? lab::difference_json(result)
                                : lab::difference_text(result, options.a, options.b,
                                                       lab::Messages::of(options.language)));
}

int diff_binaries(const DiffOptions& options) {
  lab::use_name_tables(options.names);
  std::vector<std::string> notes;
  const std::vector<lab::BinaryKernel> a = lab::read_binary(options.a, notes),
                                       b = lab::read_binary(options.b, notes);
  lab::DiffResult result = lab::diff_binaries(a, b, build(options.build_a), build(options.build_b));
  result.notes.insert(result.notes.end(), notes.begin(), notes.end());
  print(options, result);
  if (result.pairs.empty() && result.same())
    core::fail(ErrorCode::io, "diff: neither '", options.a, "' nor '", options.b, "' has a GPU kernel");
  return result.same() ? holds : findings;
}

/// A side with nothing is no other program: what it lacks was not recorded.
void require_launches(const lab::GroupedCapture& side, const lab::GroupedCapture& other,
                      const std::string& kernel) {
  if (side.launches > 0) return;
  if (side.left_out > 0)
    core::fail(ErrorCode::io, "diff: '", side.about.source, "' has ", side.left_out,
               " launches, and none whose kernel has '", kernel, "' in its name");
  if (other.launches == 0)
    core::fail(ErrorCode::io, "diff: neither '", side.about.source, "' nor '", other.about.source,
               "' has a launch");
  std::string why = side.about.complete ? "" : side.about.incomplete;
  for (const char* note : {"note kernels", "note graphs"})
    if (const auto found = side.about.facts.find(note); found != side.about.facts.end() && why.empty())
      why = found->second;
  core::fail(ErrorCode::io, "diff: '", side.about.source, "' has no kernel of a GPU",
             why.empty() ? std::string() : " (" + why + ")", ", and '", other.about.source, "' has ",
             other.launches, " launches: nothing can be compared");
}

/// Whether everything that differs may be what an incomplete side did not record.
bool may_be_missing(const lab::DiffResult& result) {
  const bool cut_a = !result.totals_a.incomplete.empty(), cut_b = !result.totals_b.incomplete.empty();
  if ((!cut_b && !result.only_a.empty()) || (!cut_a && !result.only_b.empty())) return false;
  return (cut_a || cut_b) && std::all_of(result.pairs.begin(), result.pairs.end(), [](const lab::Pair& pair) {
           return pair.kind == lab::Pair::Kind::same || pair.kind == lab::Pair::Kind::count;
         });
}

int diff_captures(const DiffOptions& options) {
  ReportFile html("diff", options.html);
  lab::use_name_tables(options.names);
  const lab::GroupedCapture a = grouped(options.a, options.kernel), b = grouped(options.b, options.kernel);
  require_launches(a, b, options.kernel);
  require_launches(b, a, options.kernel);
  lab::DiffResult result =
      lab::diff_captures(a, b, lab::ParameterLayouts::for_captures({options.a, options.b}));
  if (!options.build_a.empty() && !options.build_b.empty())
    lab::add_build_options(result, lab::option_differences(build(options.build_a), build(options.build_b)));
  result.verdict = lab::verdict_of(result, lab::Messages::of(options.language));
  print(options, result);
  if (html.asked()) html.write(lab::difference_html(result, a, b));
  // What is missing could be the difference, and could be one where there is none.
  for (const lab::GroupedCapture* side : {&a, &b})
    if (!side->about.complete && (result.same() || may_be_missing(result)))
      core::fail(ErrorCode::io, "diff: nothing ", result.same() ? "" : "else ",
                 "differs in what was recorded, but '", side->about.source, "' is incomplete (",
                 side->about.incomplete, "), so they cannot be called ",
                 result.same() ? "the same" : "different");
  return result.same() ? holds : findings;
}

int run(const DiffOptions& options) {
  lab::Messages::of(options.language);
  const lab::FileKind a = lab::kind_of_file(options.a), b = lab::kind_of_file(options.b);
  using Kind = lab::FileKind;
  const auto one_of_each = [&](Kind kind) { return (a == kind) != (b == kind); };
  if (one_of_each(Kind::tensors) || one_of_each(Kind::binary))
    core::fail(
        ErrorCode::bad_argument,
        "diff: expected two files of one sort: two records of launches, two binaries or two tensor files");
  if (!options.html.empty() && (a == Kind::tensors || a == Kind::binary))
    core::fail(ErrorCode::bad_argument, "diff: --html is for two records of launches");
  if (!options.kernel.empty() && (a == Kind::tensors || a == Kind::binary))
    core::fail(ErrorCode::bad_argument, "diff: --kernel is for two records of launches");
  if (a == Kind::tensors) return diff_tensors(options);
  if (a == Kind::binary) return diff_binaries(options);
  return diff_captures(options);
}

}  // namespace

Run diff(CLI::App& app) {
  auto options = std::make_shared<DiffOptions>();
  app.add_option("a", options->a,
                 "a capture of isomer trace, an Nsight Systems export (.sqlite, .nsys-rep), a Kineto trace "
                 "(.json, .json.gz), a CSV of ncu, a JSON, CSV or database of rocprofv3, output of isomer "
                 "explain --json, a binary with GPU "
                 "kernels, or a safetensors file")
      ->required()
      ->option_text("A");
  app.add_option("b", options->b, "the file to compare it with, of the same sort")
      ->required()
      ->option_text("B");
  app.add_option("--kernel", options->kernel,
                 "of records of launches: only kernels with this regular expression in their name")
      ->option_text("REGEX");
  app.add_option("--names", options->names,
                 "a table of template parameter names, used in addition to the built-in ones")
      ->option_text("FILE");
  app.add_option("--tolerance", options->tolerance,
                 "tolerance for tensor elements; default: 1e-3 for f16, 1e-2 for FP8 and bf16, 1e-5 for f32")
      ->check(CLI::NonNegativeNumber)
      ->option_text("NUMBER");
  app.add_option("--build-a", options->build_a,
                 "log of A's build: compile_commands.json, or the output of make VERBOSE=1 or ninja -v")
      ->option_text("LOG");
  app.add_option("--build-b", options->build_b, "log of B's build")->option_text("LOG");
  app.add_option("--html", options->html, "also write an HTML page with a picture of both captures' launches")
      ->option_text("FILE");
  app.add_option("--lang", options->language, "the language of the verdict and the headings: en or zh")
      ->option_text("LANGUAGE");
  app.add_flag("--json", options->json, "print JSON on stdout");
  app.footer(
      "Exit codes: 0 the same, 1 different, 2 bad usage or input, or too little was recorded to decide.");
  return [options] { return run(*options); };
}

}  // namespace isomer::cli
