#pragma once

#include <isomer/attention.hpp>

#include <ostream>
#include <vector>

namespace isomer {

/// A valid case, what is then done to its call, and the one sentence that must come of it.
struct BadCall {
  const char* name;
  const char* line;
  void (*spoil)(AttentionArgs&, AttentionOptions&);
  const char* sentence;
};
inline void PrintTo(const BadCall& call, std::ostream* out) { *out << call.name; }

/// Dtypes, shapes, strides, memory and options: what the host sees of any call.
const std::vector<BadCall>& calls_of_bad_form();
/// cu_seqlens, lengths, indices and page tables.
const std::vector<BadCall>& calls_of_bad_content();

}  // namespace isomer
