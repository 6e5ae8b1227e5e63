#pragma once

#include "core/contract.hpp"

#include <cstddef>
#include <vector>

namespace isomer::core {

/// A call with an args struct of its own, whose tensors may be made to lie elsewhere.
class CallCopy {
 public:
  explicit CallCopy(const Call& call);
  CallCopy(const CallCopy&) = delete;
  CallCopy& operator=(const CallCopy&) = delete;

  const Call& call() const { return call_; }
  /// The copy's tensor i, in the contract's order; it may be undefined.
  Tensor& tensor(int i) { return const_cast<Tensor&>(call_.tensor(i)); }

 private:
  std::vector<std::byte> args_;
  Call call_;
};

}  // namespace isomer::core
