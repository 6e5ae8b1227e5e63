#include "ops/attention/attention.hpp"

namespace isomer::ops::attention {

const core::Contract& merge_contract() {
  const std::vector<DType> elements = {DType::f32, DType::f16, DType::bf16};
  const auto lse = [](const char* name, const char* meaning) {
    return core::Arg{.name = name,
                     .dtypes = {DType::f32},
                     .shapes = {"... H"},
                     .strides = core::Strides::any,
                     .meaning = meaning};
  };
  const auto out = [&](const char* name, const char* meaning) {
    return core::Arg{.name = name,
                     .dtypes = elements,
                     .shapes = {"... H Dv"},
                     .meaning = meaning,
                     .dtype_same_as = "out_a"};
  };
  static const core::Contract contract = [&] {
    core::Contract c{
        .op = "merge_attention",
        .summary =
            "attention over the union of two disjoint key sets: w = exp(lse_x − lse), out = w_a·out_a + "
            "w_b·out_b",
        .source = "the combine of FlashAttention-3 (hopper/), for two parts",
        .args = {out("out_a", "result over the first keys"), lse("lse_a", "its lse"),
                 out("out_b", "result over the other keys"), lse("lse_b", "its lse"),
                 out("out", "result over all"), lse("lse", "lse over all")},
        .tolerance = "u_out·|ref| + 2^-20·max(1, max|lse|)·(w_a·|out_a| + w_b·|out_b|)",
        .work =
            [](const core::Call& call) {
              core::Work sum;
              for (int i = 0; i < call.count; ++i)
                if (call.tensor(i).defined()) sum.bytes += core::bytes_of(call.tensor(i));
              sum.flops = 3 * static_cast<double>(call.tensor(0).numel());
              return sum;
            },
    };
    c.args[0].dtype_same_as.clear();
    c.args[4].role = core::Role::out;
    c.args[4].may_alias = "out_a";
    c.args[5].role = core::Role::out;
    c.args[5].may_alias = "lse_a";
    c.args[5].optional = true;
    return core::finish(std::move(c));
  }();
  return contract;
}

core::Call bind(const MergeAttentionArgs& a, const MergeAttentionOptions& options) {
  return core::bind(merge_contract(), a, options, {&a.out_a, &a.lse_a, &a.out_b, &a.lse_b, &a.out, &a.lse});
}

}  // namespace isomer::ops::attention

namespace isomer {

void merge_attention(const Queue& queue, const MergeAttentionArgs& args,
                     const MergeAttentionOptions& options) {
  core::dispatch(queue, ops::attention::bind(args, options));
}

}  // namespace isomer
