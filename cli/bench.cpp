#include "lab/bench/bench.hpp"
#include "cli/report_file.hpp"
#include "cli/verbs.hpp"
#include "lab/bench/host_bench.hpp"
#include "lab/bench/tune.hpp"
#include "lab/report/terminal.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

namespace isomer::cli {
namespace {

struct BenchOptions {
  lab::BenchSelection selection;
  std::string plot, gate, tune, backend = "cpu";
  int candidates = lab::TuneSelection().candidates;
  std::string python = "python3";
  bool json = false, no_verify = false, host = false, peers = false;
};

/// Rows that the file has of other calls stay.
int tune(const BenchOptions& options) {
  const lab::BenchSelection& asked = options.selection;
  gpu::TunedTable table;
  if (std::filesystem::exists(options.tune))
    table = gpu::TunedTable::read(options.tune, "bench: the table '" + options.tune + "'");
  ReportFile file("bench", options.tune);
  lab::ProgressBar bar;
  const lab::Tuning tuning =
      lab::tune({.ops = asked.ops,
                 .lines = asked.lines,
                 .implementation = asked.implementations.empty() ? "" : asked.implementations.front(),
                 .device = asked.device,
                 .seconds = asked.seconds,
                 .candidates = options.candidates,
                 .verify = asked.verify},
                table, [&](int done, int all, const std::string& line) { bar.show(done, all, line); });
  bar.clear();
  file.write(table.json());
  fmt::print("{}", options.json ? lab::tune_json(tuning) : lab::tune_table(tuning));
  int exit = nothing_checked;
  for (const lab::TunedCase& each : tuning.cases) {
    if (each.skipped.empty() && exit == nothing_checked) exit = holds;
    for (const lab::TimedCandidate& candidate : each.candidates)
      if (candidate.verified.starts_with("no:")) exit = findings;
  }
  return exit;
}

int run(BenchOptions& options) {
  options.selection.verify = !options.no_verify;
  options.selection.device = device_of("bench", options.backend);
  if (options.peers) options.selection.peers = options.python;
  if (!options.tune.empty()) return tune(options);
  if (options.host) {
    const lab::HostBench result = lab::host_bench(options.selection);
    fmt::print("{}", options.json ? lab::host_bench_json(result) : lab::host_bench_table(result));
    return holds;
  }
  ReportFile plot("bench", options.plot);
  std::vector<lab::Floor> floors;
  if (!options.gate.empty()) floors = lab::read_gate(options.gate);
  lab::ProgressBar bar;
  const lab::Bench result = lab::bench(
      options.selection, [&](int done, int all, const std::string& line) { bar.show(done, all, line); });
  bar.clear();
  if (plot.asked()) plot.write(lab::bench_svg(result));
  fmt::print("{}", options.json ? lab::bench_json(result) : lab::bench_table(result));
  if (result.measurements.empty()) return nothing_checked;
  int exit = holds;
  for (const lab::Measurement& m : result.measurements)
    if (m.verified.starts_with("no:")) exit = findings;
  for (const std::string& sentence : lab::bench_gate(result, floors)) {
    fmt::print(stderr, "gate: {}\n", sentence);
    exit = findings;
  }
  return exit;
}

}  // namespace

Run bench(CLI::App& app) {
  auto options = std::make_shared<BenchOptions>();
  app.add_option("op", options->selection.ops, "the ops to time; default: all")->option_text("OP ...");
  app.add_option("--case", options->selection.lines,
                 "time this case line instead of the op's own bench cases")
      ->option_text("'LINE'")
      ->allow_extra_args(false);
  app.add_option("--implementation", options->selection.implementations,
                 "time this implementation (may be repeated)")
      ->option_text("NAME")
      ->allow_extra_args(false);
  app.add_option("--backend", options->backend,
                 "cpu, cuda, hip or emulated, or one of its devices, such as cuda:1")
      ->option_text("NAME");
  app.add_option("--seconds", options->selection.seconds, "seconds to spend on each case; default: 1")
      ->check(CLI::Range(0.01, 600.0))
      ->option_text("S");
  app.add_flag("--no-verify", options->no_verify, "do not compare the timed output with the reference");
  app.add_flag("--host", options->host,
               "measure what a call costs on the host: planning it, calling the op, and calling through an "
               "isomer::Plan")
      ->excludes("--no-verify");
  CLI::Option* const peers =
      app.add_flag("--peers", options->peers,
                   "time PyTorch's ways to compute the same beside each case, in a process of its own")
          ->excludes("--host");
  app.add_option("--python", options->python, "the Python that has PyTorch; default: python3")
      ->needs(peers)
      ->option_text("PYTHON");
  app.add_option("--plot", options->plot, "also write a bar chart")->option_text("FILE.svg");
  app.add_option("--gate", options->gate,
                 "exit with 1 if a case's ratio is below the one in this file; each line is `<ratio> <case>`")
      ->option_text("FILE");
  CLI::Option* const tune =
      app.add_option(
             "--tune", options->tune,
             "measure the candidates of the cases' plans and write what is best, and keep what else the "
             "file has: a table for ISOMER_TUNED")
          ->excludes("--host")
          ->excludes("--peers")
          ->excludes("--plot")
          ->excludes("--gate")
          ->option_text("FILE.json");
  app.add_option("--candidates", options->candidates,
                 "measure so many of a case, the model's best; default 6")
      ->needs(tune)
      ->check(CLI::Range(1, 1000))
      ->option_text("N");
  app.add_flag("--json", options->json, "print JSON on stdout");
  return [options] { return run(*options); };
}

}  // namespace isomer::cli
