#include "ops/fp8_gemm/fp8_gemm.hpp"
#include "ops/fp8_gemm/oracle/oracle.hpp"

namespace isomer::ops::fp8_gemm {
namespace {

using oracle::Original;

GroupedFp8GemmArgs operands(oracle::Problem& problem, const std::vector<Tensor>& tensors, const Tensor& c,
                            DType made) {
  GroupedFp8GemmArgs args;
  args.a = tensors[0];
  args.a_s = tensors[1];
  args.b = tensors[2];
  args.b_s = tensors[3];
  args.c = c;
  if (!args.c.defined() && args.a.rank > 0 && args.b.rank > 1) {
    std::vector<std::int64_t> shape(args.a.shape.begin(), args.a.shape.begin() + args.a.rank);
    shape.back() = args.b.size(1);
    args.c = problem.make("c", made == DType::none ? DType::bf16 : made, shape);
  }
  return args;
}

std::vector<Original::Parameter> inputs() {
  return {
      {.name = "a", .argument = "a", .also = "A x lhs input a_ptr"},
      {.name = "a_s", .argument = "a_s", .also = "a_scale a_scales scale_a As lhs_scales sfa a_s_ptr"},
      {.name = "b", .argument = "b", .also = "B w rhs weight weights b_ptr"},
      {.name = "b_s", .argument = "b_s", .also = "b_scale b_scales scale_b Bs rhs_scales sfb b_s_ptr"},
  };
}

Original::Parameter output(bool returned) {
  return {.name = "c",
          .argument = "c",
          .output = true,
          .returned = returned,
          .field = "dtype",
          .also = "C out output d c_ptr y"};
}

const std::vector<std::vector<std::pair<std::string, DType>>> kUsual = {
    {{"dtype", DType::bf16}}, {{"dtype", DType::f32}}, {{"dtype", DType::f16}}};

/// Rows sorted by expert, and the expert of each row.
Original contiguous(bool returned) {
  Original original = {
      .op = "grouped_fp8_gemm",
      .functions = {"m_grouped_fp8_gemm_nt_contiguous", "grouped_fp8_gemm",
                    "m_grouped_gemm_fp8_fp8_bf16_nt_contiguous", "grouped_fp8_gemm_contiguous",
                    "fp8_grouped_gemm"},
      .parameters = inputs(),
      .bind =
          [returned](oracle::Problem& problem, const std::vector<Tensor>& t, const std::vector<double>&,
                     DType made) {
            auto& args = problem.args<GroupedFp8GemmArgs>();
            args = operands(problem, t, t[returned ? 5 : 4], made);
            args.expert_ids = t[returned ? 4 : 5];
            problem.bind(bind(args, problem.options<GroupedFp8GemmOptions>()));
          },
      .number = {},
      .probes = {"rows=contiguous g=3 r=3 n=132 k=256",
                 "rows=contiguous g=3 r=2 n=20 k=256 scales=signed counts=first_empty",
                 "rows=contiguous g=2 r=3 n=20 k=256 regime=subnormal counts=all",
                 "rows=contiguous g=2 r=2 n=20 k=256 regime=patterns counts=all",
                 "rows=contiguous g=2 r=130 n=8 k=136 counts=last_ragged",
                 "rows=contiguous g=4 r=2 n=12 k=256 counts=first_empty"},
      .sizes = {"rows=contiguous g=2 r=3 k=128 n="},
      .empties = {"rows=contiguous g=0 n=32 k=128"},
      .called_empty = true,
      .usual = kUsual,
      .larger = {"rows=contiguous g=2 r=2 n=20 k=7168", "rows=contiguous g=2 r=2 n=20 k=1024"}};
  original.parameters.push_back({.name = "m_indices",
                                 .argument = "expert_ids",
                                 .index = true,
                                 .also = "grouped_layout expert_ids group_ids indices expert_id"});
  original.parameters.insert(original.parameters.end() - (returned ? 0 : 1), output(returned));
  return original;
}

/// As many rows for each expert, of which the first row_counts are filled.
Original masked() {
  Original original = {
      .op = "grouped_fp8_gemm",
      .functions = {"m_grouped_fp8_gemm_nt_masked", "m_grouped_gemm_fp8_fp8_bf16_nt_masked",
                    "grouped_fp8_gemm_masked", "fp8_grouped_gemm_masked"},
      .parameters = inputs(),
      .bind =
          [](oracle::Problem& problem, const std::vector<Tensor>& t, const std::vector<double>&, DType made) {
            auto& args = problem.args<GroupedFp8GemmArgs>();
            args = operands(problem, t, t[4], made);
            args.row_counts = t[5];
            problem.bind(bind(args, problem.options<GroupedFp8GemmOptions>()));
          },
      .number =
          [](const core::Call& call, std::string_view) {
            return static_cast<double>(call.args<GroupedFp8GemmArgs>().a.size(1));
          },
      .probes = {"rows=masked g=3 r=5 n=132 k=256",
                 "rows=masked g=3 r=4 n=20 k=256 scales=signed counts=first_empty",
                 "rows=masked g=2 r=3 n=20 k=256 regime=subnormal",
                 "rows=masked g=2 r=2 n=20 k=256 regime=patterns counts=all",
                 "rows=masked g=2 r=3 n=20 k=200"},
      .sizes = {"rows=masked g=2 n=20 k=128 r=", "rows=masked g=2 r=3 k=128 n="},
      .empties = {"rows=masked g=0 n=32 k=128", "rows=masked r=0 n=32 k=128"},
      .called_empty = true,
      .usual = kUsual,
      .larger = {"rows=masked g=2 r=2 n=20 k=7168", "rows=masked g=2 r=2 n=20 k=1024"}};
  original.parameters.push_back(output(false));
  original.parameters.push_back({.name = "masked_m",
                                 .argument = "row_counts",
                                 .index = true,
                                 .also = "row_counts counts m_counts num_rows rows_per_expert"});
  // A hint for the choice of a variant: it changes no answer.
  original.parameters.push_back(
      {.name = "expected_m", .argument = "expected_m", .kind = Original::Kind::integer, .optional = true});
  return original;
}

}  // namespace

std::vector<oracle::Original> grouped_originals() { return {contiguous(false), contiguous(true), masked()}; }

}  // namespace isomer::ops::fp8_gemm
