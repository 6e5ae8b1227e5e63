#pragma once

#include "core/plan.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace isomer::core {

/// The plans of the latest calls of one thread on devices that work on their own, where planning anew would
/// cost more than the launch. A plan is found again for a call of the same op on the same queue with the same
/// options, and tensors that have the same dtypes, shapes, strides and alignment; what depends on the
/// addresses themselves is validated at every call.
class PlanCache {
 public:
  struct Entry {
    std::vector<std::uint64_t> signature;
    const Implementation* implementation = nullptr;
    std::shared_ptr<const Plan> plan;
  };

  static PlanCache& of_this_thread();

  /// Null where there is none, or where calls on this queue are not kept.
  const Entry* find(const Queue& queue, const Call& call);
  /// Keeps the plan of the call that find() was last asked for.
  void keep(const Implementation& implementation, std::shared_ptr<const Plan> plan);

 private:
  static constexpr std::size_t kEntries = 128;
  void sign(const Queue& queue, const Call& call);
  std::vector<std::uint64_t> signature_;
  std::array<Entry, kEntries> entries_;
  std::size_t place_ = kEntries;  ///< of the call that find() was last asked for
};

}  // namespace isomer::core
