#include "core/fields.hpp"
#include "core/public_plan.hpp"
#include "ops/merge_attention/merge_attention.hpp"

namespace isomer::ops::merge_attention {

const core::Contract& contract() {
  using Args = MergeAttentionArgs;
  using CArgs = isomer_merge_attention_args;
  static const core::Contract contract = [] {
    const std::vector<DType> floats = {DType::f32, DType::f16, DType::bf16};
    core::Contract c;
    c.op = "merge_attention";
    c.summary =
        "attention over two disjoint key sets from the results over each: out = Σ e^(lse_i − lse)·out_i, "
        "lse = ln Σ e^lse_i";
    c.source =
        "the combine of FlashAttention-3's splits; a part with lse −inf weighs nothing, two give out 0, lse "
        "−inf";
    c.args = core::args<Args, CArgs>(
        core::tensor<&Args::out_a, &CArgs::out_a>(
            {.dtypes = floats, .shapes = {"... H Dv"}, .meaning = "result over the first keys"}),
        core::tensor<&Args::lse_a, &CArgs::lse_a>({.dtypes = {DType::f32},
                                                   .shapes = {"... H"},
                                                   .strides = core::Strides::any,
                                                   .meaning = "its natural-log softmax denominator"}),
        core::tensor<&Args::out_b, &CArgs::out_b>({.dtypes = floats,
                                                   .shapes = {"... H Dv"},
                                                   .meaning = "result over the other keys",
                                                   .dtype_same_as = "out_a"}),
        core::tensor<&Args::lse_b, &CArgs::lse_b>({.dtypes = {DType::f32},
                                                   .shapes = {"... H"},
                                                   .strides = core::Strides::any,
                                                   .meaning = "its natural-log softmax denominator"}),
        core::tensor<&Args::out, &CArgs::out>({.role = core::Role::out,
                                               .dtypes = floats,
                                               .shapes = {"... H Dv"},
                                               .meaning = "result over all keys",
                                               .may_alias = "out_a"}),
        core::tensor<&Args::lse, &CArgs::lse>({.role = core::Role::out,
                                               .optional = true,
                                               .dtypes = {DType::f32},
                                               .shapes = {"... H"},
                                               .strides = core::Strides::any,
                                               .meaning = "natural-log softmax denominator over all keys",
                                               .may_alias = "lse_a"}));
    c.options = core::options<MergeAttentionOptions, isomer_merge_attention_options>();
    c.tolerance =
        "out: u_out·|ref| + 2^-24·Σw|out_i| + 2^-20·max(1, max|lse_i|)·Σw|out_i|, w the normalised weights; "
        "lse: 2^-24·|ref| + 2^-20·max(1, max|lse_i|)";
    c.work = [](const core::Call& call) {
      core::Work work{.flops = 3.0 * static_cast<double>(call.tensor(0).numel())};
      for (int i = 0; i < call.count; ++i) work.bytes += core::bytes_of(call.tensor(i));
      return work;
    };
    return core::finish(std::move(c));
  }();
  return contract;
}

core::Call bind(const MergeAttentionArgs& a, const MergeAttentionOptions& options) {
  return core::bind(contract(), a, options);
}

}  // namespace isomer::ops::merge_attention

namespace isomer {

void merge_attention(const Queue& queue, const MergeAttentionArgs& args,
                     const MergeAttentionOptions& options) {
  core::dispatch(queue, ops::merge_attention::bind(args, options));
}

Explanation explain(const Queue& queue, const MergeAttentionArgs& args,
                    const MergeAttentionOptions& options) {
  return core::explain(queue, ops::merge_attention::bind(args, options));
}

Plan<MergeAttentionArgs> plan(const Queue& queue, const MergeAttentionArgs& args, const MergeAttentionOptions& options) {
  return core::PlanAccess::make_for<MergeAttentionArgs>(queue, ops::merge_attention::bind(args, options));
}

}  // namespace isomer
