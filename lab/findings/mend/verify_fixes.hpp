#pragma once

#include "lab/candidate/folder.hpp"
#include "lab/judge/diagnose.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace isomer::lab {

/// What came of mending a candidate's findings.
struct VerifiedFixes {
  std::vector<std::string> edits;  ///< those that were seen to help, in the order in which they were made
  std::string patch;               ///< all of them as one unified diff; empty where none helped
  std::vector<std::string>
      remaining;        ///< findings against the candidate that none mended, by code and argument
  bool passes = false;  ///< with these edits
  int judged = 0;       ///< copies
};

/// Tries mechanical changes against the findings of `before`, each on a copy that is judged again, and keeps
/// what takes a finding away and brings none. `seconds`: after them no further change is tried. The candidate
/// itself is not written to.
VerifiedFixes verify_fixes(const CaseFolder& folder, const std::filesystem::path& candidate,
                           const Diagnosis& before, double seconds);

/// "with these 2 edits the port passes", and which they are; or what remains.
std::string fixes_in_words(const VerifiedFixes& fixes, const std::string& patch_file);

}  // namespace isomer::lab
