#pragma once

#include "lab/candidate/folder.hpp"
#include "lab/findings/finding.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace isomer::lab {

/// What a batch says about one candidate: a line of its results file.
struct Judged {
  Diagnosis diagnosis;
  std::string author, task;  ///< of case.toml; the task is otherwise the folder
  std::string sources;       ///< of what it was judged by: a sum over the folder's files and what was asked
  int number = 1, of = 1;    ///< its place among the lines of its folder
};

/// The lines of one folder. `sources`: as sources_of gives it.
std::vector<Judged> judged_folder(const CaseFolder& folder, const std::string& sources,
                                  std::vector<Diagnosis> diagnoses);
/// A sum that is another where one of the folder's files, or what was asked, is another.
std::string sources_of(const CaseFolder& folder, const std::string& asked);

/// JSON on one line, with its end: what `check --json` says about the candidate, and the members above.
std::string line_of(const Judged& judged, const Diagnosis* before);
/// Throws Error bad_argument for what is no such line.
Judged judged_of_line(const std::string& line);

/// A results file is read as far as it goes: a line that is cut off, or no line of ours, is counted and left
/// out. Of two lines about one candidate the later one counts.
struct ResultsRead {
  std::vector<Judged> judged;
  std::size_t broken = 0, replaced = 0;
};
/// Throws Error io where the file cannot be read.
ResultsRead read_results(const std::filesystem::path& file);
/// Later ones about one candidate take the place of earlier ones; returns how many did.
std::size_t add_results(std::vector<Judged>& all, std::vector<Judged> more);

}  // namespace isomer::lab
