#include "cli/verbs.hpp"
#include "core/sentence.hpp"
#include "lab/capture/capture_file.hpp"
#include "lab/launches/injected_libraries.hpp"
#include "lab/launches/trace_export.hpp"
#include "lab/report/trace_report.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

namespace isomer::cli {
namespace {

struct TraceOptions {
  std::string out, perfetto, csv;
  std::vector<std::string> command;
  bool json = false, driver = false;
};

/// Where the parts are kept meanwhile: beside the result, where there will be room for it too.
std::string folder_of(const std::string& out) {
  if (out.empty()) return {};
  const auto folder = std::filesystem::path(out).parent_path();
  return folder.empty() ? "." : folder.string();
}

int run(const TraceOptions& options) {
  // What cannot be written is known before the program runs.
  std::unique_ptr<lab::CaptureWriter> file;
  std::vector<std::unique_ptr<lab::LaunchExport>> exports;
  if (!options.perfetto.empty()) exports.push_back(std::make_unique<lab::PerfettoExport>(options.perfetto));
  if (!options.csv.empty()) exports.push_back(std::make_unique<lab::CsvExport>(options.csv));
  if (!options.out.empty()) {
    lab::Capture header;
    for (const std::string& word : options.command)
      header.command += (header.command.empty() ? "" : " ") + word;
    file = std::make_unique<lab::CaptureWriter>(options.out, header);
  }
  lab::Grouping grouping;
  lab::Traced traced = lab::trace_command(
      options.command, folder_of(options.out),
      [&](lab::Launch&& launch) {
        if (file) file->add(launch);
        for (const auto& each : exports) each->add(launch);
        grouping.add(std::move(launch));
      },
      options.driver);
  if (file) {
    for (const auto& [name, value] : traced.about.facts) file->fact(name, value);
    for (const std::string& sentence : traced.missing) file->note(sentence);
    // A cut process leaves a cut capture.
    if (traced.about.complete || traced.about.dropped > 0) file->end(traced.about.dropped);
  }
  for (const auto& each : exports) each->end();
  if (traced.launches == 0) {
    std::error_code none;
    for (const std::string& path : {options.out, options.perfetto, options.csv})
      if (std::filesystem::is_regular_file(path, none)) std::filesystem::remove(path, none);
    std::string why;
    for (const std::string& sentence : traced.missing) why += (why.empty() ? "" : "; ") + sentence;
    if (why.empty()) {
      const std::string cuda = lab::why_not_recorded("cuda"), hip = lab::why_not_recorded("hip");
      why = cuda.empty()
                ? "the program initialised no CUDA driver and launched no kernel of Isomer's; is there a "
                  "GPU? isomer doctor"
                : cuda + ", and the program launched no kernel of Isomer's";
      why += hip.empty() ? "; it did not initialise HIP either" : "; " + hip;
    }
    core::fail(ErrorCode::io, "trace: no launch was recorded: ", why,
               traced.signal != 0        ? core::say("; the program was ended by signal ", traced.signal)
               : traced.exit_status != 0 ? core::say("; the program ended with status ", traced.exit_status)
                                         : "");
  }
  const lab::GroupedCapture launches = grouping.finish(lab::Capture(traced.about));
  // The program's own output is on stdout before ours.
  fmt::print("{}", options.json ? lab::trace_json(traced, launches) : lab::trace_text(traced, launches));
  return traced.signal != 0 || traced.exit_status != 0 ? findings : holds;
}

}  // namespace

Run trace(CLI::App& app) {
  auto options = std::make_shared<TraceOptions>();
  app.add_option("-o,--out", options->out, "write every launch into this file; isomer diff reads it")
      ->option_text("FILE");
  app.add_option("--perfetto", options->perfetto, "write a timeline that Perfetto and chrome://tracing open")
      ->option_text("FILE");
  app.add_option("--csv", options->csv, "write a CSV file with one row for each launch")->option_text("FILE");
  app.add_flag("--json", options->json, "print JSON on stdout, after the program's own output");
  app.add_flag("--driver", options->driver,
               "record CUDA launches from the driver's calls, for programs in which another profiler uses "
               "CUPTI; this gives no times, no machine code and no kernels inside graphs");
  app.add_option("command", options->command, "the program and its arguments, after --")
      ->required()
      ->option_text("-- COMMAND…");
  app.footer(
      "CUDA launches are recorded through CUPTI, HIP launches through rocprofiler-sdk, and Isomer's "
      "own\nlaunches by Isomer itself.\nExit codes: 0 recorded, 1 the program itself failed, 2 nothing was "
      "recorded.");
  return [options] { return run(*options); };
}

}  // namespace isomer::cli
