#include "lab/diagnose/label_version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

namespace isomer::lab {
namespace {

/// What a label has that differs from the op by this variation; null where that is no matter of a version.
struct Version {
  const char* variation;
  const char* text;
  bool absent;  ///< the label is that version where the text is nowhere in it
};

constexpr Version kVersions[] = {
    {"floor=1e-10", "1e-10", false},
    {"floor=1e-12", "1e-12", false},
    {"floor=none", "\\bmaximum\\b|clamp|clip|[0-9][eE]-[0-9]|\\beps", true},
};

const Version* version_of(const std::string& variation) {
  for (const Version& version : kVersions)
    if (variation == version.variation) return &version;
  return nullptr;
}

}  // namespace

void follow_label(const std::string& label, Diagnosis& diagnosis) {
  if (label.empty()) return;
  const auto is_labels = [&](const std::string& variation) {
    const Version* version = version_of(variation);
    return version != nullptr && std::regex_search(label, std::regex(version->text)) != version->absent;
  };
  std::vector<std::string> said;
  const auto shared = [&](const Finding& finding) {
    if (finding.code != "epsilon") return false;
    const auto at = std::find_if(finding.variations.begin(), finding.variations.end(), is_labels);
    if (at != finding.variations.end()) said.push_back(*at);
    return at != finding.variations.end();
  };
  if (std::erase_if(diagnosis.findings, shared) == 0) return;
  diagnosis.notes.push_back(
      fmt::format("{}: as in the label, whose version of {} has the same", said.front(), diagnosis.op));
  if (diagnosis.findings.empty() && diagnosis.exec == Stage::failed) diagnosis.exec = Stage::passed;
}

}  // namespace isomer::lab
