#include "core/expert_rows.hpp"

#include "core/sentence.hpp"

namespace isomer::core {

std::optional<std::string> broken_expert_layout(const Tensor& expert_ids, const Tensor& row_counts) {
  if (expert_ids.defined() == row_counts.defined())
    return say(
        expert_ids.defined() ? "both" : "neither",
        " of expert_ids and row_counts given, expected exactly one: expert_ids for rows sorted by expert, "
        "row_counts for one matrix per expert");
  return {};
}

std::optional<std::string> broken_expert_ids(const Tensor& expert_ids, std::int64_t experts) {
  if (!expert_ids.defined()) return {};
  for (std::int64_t m = 0; m < expert_ids.numel(); ++m)
    if (const std::int32_t id = *expert_ids.at<std::int32_t>(m); id < -1 || id >= experts)
      return say("expert_ids[", m, "] is ", id, ", expected -1 or an expert in [0, ", experts, ")");
  return {};
}

std::optional<std::string> broken_expert_segments(const Tensor& expert_ids) {
  if (!expert_ids.defined()) return {};
  std::int32_t expert = -1;  // of the last row that is not padding
  bool padding = true;       // whether the row before is padding
  for (std::int64_t m = 0; m < expert_ids.numel(); ++m) {
    const std::int32_t id = *expert_ids.at<std::int32_t>(m);
    const bool begins_block = m % kExpertSegment == 0;
    if (id >= 0 && id < expert)
      return say("expert_ids[", m, "] is ", id, " after ", expert, ", expected rows sorted by expert");
    if (id >= 0 && id != expert && !begins_block)
      return say("the segment of expert ", id, " begins at row ", m, ", expected a multiple of ",
                 kExpertSegment, " (pad the segment before it with -1)");
    if (id >= 0 && padding && !begins_block)
      return say("expert_ids[", m, "] is ", id,
                 " after padding, expected padding to last up to a multiple of ", kExpertSegment);
    padding = id < 0;
    if (id >= 0) expert = id;
  }
  return {};
}

std::optional<std::string> broken_row_counts(const Tensor& row_counts, std::int64_t capacity) {
  if (!row_counts.defined()) return {};
  for (std::int64_t g = 0; g < row_counts.numel(); ++g)
    if (const std::int32_t count = *row_counts.at<std::int32_t>(g); count < 0 || count > capacity)
      return say("row_counts[", g, "] is ", count, ", expected a count in [0, ", capacity, "]");
  return {};
}

std::int64_t rows_of_experts(const Tensor& expert_ids, const Tensor& row_counts, std::int64_t rows) {
  const Tensor& source = row_counts.defined() ? row_counts : expert_ids;
  if (source.device.type != DeviceType::cpu) return rows;
  std::int64_t counted = 0;
  for (std::int64_t i = 0; i < source.numel(); ++i) {
    const std::int32_t value = *source.at<std::int32_t>(i);
    counted += row_counts.defined() ? value : value >= 0;
  }
  return counted;
}

}  // namespace isomer::core
