#include "cli/emulate_table.hpp"
#include "cli/verbs.hpp"
#include "isomer/emulator/suppressions.hpp"
#include "isomer/emulator/written.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <set>
#include <tuple>

namespace isomer::cli {
namespace {

struct EmulateOptions {
  emulator::BuildOptions build;
  emulator::RunOptions run;
  std::vector<std::string> words, arguments;
  std::string kernel, grid = "1", block = "1", suppressions, launches;
  std::uint64_t shared = 0, fill_seed = 1;
  unsigned schedules = 1;
  std::uint64_t memory = 4;
  bool table = false, plain = false, cooperative = false, json = false;
};

emulator::Index3 triple(const std::string& text, const char* option) {
  emulator::Index3 result{1, 1, 1};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < 3; ++i) {
    const auto [next, failed] = std::from_chars(at, end, result[i]);
    if (failed == std::errc() && next == end) return result;
    if (failed != std::errc() || *next != ',') break;
    at = next + 1;
  }
  throw emulator::Error(fmt::format("{} {}: expected X, X,Y or X,Y,Z", option, text));
}

std::string listed(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all.empty() ? "none" : all;
}

/// The sources stand in front: the first word, and those behind it that name one. What follows is for the
/// kernel or the program.
void split(EmulateOptions& options) {
  const auto is_source = [](const std::string& word) {
    const std::filesystem::path path(word);
    static const std::set<std::string> endings = {".cu", ".hip", ".cpp", ".cc", ".cxx", ".C", ".c"};
    std::error_code none;
    return endings.count(path.extension().string()) != 0 && std::filesystem::is_regular_file(path, none);
  };
  std::size_t sources = 1;
  while (sources < options.words.size() && is_source(options.words[sources])) ++sources;
  options.build.sources.assign(options.words.begin(), options.words.begin() + sources);
  options.arguments.insert(options.arguments.begin(), options.words.begin() + sources, options.words.end());
}

/// N, or N-M, counted from 1.
void choose_launches(const std::string& text, emulator::RunOptions& run) {
  const char *at = text.data(), *const end = at + text.size();
  auto [next, failed] = std::from_chars(at, end, run.first_watched);
  run.last_watched = run.first_watched;
  if (failed == std::errc() && next != end && *next == '-')
    std::tie(next, failed) = [&] {
      const auto r = std::from_chars(next + 1, end, run.last_watched);
      return std::tuple(r.ptr, r.ec);
    }();
  if (failed != std::errc() || next != end || run.first_watched == 0 || run.last_watched < run.first_watched)
    throw emulator::Error(fmt::format("--watch-launches {}: expected N or N-M, counted from 1", text));
}

std::string named_filters(const EmulateOptions& options) {
  std::string said;
  if (!options.run.watched_kernel.empty()) said = "--watch-kernel " + options.run.watched_kernel;
  if (!options.launches.empty())
    said += (said.empty() ? "" : " and ") + ("--watch-launches " + options.launches);
  return said;
}

/// A name with a typing error must not read as a program without faults.
bool filters_leave_nothing(const EmulateOptions& options, const emulator::RunResult& result) {
  if (options.plain || result.launches.empty() || named_filters(options).empty()) return false;
  return std::none_of(result.launches.begin(), result.launches.end(),
                      [](const emulator::LaunchRecord& l) { return l.watched; });
}

int run(EmulateOptions& options) {
  if (!options.launches.empty()) choose_launches(options.launches, options.run);
  options.run.memory_limit = options.memory << 30;
  if (options.table) {
    if (options.words.size() != 1 || !std::filesystem::is_directory(options.words.front()))
      throw emulator::Error(fmt::format("--table: one folder expected, got {}", options.words.front()));
    options.build.watch = !options.plain;
    return emulate_table(options.words.front(), options.build, options.run, options.schedules, options.json);
  }
  split(options);
  options.build.watch = !options.plain;
  const bool by_name = !options.kernel.empty();
  if (options.kernel.find('<') != std::string::npos) options.build.instantiate = {options.kernel};
  const emulator::Module module = emulator::Module::build(options.build);
  if (!by_name && !module.has_main()) {
    throw emulator::Error(fmt::format("{} has no main: choose one of its kernels with --kernel ({})",
                                      options.words.front(), listed(module.kernels())));
  }
  std::vector<emulator::WrittenArgument> written;
  emulator::RunResult result;
  if (by_name) {
    std::vector<emulator::Argument> arguments;
    for (const std::string& text : options.arguments)
      written.push_back(emulator::parse_argument(text, options.fill_seed + written.size()));
    for (emulator::WrittenArgument& w : written) {
      if (w.argument.name.empty()) w.argument.name = fmt::format("argument {}", arguments.size());
      arguments.push_back(w.argument);
    }
    const emulator::Geometry geometry{triple(options.grid, "--grid"), triple(options.block, "--block"),
                                      options.shared, options.cooperative};
    result = module.launch(options.kernel, geometry, arguments, options.run);
  } else {
    result = run_under_schedules(module, options.arguments, options.run, options.schedules);
  }
  if (!options.suppressions.empty()) {
    const std::size_t left_out = suppress(result, emulator::read_suppressions(options.suppressions));
    if (left_out > 0 && !options.json)
      fmt::print("{} finding{} suppressed by {}\n", left_out, left_out == 1 ? "" : "s", options.suppressions);
  }
  // It never came to a launch: what was asked for was wrong.
  if (by_name && result.launches.empty() && !result.failure.empty()) throw emulator::Error(result.failure);
  if (options.json) {
    fmt::print("{}", emulator::to_json(result, written));
  } else {
    fmt::print("{}", result.output);
    for (const emulator::WrittenArgument& w : written) {
      if (w.argument.role != emulator::Argument::Role::output &&
          w.argument.role != emulator::Argument::Role::in_out)
        continue;
      fmt::print("{} =", w.argument.name);
      for (double v : emulator::leading_values(w, 8)) fmt::print(" {:g}", v);
      fmt::print("{}\n", w.count > 8 ? " …" : "");
    }
    fmt::print("{}", emulator::to_text(result));
  }
  if (!result.failure.empty() || !result.reports.empty() || !result.refusals.empty()) return findings;
  // What the runtime and main say of a launch that a limit stopped comes of the limit.
  if (!result.not_finished.empty()) return nothing_checked;
  if (result.error != 0 || result.exit_status != 0) return findings;
  if (filters_leave_nothing(options, result)) {
    fmt::print(stderr, "isomer: {} leaves no launch of this run to judge\n", named_filters(options));
    return nothing_checked;
  }
  return result.launches.empty() ? nothing_checked : holds;
}

}  // namespace

std::vector<std::string> emulate_words(const std::vector<std::string>& words) {
  std::vector<std::string> spelled;
  bool marked = false;
  for (const std::string& word : words) {
    if (marked) {
      spelled.push_back("--argument=" + word);
    } else if (word == "--") {
      marked = true;
    } else {
      spelled.push_back(word.rfind("-std=", 0) == 0 ? "-" + word : word);
    }
  }
  return spelled;
}

Run emulate(CLI::App& app) {
  auto o = std::make_shared<EmulateOptions>();
  app.add_option("file", o->words,
                 "the CUDA or HIP sources of one program, then the kernel's arguments (x=in:f32:1024:randn "
                 "y=out:f32:1024 n=i32:1024) or, without --kernel, the words that main gets")
      ->required()
      ->option_text("FILE… [ARGUMENT…]");
  app.add_option(
         "--kernel", o->kernel,
         "launch this kernel instead of running main; for a template, include its arguments: 'cast<int>'")
      ->option_text("NAME");
  app.add_option("--grid", o->grid, "number of blocks; default: 1")->option_text("X,Y,Z");
  app.add_option("--block", o->block, "threads in a block; default: 1")->option_text("X,Y,Z");
  app.add_option("--shared", o->shared, "bytes of dynamic shared memory")
      ->check(whole_number)
      ->option_text("BYTES");
  app.add_flag("--cooperative", o->cooperative, "cooperative launch: the blocks may wait for each other");
  app.add_option("--lanes", o->build.lanes, "number of lanes in a warp")
      ->check(CLI::IsMember({32, 64}))
      ->option_text("32|64");
  app.add_option("--seed", o->run.seed,
                 "seed of the order in which blocks and threads run; 0: their natural order")
      ->check(whole_number)
      ->option_text("N");
  app.add_option("--schedules", o->schedules,
                 "number of runs of the program: in its natural order, in the opposite order, then by seeds")
      ->check(positive_whole_number)
      ->option_text("N");
  app.add_option("--workers", o->run.workers,
                 "run blocks on so many cores, small launches too; default: all cores, where that is faster")
      ->check(positive_whole_number)
      ->option_text("N");
  app.add_flag("--table", o->table,
               "run every program of the folder FILE and print one row for each; --timeout limits each run, and "
               "each build to four times as long");
  app.add_option("--fill-seed", o->fill_seed, "seed of the values that randn and uniform draw")
      ->check(whole_number)
      ->option_text("N");
  app.add_flag("--no-watch", o->plain, "run fast, without watching memory accesses");
  app.add_flag("--device-math", o->build.device_math,
               "give fast intrinsics (__expf, ...) the hardware's error");
  app.add_option("--timeout", o->run.timeout_seconds, "seconds after which the run is stopped")
      ->check(CLI::PositiveNumber)
      ->option_text("S");
  app.add_option("--steps", o->run.step_limit,
                 "number of memory accesses after which a watched launch is stopped")
      ->check(positive_whole_number)
      ->option_text("N");
  app.add_option("--blocks", o->run.blocks,
                 "run only so many blocks of each launch, spread evenly from the first to the last")
      ->check(positive_whole_number)
      ->option_text("N");
  app.add_option("--watch-kernel", o->run.watched_kernel,
                 "watch the launches of this kernel only; the others run and are not judged")
      ->option_text("NAME");
  app.add_option("--watch-launches", o->launches, "watch these launches of the program only, counted from 1")
      ->option_text("N[-M]");
  app.add_option(
         "--suppress", o->suppressions,
         "leave out the findings that this file names: KIND [kernel=NAME] [file=PATH[:LINE]] in each line")
      ->option_text("FILE");
  app.add_option("--memory", o->memory, "GiB of memory that the device has; default: 4")
      ->check(CLI::Range(1, 60))
      ->option_text("GIB");
  app.add_flag("--leaks", o->run.leaks, "report device memory that nobody has freed when the program ends");
  app.add_option("-I", o->build.include_directories, "folder in which headers are searched")
      ->option_text("DIR")
      ->allow_extra_args(false);
  app.add_option(
         "--isystem", o->build.system_directories,
         "folder of headers that are not the user's: what is in them is neither rewritten nor refused")
      ->option_text("DIR")
      ->allow_extra_args(false);
  app.add_option("-D", o->build.definitions, "define a macro")
      ->option_text("NAME[=VALUE]")
      ->allow_extra_args(false);
  app.add_option("--std", o->build.standard, "the language standard, such as gnu++17 or c++20")
      ->option_text("STANDARD");
  app.add_option("--argument", o->arguments,
                 "one more argument of the kernel or the program; -- A B gives two")
      ->option_text("ARGUMENT")
      ->allow_extra_args(false);
  app.add_option("--link", o->build.link_flags, "a flag for the linker, such as --link=-ltorch_cpu")
      ->allow_extra_args(false);
  app.add_option("--compiler", o->build.compiler,
                 "the host compiler; default: ISOMER_CXX, else g++ or clang++")
      ->option_text("CXX");
  app.add_flag("--json", o->json, "print JSON on stdout");
  return [o] { return run(*o); };
}

}  // namespace isomer::cli
