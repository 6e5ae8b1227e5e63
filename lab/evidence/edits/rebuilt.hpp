#pragma once

#include "lab/evidence/edits/exchangeable.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// An edit of what a compiler has to know: a constant, a table, a type or an argument of a template. Each
/// needs a build of its own.
struct RebuiltEdit {
  Exchange edit;  ///< without a number
  std::string source;
};

/// The rank of a number of the source that is nearly one of the label's which the source has nowhere.
constexpr int kMistyped = -1;

/// A source in which an edit has been made.
RebuiltEdit made_in(const std::string& source, const Exchange& edit);

/// The likeliest first.
std::vector<RebuiltEdit> rebuilt_edits(const std::string& source, const OfLabel& label = {});

}  // namespace isomer::lab
