#include "core/expert_rows.hpp"
#include "core/fields.hpp"
#include "core/public_plan.hpp"
#include "core/sentence.hpp"
#include "ops/fp8_gemm/fp8_gemm.hpp"

#include <algorithm>

namespace isomer::ops::fp8_gemm {
namespace {

using core::Call;
using core::say;
using Broken = std::optional<std::string>;

Broken one_layout(const Call& call) {
  const auto& args = call.args<GroupedFp8GemmArgs>();
  return core::broken_expert_layout(args.expert_ids, args.row_counts);
}

Broken ranks_fit(const Call& call) {
  const auto& args = call.args<GroupedFp8GemmArgs>();
  const bool masked = args.row_counts.defined();
  const std::pair<const char*, const Tensor*> of_rows[] = {
      {"a", &args.a}, {"a_s", &args.a_s}, {"c", &args.c}, {"addend", &args.addend}};
  for (const auto& [name, tensor] : of_rows)
    if (tensor->defined() && tensor->rank != (masked ? 3 : 2))
      return say(name, " has rank ", tensor->rank, ", expected ",
                 masked ? "3 ([G, R, ...]) with row_counts" : "2 ([M, ...]) with expert_ids");
  return {};
}

Broken ids_in_range(const Call& call) {
  const auto& args = call.args<GroupedFp8GemmArgs>();
  return core::broken_expert_ids(args.expert_ids, args.b.size(0));
}

Broken segments_are_aligned(const Call& call) {
  return core::broken_expert_segments(call.args<GroupedFp8GemmArgs>().expert_ids);
}

Broken counts_in_range(const Call& call) {
  const auto& args = call.args<GroupedFp8GemmArgs>();
  return args.row_counts.defined() ? core::broken_row_counts(args.row_counts, args.a.size(1)) : Broken();
}

/// Rows that are multiplied; all of them where their number lies on a device.
std::int64_t rows_computed(const GroupedFp8GemmArgs& args) {
  return core::rows_of_experts(args.expert_ids, args.row_counts,
                               args.c.numel() / std::max<std::int64_t>(args.c.size(-1), 1));
}

}  // namespace

const core::Contract& grouped_contract() {
  using Args = GroupedFp8GemmArgs;
  using CArgs = isomer_grouped_fp8_gemm_args;
  static const core::Contract contract = core::finish({
      .op = "grouped_fp8_gemm",
      .summary = "fp8_gemm of every row with the weights of its expert",
      .source = "DeepGEMM m_grouped_fp8_gemm_nt_contiguous and m_grouped_fp8_gemm_nt_masked",
      .args = core::args<Args, CArgs>(
          core::tensor<&Args::a, &CArgs::a>(
              {.dtypes = {DType::e4m3fn},
               .shapes = {"M K", "G R K"},
               .meaning = "rows of all experts, or with row_counts R rows for each expert"}),
          core::tensor<&Args::a_s, &CArgs::a_s>(
              {.dtypes = {DType::f32},
               .shapes = {"M ceil(K/128)", "G R ceil(K/128)"},
               .strides = core::Strides::any,
               .meaning = "scale per row and 128 columns of a, row- or column-major"}),
          core::tensor<&Args::b, &CArgs::b>(
              {.dtypes = {DType::e4m3fn}, .shapes = {"G N K"}, .meaning = "weights of each expert"}),
          core::tensor<&Args::b_s, &CArgs::b_s>({.dtypes = {DType::f32},
                                                 .shapes = {"G ceil(N/128) ceil(K/128)"},
                                                 .strides = core::Strides::any,
                                                 .meaning = "scale per 128x128 block of b"}),
          core::tensor<&Args::c, &CArgs::c>(
              {.role = core::Role::out,
               .dtypes = {DType::f32, DType::f16, DType::bf16},
               .shapes = {"M N", "G R N"},
               .meaning = "product; padding rows become 0, rows past a count stay untouched",
               .may_alias = "addend"}),
          core::tensor<&Args::expert_ids, &CArgs::expert_ids>(
              {.optional = true,
               .dtypes = {DType::i32},
               .shapes = {"M"},
               .strides = core::Strides::any,
               .meaning =
                   "expert of each row, ascending, segments at multiples of 128; -1 is a padding row"}),
          core::tensor<&Args::row_counts, &CArgs::row_counts>({.optional = true,
                                                               .dtypes = {DType::i32},
                                                               .shapes = {"G"},
                                                               .strides = core::Strides::any,
                                                               .meaning = "rows that each expert has"}),
          core::tensor<&Args::bias, &CArgs::bias>({.optional = true,
                                                   .dtypes = {DType::f32, DType::f16, DType::bf16},
                                                   .shapes = {"G N"},
                                                   .strides = core::Strides::any,
                                                   .meaning = "added to every row of its expert in f32"}),
          core::tensor<&Args::addend, &CArgs::addend>({.optional = true,
                                                       .dtypes = {DType::f32, DType::f16, DType::bf16},
                                                       .shapes = {"M N", "G R N"},
                                                       .meaning = "added to the product in f32",
                                                       .dtype_same_as = "c"})),
      .options = core::options<GroupedFp8GemmOptions, isomer_grouped_fp8_gemm_options>(),
      .clauses =
          {{.text = "exactly one of expert_ids and row_counts is given", .broken = one_layout},
           {.text = "a, a_s, c and addend have rank 2 with expert_ids, rank 3 with row_counts",
            .broken = ranks_fit},
           {.text = "expert_ids are in [-1, G)", .broken = ids_in_range, .reads_data = true},
           {.text =
                "rows are sorted by expert, segments begin at multiples of 128, and padding fills the rest",
            .broken = segments_are_aligned,
            .reads_data = true},
           {.text = "row_counts are in [0, R]", .broken = counts_in_range, .reads_data = true}},
      .tolerance = "that of fp8_gemm",
      .work =
          [](const core::Call& call) {
            core::Work work;
            for (int i = 0; i < call.count; ++i) work.bytes += core::bytes_of(call.tensor(i));
            const auto& args = call.args<GroupedFp8GemmArgs>();
            work.flops = 2.0 * static_cast<double>(rows_computed(args)) *
                         static_cast<double>(args.b.size(1)) * static_cast<double>(args.b.size(2));
            return work;
          },
  });
  return contract;
}

core::Call bind(const GroupedFp8GemmArgs& args, const GroupedFp8GemmOptions& options) {
  return core::bind(grouped_contract(), args, options);
}

}  // namespace isomer::ops::fp8_gemm

namespace isomer {

void grouped_fp8_gemm(const Queue& queue, const GroupedFp8GemmArgs& args,
                      const GroupedFp8GemmOptions& options) {
  core::dispatch(queue, ops::fp8_gemm::bind(args, options));
}

Explanation explain(const Queue& queue, const GroupedFp8GemmArgs& args,
                    const GroupedFp8GemmOptions& options) {
  return core::explain(queue, ops::fp8_gemm::bind(args, options));
}

Plan<GroupedFp8GemmArgs> plan(const Queue& queue, const GroupedFp8GemmArgs& args,
                              const GroupedFp8GemmOptions& options) {
  return core::PlanAccess::make_for<GroupedFp8GemmArgs>(queue, ops::fp8_gemm::bind(args, options));
}

}  // namespace isomer
