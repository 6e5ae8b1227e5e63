#pragma once

#include <isomer/fp8_gemm.hpp>
#include <isomer/fp8_linear.hpp>

#include "core/expert_rows.hpp"
#include "core/registry.hpp"

#include <cstdint>

namespace isomer::ops::fp8_gemm {

/// Columns of a and b under one scale, and rows of b under one scale.
inline constexpr std::int64_t kScaleBlock = 128;
/// Rows at whose multiples the segments of the contiguous layout begin.
inline constexpr std::int64_t kSegment = core::kExpertSegment;

const core::Contract& contract();
core::Call bind(const Fp8GemmArgs& args, const Fp8GemmOptions& options);
std::vector<std::unique_ptr<const core::Implementation>> cpu();
std::vector<std::unique_ptr<const core::Implementation>> gpu();

const core::Contract& grouped_contract();
core::Call bind(const GroupedFp8GemmArgs& args, const GroupedFp8GemmOptions& options);
std::vector<std::unique_ptr<const core::Implementation>> grouped_cpu();
std::vector<std::unique_ptr<const core::Implementation>> grouped_gpu();

const core::Contract& linear_contract();
core::Call bind(const Fp8LinearArgs& args, const Fp8LinearOptions& options);
/// The sentence where a promise of b is none.
std::optional<std::string> broken_b_ready(std::int64_t b_ready);
/// What a product of Fp8GemmArgs or Fp8LinearArgs reads, writes and multiplies.
template <class Args>
core::Work work_of(const core::Call& call) {
  core::Work work;
  for (int i = 0; i < call.count; ++i) work.bytes += core::bytes_of(call.tensor(i));
  const auto& args = call.args<Args>();
  work.flops = 2.0 * static_cast<double>(args.c.numel()) * static_cast<double>(args.b.size(1));
  return work;
}
/// One for each implementation of fp8_gemm that `registry` has, with its name, in two launches. The registry
/// keeps what they are made of.
std::vector<std::unique_ptr<const core::Implementation>> linear_implementations(
    const core::Registry& registry);

}  // namespace isomer::ops::fp8_gemm
