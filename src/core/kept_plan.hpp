#pragma once

#include "core/addresses.hpp"
#include "core/plan.hpp"

#include <memory>
#include <utility>

namespace isomer::core {

/// The call has integer tensors: lengths, tables, indices.
inline bool indices_in(const Call& call) {
  for (int i = 0; i < call.count; ++i)
    if (const DType type = call.tensor(i).dtype; type == DType::i32 || type == DType::i64) return true;
  return false;
}

/// A plan that was made for one valid call, for every later call that differs from it in addresses alone.
struct KeptPlan {
  KeptPlan(const Implementation& of, std::unique_ptr<const Plan> made, const Call& call)
      : implementation(&of), plan(std::move(made)), addresses(call), has_indices(indices_in(call)) {}

  const Implementation* implementation;
  std::unique_ptr<const Plan> plan;
  Addresses addresses;
  bool has_indices;  ///< integer tensors: the clauses that read contents read nothing else
};

}  // namespace isomer::core
