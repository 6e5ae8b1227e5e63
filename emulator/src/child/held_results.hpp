// The results of a call as a caller holds them who goes on calling: no later call may write them.
#pragma once

#include <cstdint>
#include <vector>

#include "child/storages.hpp"
#include "isomer/emulator/report.hpp"
#include "isomer_emulator/entries_abi.h"

namespace isomer::emulator {

/// FNV-1a of a storage's bytes, wherever it lies.
std::uint64_t sum_of_storage(Storages& storages, const void* begin, std::uint64_t bytes);

class HeldResults {
 public:
  HeldResults() = default;
  HeldResults(const HeldResults&) = delete;
  HeldResults& operator=(const HeldResults&) = delete;
  ~HeldResults();

  /// A result of a call that is not the last. What lies in an argument is the caller's own and not looked at.
  void add(Storages& storages, const CallTensor& result);
  /// Keeps a result's memory from being used again until the end.
  void keep(void* result, void (*let_go)(void* result)) { kept_.push_back({result, let_go}); }
  /// A result of the last call.
  void answered(const CallTensor& result) { last_.push_back(result.storage); }
  /// A report for each result whose bytes are others than when it was given.
  void check(Storages& storages, std::vector<Report>& reports) const;

 private:
  struct Result {
    const void* begin;
    std::uint64_t bytes, sum;
  };
  struct Kept {
    void* result;
    void (*let_go)(void* result);
  };
  std::vector<Result> results_;
  std::vector<Kept> kept_;
  std::vector<const void*> last_;
};

}  // namespace isomer::emulator
