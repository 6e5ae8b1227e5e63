#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string_view>
#include <vector>

namespace isomer::lab {

/// What a finding says, in the order in which faults are best fixed: what stops everything else from being
/// seen comes first, then what a fix of later ones would have to be done again for. What is said of tests and
/// instructions is last. `none`: nothing is found.
enum class Code : std::uint8_t {
  none,
  does_not_compile,
  symbol_name,
  argument_count,
  argument_order,
  result_order,
  result_dtype,
  keyword_name,
  argument_default,
  argument_kind,
  dtype_refused,
  dtype_reinterpreted,
  rank_refused,
  shape_refused,
  layout_convention,
  timeout,
  assertion,
  crash,
  resource_limit,
  launch_failed,
  host_touches_device_memory,
  ignores_index,
  out_of_bounds_write,
  out_of_bounds_read,
  missing_barrier,
  race,
  warp_size,
  uninitialised_read,
  writes_input,
  assumes_contiguous,
  ignores_offset,
  ignores_argument,
  tail_mask,
  unwritten_output,
  empty_input,
  stale_state,
  wrong_stream,
  mask_alignment,
  head_mapping,
  inverted_condition,
  tie_rule,
  off_by_one,
  missing_scale,
  missing_term,
  other_reduction,
  log_base,
  missing_max_subtraction,
  missing_rescale,
  missing_absolute,
  rounding_mode,
  scale_precision,
  approximation,
  intermediate_precision,
  reciprocal_multiply,
  clamp,
  saturation,
  zero_guard,
  epsilon,
  nan_inf,
  index_overflow,
  no_kernel,
  library_call,
  nondeterministic,
  slow,
  wrong_expression,
  unexplained,
  convention,
  benign_race,
  suspicious,
  nothing_compared,
  output_not_compared,
  weak_input,
  duplicate_index,
  index_out_of_range,
  undefined_result,
  unseeded,
  contradicts_label
};

/// "out-of-bounds-read"; empty of `none`.
const char* name_of(Code code);
/// One line on what a code means; empty of `none`.
const char* meaning_of(Code code);
/// The code of that name; nothing where there is none.
std::optional<Code> code_named(std::string_view name);
/// Every code there is but `none`, in their order.
const std::vector<Code>& finding_codes();

std::ostream& operator<<(std::ostream& out, Code code);

}  // namespace isomer::lab
