#pragma once

#include "core/contract.hpp"

#include <vector>

namespace isomer::ops::attention {

/// What dtypes, shapes and options must satisfy beyond the declared ones.
std::vector<core::Clause> form_clauses();
/// What the contents of cu_seqlens, lengths, indices and page tables must satisfy. Each trusts the ones
/// before it.
std::vector<core::Clause> content_clauses();

}  // namespace isomer::ops::attention
