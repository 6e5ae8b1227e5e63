#pragma once

#include "lab/ask/port.hpp"
#include "lab/candidate/candidate.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// A candidate that answers with the op's reference, some variations on: what a port with exactly those
/// faults would give, however the call reaches it.
class FakeCandidate : public Candidate {
 public:
  FakeCandidate(const Port& port, std::vector<std::string> variations);
  const std::filesystem::path& path() const override { return path_; }
  const std::vector<Entry>& entries() const override { return entries_; }
  Answer call(const Entry& entry, const std::vector<Value>& arguments,
              const CallSettings& settings) const override;

  std::vector<Entry> entries_;
  /// Dtypes that it refuses to be without, by parameter; none: any.
  std::vector<DType> wants;
  std::vector<int> ranks;  ///< likewise; −1: any
  mutable int calls = 0;

 private:
  const Port& port_;
  oracle::Variations variations_;
  std::filesystem::path path_;
};

}  // namespace isomer::lab
