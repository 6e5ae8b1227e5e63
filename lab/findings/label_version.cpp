#include "lab/findings/label_version.hpp"

#include "lab/findings/variation_codes.hpp"
#include "lab/text/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace isomer::lab {
namespace {

/// What a label has that differs from the op by this variation; null where that is no matter of a version.
struct Version {
  const char* variation;
  const char* text;
  bool absent;  ///< the label is that version where the text is nowhere in it
};

constexpr Version kVersions[] = {
    {"floor=none", "\\bmaximum\\b|clamp|clip|[0-9][eE]-[0-9]|\\beps", true},
    // Of a label without a floor zeros are 0/0: what its port makes of them is its own.
    {"zero_guard=zeros-1", "\\bmaximum\\b|clamp|clip|[0-9][eE]-[0-9]|\\beps", true},
};

const Version* version_of(const std::string& variation) {
  for (const Version& version : kVersions)
    if (variation == version.variation) return &version;
  return nullptr;
}

/// The constant of a floor or a guard, as its variation's name has it; 0 for others.
double constant_of(const std::string& variation) {
  for (const char* prefix :
       {"floor=", "zero_guard=amax-", "zero_guard=scale-", "zero_guard=below-", "zero_guard="})
    if (variation.starts_with(prefix)) return std::strtod(variation.c_str() + std::strlen(prefix), nullptr);
  return 0;
}

/// Whether the text has that number, however it is spelt: 1e-5, 1.0e-05, 0.00001.
bool has_number(const std::string& text, double number) {
  static const Pattern literal("(\\d+\\.?\\d*|\\.\\d+)([eE][-+]?\\d+)?");
  const std::vector<Match> found = literal.all(text);
  return std::any_of(found.begin(), found.end(), [&](const Match& each) {
    return std::fabs(std::strtod(each[0].c_str(), nullptr) - number) <= 1e-6 * number;
  });
}

}  // namespace

void follow_label(const std::string& label, Diagnosis& diagnosis) {
  if (label.empty()) return;
  const auto is_labels = [&](const std::string& variation) {
    if (const double constant = constant_of(variation); constant > 0) return has_number(label, constant);
    const Version* version = version_of(variation);
    return version != nullptr && Pattern(version->text).found_in(label) != version->absent;
  };
  std::vector<std::string> said;
  const auto shared = [&](const Finding& finding) {
    if (finding.code != Code::epsilon && finding.code != Code::zero_guard) return false;
    const auto at =
        std::find_if(finding.variations.begin(), finding.variations.end(), [&](const std::string& variation) {
          return code_of(variation).code == finding.code && is_labels(variation);
        });
    if (at != finding.variations.end()) said.push_back(*at);
    return at != finding.variations.end();
  };
  if (std::erase_if(diagnosis.findings, shared) == 0) return;
  diagnosis.notes.push_back(fmt::format("{}: not a fault, because the label's version of {} does the same",
                                        said.front(), diagnosis.op));
  if (diagnosis.findings.empty() && diagnosis.exec == Stage::failed) diagnosis.exec = Stage::passed;
}

}  // namespace isomer::lab
