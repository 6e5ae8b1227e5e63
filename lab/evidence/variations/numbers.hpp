#pragma once

#include "lab/ask/trial.hpp"
#include "lab/evidence/variations/search.hpp"
#include "lab/findings/finding.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace isomer::lab {

/// An entry that takes the original's arguments in the original's order.
Form original_form(const Entry& entry, const Port& port);

/// What a candidate is asked, and in which dtypes.
struct Questions {
  std::vector<std::shared_ptr<const Given>> recorded;  ///< calls of a recording, asked besides the probes
  /// Each probe is asked with each of these. The first are the caller's own; others, where they are, are what
  /// the candidate takes by itself.
  std::vector<Dtypes> dtypes = {{}};
  CallSettings settings;
  bool stranger = false;    ///< nobody says that it takes other numbers than the probes have, such as a block
  double patience = 1.5e8;  ///< with which a cause is looked for, in steps of the reference
  /// What is known of an earlier run of the questions: where all answers are the same, so are their causes.
  const struct Numbers* before = nullptr;
};

/// A call that came to no answer.
struct Failure {
  std::shared_ptr<const Given> given;
  Trial trial;
};

struct Numbers {
  Explanation explanation;
  std::vector<Evidence> evidence;
  std::vector<Failure> failures;
  std::vector<std::string> large;  ///< notes on calls that were too large to be watched, or to be made
  std::vector<Answer> answers;     ///< of the calls that returned, for what the emulator saw
  std::vector<std::shared_ptr<const Given>> answered;  ///< with what
  std::vector<oracle::Variation> measured;  ///< asked for besides the op's: guards with constants of its own
  std::optional<Finding> pattern;           ///< that all answers have, and that no variation explains
  bool beside_set = false;                  ///< the pattern is what the explanation's set leaves over
  bool raced = false;                       ///< in one of them threads raced: its numbers may be chance's
};

/// Whether the op's arithmetic is exact: its reference gives the elements of a call no bound to differ by.
bool is_exact(const Port& port);

/// Asks the candidate the port's probes and looks for the variations that explain the answers.
Numbers explain_numbers(const Candidate& candidate, const Form& form, const Port& port,
                        const Questions& questions);

/// The findings that an explanation stands for: one per variation, with the strengths of docs/findings.md.
std::vector<Finding> findings_of(const Port& port, const Numbers& numbers, std::vector<std::string>& notes);

/// The first call that is wrong in itself, element by element: for pictures.
std::vector<Diagnosis::Difference> differences_of(const Numbers& numbers);

}  // namespace isomer::lab
