#include "cli/emulate_table.hpp"

#include "cli/header_search.hpp"
#include "cli/verbs.hpp"
#include "isomer/emulator/error.hpp"
#include "lab/text/pattern.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace isomer::cli {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

bool has_main(const std::string& text) {
  static const lab::Pattern main(R"((^|\n)\s*(int|auto|void|extern "C" int)\s+main\s*\()");
  return main.found_in(text);
}

/// The names of the files that a text includes, without their folders.
std::set<std::string> includes_of(const std::string& text) {
  std::set<std::string> names;
  for (std::size_t at = text.find("#include"); at != std::string::npos; at = text.find("#include", at + 8)) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    const auto open = line.find('"'), close = line.rfind('"');
    if (open != close) names.insert(fs::path(line.substr(open + 1, close - open - 1)).filename().string());
  }
  return names;
}

/// Where headers may lie besides what a Makefile names: the program's folder, and folders beside it or above
/// it that are named for them.
std::vector<std::string> headers_of(const fs::path& program, const fs::path& folder) {
  std::vector<std::string> found{program.string()};
  for (fs::path at = program;; at = at.parent_path()) {
    for (const char* name : {"include", "inc", "Common", "common", "src"}) {
      if (fs::is_directory(at / name)) found.push_back((at / name).string());
    }
    if (at == folder || at == at.root_path() || at.empty()) return found;
  }
}

/// A build's limit is the clock's, a run's is one of its own processor time: as much longer it may take where
/// other programs keep the machine busy.
constexpr double kPatienceWithCompilers = 4;

struct Row {
  std::string name, ends, findings;
  bool built = false, finished = false;
  bool stopped = false;  ///< by a limit
  std::size_t found = 0;
  std::vector<std::string> texts;  ///< of the findings
  double steps_per_second = 0, seconds = 0;
};

std::string kinds_of(const emulator::RunResult& result) {
  std::map<std::string, std::size_t> kinds;
  for (const emulator::Report& r : result.reports) ++kinds[emulator::name(r.kind)];
  std::string said;
  for (const auto& [kind, count] : kinds)
    said += fmt::format("{}{}{}", said.empty() ? "" : " ", kind, count > 1 ? fmt::format("×{}", count) : "");
  return said;
}

/// What the compiler does not find is looked for in the collection: a build file that is not read may say
/// where.
emulator::Module built(emulator::BuildOptions& build, const Program& program, const fs::path& whole) {
  constexpr int kMostFolders = 8;
  for (int i = 0; i < kMostFolders; ++i) {
    try {
      return emulator::Module::build(build);
    } catch (const emulator::Error& error) {
      const std::string name = missing_header(error.what());
      const std::string folder = name.empty() ? "" : folder_with(name, program.folder, whole).string();
      if (folder.empty() ||
          std::count(build.include_directories.begin(), build.include_directories.end(), folder))
        throw;
      build.include_directories.push_back(folder);
    }
  }
  return emulator::Module::build(build);
}

Row run_program(const Program& program, const fs::path& folder, emulator::BuildOptions build,
                const emulator::RunOptions& run, unsigned schedules) {
  Row row;
  row.name = fs::relative(program.folder, folder).string();
  if (row.name == ".") row.name.clear();
  if (program.sources.size() == 1) row.name = (fs::path(row.name) / program.sources[0].filename()).string();
  for (const std::string& d : program.made.folders) build.include_directories.push_back(d);
  for (const std::string& d : headers_of(program.folder, folder)) build.include_directories.push_back(d);
  for (const std::string& d : program.made.definitions) build.definitions.push_back(d);
  if (!program.made.standard.empty()) build.standard = program.made.standard;
  build.sources = program.sources;
  build.compile_seconds = kPatienceWithCompilers * run.timeout_seconds;
  const auto begin = std::chrono::steady_clock::now();
  try {
    const emulator::Module module = built(build, program, folder);
    row.built = true;
    const fs::path before = fs::current_path();
    fs::current_path(program.folder);
    const emulator::RunResult result = run_under_schedules(module, program.made.words, run, schedules);
    fs::current_path(before);
    double steps = 0, seconds = 0;
    for (const emulator::LaunchRecord& l : result.launches)
      steps += static_cast<double>(l.thread_steps), seconds += l.seconds;
    row.steps_per_second = seconds > 0 ? steps / seconds : 0;
    row.stopped = result.failure.empty() && !result.not_finished.empty();
    row.finished = result.failure.empty() && !row.stopped;
    row.ends = row.stopped               ? "not finished: " + result.not_finished
               : !result.failure.empty() ? result.failure
                                         : fmt::format("status {}", result.exit_status);
    if (row.finished && !result.refusals.empty()) row.ends += "; refused: " + result.refusals.front().text;
    row.found = result.reports.size();
    row.findings = kinds_of(result);
    for (const emulator::Report& r : result.reports) row.texts.push_back(r.text);
  } catch (const std::exception& error) {
    row.ends = error.what();
  }
  row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return row;
}

}  // namespace

emulator::RunResult run_under_schedules(const emulator::Module& module, const std::vector<std::string>& words,
                                        emulator::RunOptions options, unsigned schedules) {
  emulator::RunResult result = module.run_main(words, options);
  for (unsigned i = 1; i < schedules && result.failure.empty() && result.not_finished.empty(); ++i) {
    options.seed = i == 1 ? emulator::RunOptions::kReversed : i - 1;
    emulator::RunResult again = module.run_main(words, options);
    result.failure = std::move(again.failure);
    result.not_finished = std::move(again.not_finished);
    result.stopped = std::move(again.stopped);
    for (emulator::Report& r : again.reports) {
      const bool known = std::any_of(result.reports.begin(), result.reports.end(), [&](const auto& k) {
        const auto lines = std::minmax(k.place.line, k.other.line),
                   of = std::minmax(r.place.line, r.other.line);
        return k.kind == r.kind && k.kernel == r.kernel && lines == of && k.buffer == r.buffer;
      });
      if (!known) result.reports.push_back(std::move(r));
    }
  }
  return result;
}

std::vector<Program> programs_of(const fs::path& folder) {
  static const std::set<std::string> endings = {".cu", ".hip", ".cpp", ".cc", ".cxx", ".c"};
  const auto in_c = [](const fs::path& source) { return source.extension() == ".c"; };
  std::map<fs::path, std::vector<fs::path>> folders;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && endings.count(entry.path().extension().string()))
      folders[entry.path().parent_path()].push_back(entry.path());
  }
  std::vector<Program> programs;
  for (auto& [where, sources] : folders) {
    if (std::all_of(sources.begin(), sources.end(), in_c)) continue;
    std::sort(sources.begin(), sources.end());
    // What another file includes is no unit of its own.
    std::set<std::string> included;
    for (const auto& entry : fs::directory_iterator(where)) {
      if (entry.is_regular_file()) included.merge(includes_of(text_of(entry.path())));
    }
    // The main that it includes is the includer's.
    const auto with_main = [&where = where](const fs::path& source) {
      const std::string text = text_of(source);
      const auto includes = includes_of(text);
      return has_main(text) || std::any_of(includes.begin(), includes.end(), [&](const std::string& name) {
               return endings.count(fs::path(name).extension().string()) != 0 &&
                      fs::is_regular_file(where / name) && has_main(text_of(where / name));
             });
    };
    std::vector<fs::path> mains, others;
    for (const fs::path& source : sources)
      if (included.count(source.filename().string()) == 0)
        (with_main(source) ? mains : others).push_back(source);
    // A host in C is the program's where no other source has a main.
    if (!std::all_of(mains.begin(), mains.end(), in_c))
      mains.erase(std::remove_if(mains.begin(), mains.end(), in_c), mains.end());
    // A Makefile that names sources with one main among them says what the program is made of.
    const bool above = where != folder && where.filename() == "src" && !fs::exists(where / "Makefile");
    const fs::path made_in = above ? where.parent_path() : where;
    Makefile makefile = read_makefile(made_in);
    makefile.sources.erase(std::remove_if(makefile.sources.begin(), makefile.sources.end(),
                                          [&](const fs::path& source) {
                                            return included.count(source.filename().string()) != 0;
                                          }),
                           makefile.sources.end());
    std::vector<fs::path> made_mains;
    for (const fs::path& source : makefile.sources)
      if (with_main(source)) made_mains.push_back(source);
    if (made_mains.size() == 1 && std::count(mains.begin(), mains.end(), made_mains[0]) != 0) {
      programs.push_back({fs::absolute(made_in), makefile.sources, makefile});
      continue;
    }
    for (const fs::path& main : mains) {
      Program program{fs::absolute(made_in), {fs::absolute(main)}, {}};
      program.made.definitions = makefile.definitions;
      program.made.folders = makefile.folders;
      if (mains.size() == 1) {
        for (const fs::path& other : others) program.sources.push_back(fs::absolute(other));
        program.made = makefile;
      }
      programs.push_back(std::move(program));
    }
  }
  return programs;
}

int emulate_table(const fs::path& folder, const emulator::BuildOptions& build,
                  const emulator::RunOptions& run, unsigned schedules, bool json) {
  const fs::path whole = fs::absolute(folder);
  std::size_t built = 0, finished = 0, stopped = 0, with_findings = 0, total = 0;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Program& program : programs_of(whole)) {
    const Row row = run_program(program, whole, build, run, schedules);
    ++total, built += row.built, finished += row.finished, stopped += row.stopped,
        with_findings += row.found > 0;
    if (json) {
      rows.push_back({{"program", row.name},
                      {"builds", row.built},
                      {"finished", row.finished},
                      {"not_finished", row.stopped},
                      {"ends", row.ends},
                      {"findings", row.found},
                      {"kinds", row.findings},
                      {"reports", row.texts},
                      {"thread_steps_per_second", row.steps_per_second},
                      {"seconds", row.seconds}});
      continue;
    }
    fmt::print("{:40} {:6} {:10} {:6.1f} s  {}{}{}\n", row.name, row.built ? "builds" : "no",
               row.built ? fmt::format("{:.2f} M/s", row.steps_per_second / 1e6) : "", row.seconds,
               row.ends.substr(0, row.ends.find('\n')), row.found > 0 ? "; " : "", row.findings);
    std::fflush(stdout);
  }
  if (total == 0) throw emulator::Error(fmt::format("{}: no source in it has a main", folder.string()));
  if (json) {
    const nlohmann::ordered_json all{{"version", 1},
                                     {"programs", rows},
                                     {"total", total},
                                     {"built", built},
                                     {"finished", finished},
                                     {"not_finished", stopped},
                                     {"with_findings", with_findings}};
    fmt::print("{}\n", all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    fmt::print("{} programs: {} build, {} finish, {} were stopped at a limit, {} have findings\n", total,
               built, finished, stopped, with_findings);
  }
  if (with_findings > 0 || finished + stopped < total) return findings;
  return stopped > 0 ? nothing_checked : holds;
}

}  // namespace isomer::cli
