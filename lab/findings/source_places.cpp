#include "lab/findings/source_places.hpp"

#include "lab/findings/variation_codes.hpp"
#include "lab/text/pattern.hpp"

#include <sstream>

namespace isomer::lab {
namespace {

/// Lines with their comments blanked.
std::vector<std::string> code_lines(const std::string& source) {
  std::vector<std::string> lines;
  std::istringstream text(source);
  bool block = false;
  for (std::string line; std::getline(text, line);) {
    std::string kept;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string_view two = std::string_view(line).substr(i, 2);
      if (block) {
        if (two == "*/") {
          block = false;
          ++i;
        }
      } else if (two == "//") {
        break;
      } else if (two == "/*") {
        block = true;
        ++i;
      } else {
        kept += line[i];
      }
    }
    lines.push_back(std::move(kept));
  }
  return lines;
}

}  // namespace

int line_of(const std::string& source, const std::vector<std::string_view>& patterns) {
  const std::vector<std::string> lines = code_lines(source);
  for (const std::string_view pattern : patterns) {
    const Pattern wanted(pattern);
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (lines[i].find("#include") == std::string::npos && wanted.found_in(lines[i]))
        return static_cast<int>(i) + 1;
  }
  return 0;
}

void add_places(std::vector<Finding>& findings, const std::string& source, const std::string& file) {
  if (source.empty()) return;
  for (Finding& finding : findings) {
    if (finding.subject != Subject::candidate || finding.location.line != 0) continue;
    for (const std::string& name : finding.variations) {
      const VariationCode& code = code_of(name);
      if (code.code != finding.code) continue;
      finding.location = {file, line_of(source, code.places)};
      break;
    }
    if (finding.location.line == 0 && finding.code == Code::assumes_contiguous)
      finding.location = {
          file, line_of(source, {"is_contiguous", "\\*\\s*(head_num|H|D|d_model|head_dim|dim)\\b"})};
  }
}

}  // namespace isomer::lab
