#include "cli/verbs.hpp"

#include <isomer/isomer.h>
#include <isomer/error.hpp>

#include "core/sentence.hpp"

#ifdef ISOMER_HAS_EMULATOR
#include "vendor/vendor.hpp"
#endif

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::cli {
namespace {

struct Verb {
  const char* name;
  const char* summary;
  Run (*define)(CLI::App&);
};

constexpr Verb kVerbs[] = {
    {"check", "check ops, or somebody's port of a kernel, against the reference", check},
    {"ops", "list the ops: contracts, implementations, and why one is not available here", ops},
    {"record", "record a reference's calls and answers in a file that needs no Python", record},
    {"explain", "show the plan for one case without running it", explain},
#ifdef ISOMER_HAS_EMULATOR
    {"emulate", "run a CUDA or HIP source on the CPU and watch every access", emulate},
#endif
    {"bench", "time ops and the machine's ceilings in the same run", bench},
    {"kernels", "list every kernel in a binary: parameters, registers, shared memory, code", kernels},
    {"trace", "record every kernel launch of a program without patching or rebuilding it", trace},
    {"show", "print the checklist of a kernel's launch: template, constants, geometry, arguments", show},
    {"diff", "show what differs between two captures, traces, binaries or tensor files", diff},
    {"report", "put results of batches of candidates together, or compare two", report},
    {"prebuild", "compile GPU kernels into a bundle; this needs no GPU", prebuild},
    {"doctor", "show what this machine has, what is missing, and how to get it", doctor},
};

std::string verbs_listed() {
  std::vector<std::string> names;
  for (const Verb& verb : kVerbs) names.emplace_back(verb.name);
  return core::either(names);
}

int run(int count, char** words) {
#ifdef ISOMER_HAS_EMULATOR
  emulator::register_vendor();
#endif
  CLI::App app("Isomer: LLM-inference kernels, and the lab that proves them.", "isomer");
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("isomer {}", isomer_version()));
  app.footer("Exit codes: 0 holds, 1 findings or failures, 2 bad usage or input, 3 nothing was checked.");
  std::vector<std::pair<CLI::App*, Run>> verbs;
  for (const Verb& verb : kVerbs) {
    CLI::App* sub = app.add_subcommand(verb.name, verb.summary);
    verbs.emplace_back(sub, verb.define(*sub));
  }
  if (count < 2) {
    fmt::print(stderr, "{}", app.help());
    return bad_usage;
  }
  if (const std::string_view word = words[1];
      !word.starts_with('-') && std::none_of(std::begin(kVerbs), std::end(kVerbs),
                                             [&](const Verb& verb) { return word == verb.name; })) {
    fmt::print(stderr, "isomer: expected a verb ({}), got '{}'\n", verbs_listed(), word);
    return bad_usage;
  }
  // CLI11 takes them from the last to the first.
  std::vector<std::string> said(words + 1, words + count);
#ifdef ISOMER_HAS_EMULATOR
  if (said.front() == "emulate") said = emulate_words(said);
#endif
  std::reverse(said.begin(), said.end());
  try {
    app.parse(said);
  } catch (const CLI::RequiredError& error) {
    const bool verb = app.get_subcommands().empty();
    fmt::print(stderr, "isomer: {}\n", verb ? "expected a verb (" + verbs_listed() + ")" : error.what());
    return bad_usage;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      app.exit(error);
      return holds;
    }
    fmt::print(stderr, "isomer: {}\n", error.what());
    return bad_usage;
  }
  for (const auto& [sub, act] : verbs)
    if (sub->parsed()) return act();
  return bad_usage;
}

}  // namespace
}  // namespace isomer::cli

int main(int count, char** words) {
  try {
    const int exit = isomer::cli::run(count, words);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit;
    fmt::print(stderr, "isomer: cannot write to standard output: {}\n", std::strerror(errno));
    return isomer::cli::bad_usage;
  } catch (const isomer::Error& error) {
    fmt::print(stderr, "isomer: {}\n", error.what());
    return error.code() == isomer::ErrorCode::internal ? isomer::cli::findings : isomer::cli::bad_usage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "isomer: {}\n", error.what());
    return isomer::cli::bad_usage;
  }
}
