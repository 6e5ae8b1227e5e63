#pragma once

#include "lab/candidate/candidate.hpp"
#include "lab/evidence/edits/exchangeable.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace isomer::lab {

/// A candidate with expressions that can be exchanged.
struct ExchangedBuild {
  std::shared_ptr<const Candidate> candidate;
  std::vector<Exchange> edits;  ///< the likeliest first
  std::string key;              ///< of what is compiled; empty where nothing of it is kept
};
/// Compiles it when it is asked for; null where it does not compile so.
using Exchanging = std::function<std::shared_ptr<const ExchangedBuild>()>;

}  // namespace isomer::lab
