#pragma once

#include <isomer/tensor.hpp>

#include <cstdint>
#include <optional>
#include <string>

/// What every op says of rows that belong to experts, by an id for each row of one matrix (contiguous), or by
/// a count for each expert's own (masked). Each gives the sentence of what is broken, or nothing. A tensor
/// that is undefined breaks nothing.
namespace isomer::core {

/// Rows of one expert begin at a multiple of this.
inline constexpr std::int64_t kExpertSegment = 128;

/// Exactly one of the two is given.
std::optional<std::string> broken_expert_layout(const Tensor& expert_ids, const Tensor& row_counts);
/// Each id is in [-1, experts).
std::optional<std::string> broken_expert_ids(const Tensor& expert_ids, std::int64_t experts);
/// Rows are sorted by expert, segments begin at multiples of 128, and padding fills the rest.
std::optional<std::string> broken_expert_segments(const Tensor& expert_ids);
/// Each count is in [0, capacity].
std::optional<std::string> broken_row_counts(const Tensor& row_counts, std::int64_t capacity);

/// Rows that belong to an expert, of `rows` in all; all of them where the numbers lie on a device.
std::int64_t rows_of_experts(const Tensor& expert_ids, const Tensor& row_counts, std::int64_t rows);

}  // namespace isomer::core
