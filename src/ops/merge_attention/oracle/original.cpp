#include "ops/merge_attention/merge_attention.hpp"
#include "ops/merge_attention/oracle/oracle.hpp"

namespace isomer::ops::merge_attention {
namespace {

using oracle::Original;

/// `lse`: gives the logarithm of both sums as well.
Original original(bool returned, bool lse) {
  Original original = {
      .op = "merge_attention",
      .functions = {"merge_attention", "merge_attn_states", "merge_state"},
      .parameters = {{.name = "out_a", .argument = "out_a", .field = "dtype", .also = "a v_a prefix_output"},
                     {.name = "lse_a", .argument = "lse_a", .also = "s_a prefix_lse"},
                     {.name = "out_b", .argument = "out_b", .field = "dtype", .also = "b v_b suffix_output"},
                     {.name = "lse_b", .argument = "lse_b", .also = "s_b suffix_lse"},
                     {.name = "out", .argument = "out", .output = true, .returned = returned, .field = "out"},
                     {.name = "lse", .argument = "lse", .output = true, .returned = returned}},
      .bind =
          [](oracle::Problem& problem, const std::vector<Tensor>& t, const std::vector<double>&, DType) {
            auto& args = problem.args<MergeAttentionArgs>();
            args = {t[0], t[1], t[2], t[3], t[4], t.size() > 5 ? t[5] : Tensor()};
            const auto shape_of = [](const Tensor& tensor) {
              return std::vector<std::int64_t>(tensor.shape.begin(), tensor.shape.begin() + tensor.rank);
            };
            if (!args.out.defined()) args.out = problem.make("out", args.out_a.dtype, shape_of(args.out_a));
            if (t.size() > 5 && !args.lse.defined())
              args.lse = problem.make("lse", DType::f32, shape_of(args.lse_a));
            problem.bind(bind(args, problem.options<MergeAttentionOptions>()));
          },
      .number = {},
      .probes = {"shape=shd s=4 h=3 d=16 lse_layout=contiguous",
                 "shape=shd s=4 h=3 d=16 lse_layout=contiguous lse_scale=4",
                 "shape=shd s=4 h=3 d=16 lse_layout=contiguous lse_scale=100",
                 "shape=shd s=4 h=2 d=16 lse_layout=contiguous lse_shift=200",
                 "shape=shd s=6 h=2 d=16 lse_layout=contiguous weightless=some"},
      .sizes = {"shape=shd h=1 d=16 lse_layout=contiguous s="},
      .empties = {"shape=shd s=0 d=16 lse_layout=contiguous"},
      .usual = {{{"dtype", DType::f32}, {"out", DType::f32}},
                {{"dtype", DType::f16}, {"out", DType::f16}},
                {{"dtype", DType::bf16}, {"out", DType::bf16}}},
      .larger = {"shape=shd s=3 h=2 d=128 lse_layout=contiguous",
                 "shape=shd s=3 h=2 d=64 lse_layout=contiguous",
                 "shape=shd s=3 h=2 d=80 lse_layout=contiguous",
                 "shape=shd s=3 h=32 d=16 lse_layout=contiguous"},
      .seldom = {"shape=shd s=3 h=2 d=256 lse_layout=contiguous"}};
  if (lse) return original;
  original.parameters.pop_back();
  for (std::vector<std::string>* lines : original.all_lines())
    for (std::string& line : *lines) line = "lse=absent " + line;
  return original;
}

}  // namespace

std::vector<Original> originals() {
  return {original(true, true), original(false, true), original(true, false), original(false, false)};
}

}  // namespace isomer::ops::merge_attention
