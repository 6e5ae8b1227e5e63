#pragma once

#include "lab/candidate/candidate.hpp"
#include "lab/evidence/edits/exchangeable.hpp"
#include "lab/evidence/edits/rebuilt.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace isomer::lab {

/// A candidate with expressions that can be exchanged.
struct ExchangedBuild {
  std::shared_ptr<const Candidate> candidate;
  std::vector<Exchange> edits;       ///< the likeliest first
  std::vector<RebuiltEdit> rebuilt;  ///< those that need a build of their own; none where builds are slow
  std::function<std::shared_ptr<const Candidate>(const RebuiltEdit&)> rebuild;  ///< null: does not compile
  std::string source;                                                           ///< as it is
  /// Edits that helped before, with calls of another signature: they are tried first.
  std::shared_ptr<std::vector<int>> helped = std::make_shared<std::vector<int>>();
  double built = 0;  ///< seconds that it took to compile it
  /// Seconds that searches among them took so far, for calls of all signatures together.
  std::shared_ptr<double> spent = std::make_shared<double>(0);
  bool slow = false;  ///< to build: it has PyTorch's headers
  std::string key;    ///< of what is compiled; empty where nothing of it is kept
};
/// Compiles it when it is asked for; null where it does not compile so.
using Exchanging = std::function<std::shared_ptr<const ExchangedBuild>()>;

}  // namespace isomer::lab
