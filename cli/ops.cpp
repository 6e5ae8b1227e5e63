#include "cli/verbs.hpp"
#include "core/registry.hpp"
#include "core/sentence.hpp"
#include "lab/report/ops_report.hpp"

#include <fmt/format.h>

#include <memory>

namespace isomer::cli {

Run ops(CLI::App& app) {
  struct Options {
    std::vector<std::string> names;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  app.add_option("op", options->names, "show only these ops, with every argument, option and clause")
      ->option_text("OP ...");
  app.add_flag("--json", options->json, "print JSON on stdout");
  return [options] {
    fmt::print("{}", options->json ? lab::ops_json(options->names) : lab::ops_text(options->names));
    return holds;
  };
}

}  // namespace isomer::cli
