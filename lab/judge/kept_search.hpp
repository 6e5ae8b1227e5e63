#pragma once

#include "lab/ask/form.hpp"
#include "lab/candidate/value.hpp"
#include "lab/judge/exchanged.hpp"

#include "core/sha256.hpp"

#include <filesystem>
#include <optional>
#include <vector>

namespace isomer::lab {

/// What a search among a candidate's edits came to, kept in the cache: who judges the same candidate by the
/// same calls again waits for no search. An edit that helped is asked once more all the same.
class KeptSearch {
 public:
  /// What decides the search beside the calls: the build, whether calls are watched, how many edits are tried
  /// and for how long, and how far an answer may be off.
  KeptSearch(const ExchangedBuild& build, std::initializer_list<double> numbers);

  /// A call, as it is passed, and what it is to give.
  void add(const Form& form, const std::vector<Value>& values, const std::vector<double>& wanted);

  struct Found {
    std::vector<int> helpful;  ///< numbers of edits
    int tried = 0;
  };
  /// Of an earlier search; nothing is added after this.
  std::optional<Found> found();
  /// Without a cache nothing is kept, and nothing is said of it.
  void keep(const Found& found) const;

 private:
  core::Sha256 key_;
  std::filesystem::path file_;  ///< empty where there is no cache
};

}  // namespace isomer::lab
