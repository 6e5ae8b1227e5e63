#pragma once

#include "lab/findings/finding.hpp"

#include <map>
#include <string>
#include <vector>

namespace isomer::lab {

/// What `isomer check PATH…` says about candidates: a line for each finding, ordered by what to fix first.
/// Candidates of one folder follow one another, with what each mended and what is left.
std::string candidates_table(const std::vector<Diagnosis>& diagnoses);
/// The JSON of `isomer check PATH`, version 1.
std::string candidates_json(const std::vector<Diagnosis>& diagnoses);
std::string candidates_markdown(const std::vector<Diagnosis>& diagnoses);
/// JUnit: a suite per folder, a test case per candidate.
std::string candidates_junit(const std::vector<Diagnosis>& diagnoses);
/// One page that needs nothing else, with pictures of where an output differs and by how much.
std::string candidates_html(const std::vector<Diagnosis>& diagnoses);

/// Codes that a candidate no longer has, still has, and has anew, against the one before it in its folder.
struct Mended {
  std::vector<std::string> mended, left, added;
};
Mended mended(const Diagnosis& before, const Diagnosis& after);
/// Whether one is said to mend the other: of one folder, and both judged.
bool follows(const Diagnosis& before, const Diagnosis& after);
/// How many of them pass, fail and could not be judged, by these words.
std::map<std::string, int> counted(const std::vector<Diagnosis>& diagnoses);

}  // namespace isomer::lab
