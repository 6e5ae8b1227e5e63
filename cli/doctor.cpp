#include "lab/report/doctor.hpp"
#include "cli/verbs.hpp"

#ifdef ISOMER_HAS_EMULATOR
#include <isomer/emulator/containment.hpp>
#endif

#include <fmt/format.h>

#include <memory>

namespace isomer::cli {

Run doctor(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "print JSON on stdout");
  return [json] {
    auto findings = lab::examine();
#ifdef ISOMER_HAS_EMULATOR
    for (const emulator::Means& means : emulator::means_of_containment())
      findings.push_back({"containing candidates", means.name, means.there, means.detail, means.remedy});
#endif
    fmt::print("{}", *json ? lab::doctor_json(findings) : lab::doctor_text(findings));
    return holds;
  };
}

}  // namespace isomer::cli
