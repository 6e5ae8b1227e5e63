#pragma once

#include "core/kept_plan.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace isomer::core {

/// The plans of the latest calls of one thread. A plan is found again for a call of the same op on the same
/// queue with the same options, and tensors that have the same dtypes, shapes, strides and, on a device, the
/// same alignment; what depends on the addresses themselves is validated at every call.
class PlanCache {
 public:
  static PlanCache& of_this_thread();

  /// Null where there is none. The plan stays where another thread or call replaces it meanwhile.
  std::shared_ptr<const KeptPlan> find(const Queue& queue, const Call& call);
  /// Keeps the plan of the call that find() was last asked for.
  void keep(std::shared_ptr<const KeptPlan> plan);

 private:
  static constexpr std::size_t kEntries = 128;
  struct Entry {
    std::vector<std::uint64_t> signature;
    std::shared_ptr<const KeptPlan> plan;
  };
  void sign(const Queue& queue, const Call& call);
  std::vector<std::uint64_t> signature_;
  std::size_t words_ = 0;  ///< of signature_ that the last sign() wrote
  std::array<Entry, kEntries> entries_;
  std::size_t place_ = 0;  ///< of the call that find() was last asked for
};

}  // namespace isomer::core
