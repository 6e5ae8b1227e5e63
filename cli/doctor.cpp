#include "lab/report/doctor.hpp"
#include "cli/verbs.hpp"

#include <fmt/format.h>

#include <memory>

namespace isomer::cli {

Run doctor(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "print JSON on stdout");
  return [json] {
    const auto findings = lab::examine();
    fmt::print("{}", *json ? lab::doctor_json(findings) : lab::doctor_text(findings));
    return holds;
  };
}

}  // namespace isomer::cli
