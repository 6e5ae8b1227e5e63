#pragma once

#include "lab/ask/trial.hpp"
#include "lab/findings/finding.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace isomer::lab {

/// A first guess at how an entry is called with an original's arguments, from the kinds and names of its
/// parameters.
struct Guess {
  Form form;
  const Port* port = nullptr;
  std::vector<int> unsure;        ///< parameters (whole numbers) of which the names say nothing
  std::vector<Finding> findings;  ///< what had to be adapted for the guess
  std::vector<int> by_names;      ///< where its names say another order than the original's: roles in it
  double score = 0;               ///< how much of the entry the guess accounts for
};

/// Whether the entry's names say that it is a port of this original: its function's name, and the names of
/// its tensors; where the function is named after the op alone, those of its numbers too.
bool names_the_original(const Entry& entry, const Port& port);

/// Of an entry and one port of the op.
/// `stranger`: nobody says that it is called as the original is.
Guess guess_form(const Entry& entry, const Port& port, bool stranger = false);
/// The best over an entry's ports.
Guess guess_form(const Entry& entry, const std::vector<const Port*>& ports);

/// "f16 [6, 3, 64]" and the like, of what a parameter is given.
std::string describe(const Value& value);

}  // namespace isomer::lab
