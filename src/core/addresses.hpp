#pragma once

#include "core/contract.hpp"

#include <cstdint>
#include <vector>

namespace isomer::core {

/// What must hold of the addresses of a call's tensors, where everything else of the call is known: computed
/// once from a valid call, asked for each one of the same dtypes, shapes, strides and devices.
class Addresses {
 public:
  explicit Addresses(const Call& call);
  /// Throws Error bad_argument as validate() does: null data, alignment, overlaps.
  void check(const Call& call, Device device) const;

 private:
  /// The bytes [data + low, data + high) of a tensor that has elements.
  struct Reach {
    int tensor;
    std::uintptr_t misaligned;  ///< bits of an address that must be zero
    std::int64_t low, high;
  };
  /// Two tensors of which one is written.
  struct Pair {
    std::uint8_t first, second;  ///< in reaches_
    bool may_be_same;            ///< they have one layout, and the contract allows one view for both
  };
  std::vector<Reach> reaches_;
  std::vector<Pair> pairs_;
};

}  // namespace isomer::core
