#include "ops/silu_mul_quant/oracle/oracle.hpp"
#include "ops/silu_mul_quant/silu_mul_quant.hpp"
#include "core/codec.hpp"
#include "oracle/open_blocks.hpp"

namespace isomer::ops::silu_mul_quant {
namespace {

using oracle::Original;

void bind_values(oracle::Problem& problem, const std::vector<Tensor>& tensors,
                 const std::vector<double>& numbers, DType) {
  auto& args = problem.args<SiluMulQuantArgs>();
  auto& options = problem.options<SiluMulQuantOptions>();
  if (numbers[1] != static_cast<double>(kBlock))
    throw Error(ErrorCode::bad_argument, "silu_mul_quant: group_size is expected to be 128");
  args.x = tensors[0];
  args.y = tensors[2];
  args.s = tensors[3];
  std::vector<std::int64_t> shape(args.x.shape.begin(), args.x.shape.begin() + args.x.rank);
  if (!shape.empty()) shape.back() /= 2;
  if (!args.y.defined()) args.y = problem.make("y", DType::e4m3fn, shape);
  if (!args.s.defined()) {
    if (!shape.empty()) shape.back() /= kBlock;
    args.s = problem.make("s", DType::f32, shape);
  }
  problem.bind(bind(args, options));
}

/// The two halves of x side by side in one.
Tensor joined(oracle::Problem& problem, const Tensor& first, const Tensor& second) {
  if (!first.defined() || !second.defined() || first.rank == 0 || first.rank != second.rank) return {};
  std::vector<std::int64_t> shape(first.shape.begin(), first.shape.begin() + first.rank);
  const std::int64_t length = shape.back();
  shape.back() *= 2;
  Tensor x = problem.make("x", first.dtype, shape);
  const std::vector<double> halves[] = {oracle::elements(first), oracle::elements(second)};
  if (halves[0].size() != halves[1].size()) return {};
  auto* bytes = static_cast<std::byte*>(x.data);
  const auto size = static_cast<std::size_t>(size_of(first.dtype)), row = static_cast<std::size_t>(length);
  for (std::size_t half = 0; half < 2; ++half)
    for (std::size_t i = 0; i < halves[half].size(); ++i)
      core::encode(first.dtype, halves[half][i], bytes + size * ((2 * (i / row) + half) * row + i % row));
  return x;
}

std::vector<std::vector<std::uint8_t>> open(const core::Call&, const oracle::Expected& plain) {
  return oracle::open_blocks(plain, [](std::size_t i) { return i / static_cast<std::size_t>(kBlock); });
}

Original original(bool returned) {
  return {
      .op = "silu_mul_quant",
      .functions = {"silu_mul_quant", "silu_and_mul_per_token_group_quant", "silu_and_mul_quant"},
      .parameters = {{.name = "x", .argument = "x", .field = "dtype", .also = "input in x_ptr src gate_up"},
                     {.name = "group_size",
                      .argument = "group_size",
                      .kind = Original::Kind::integer,
                      .optional = true,
                      .fallback = kBlock,
                      .also = "block block_size bs group"},
                     {.name = "y",
                      .argument = "y",
                      .output = true,
                      .returned = returned,
                      .also = "out output y_ptr q xq"},
                     {.name = "s",
                      .argument = "s",
                      .output = true,
                      .returned = returned,
                      .also = "scale scales s_ptr out_scale"}},
      .bind = bind_values,
      .number = [](const core::Call&, std::string_view) { return static_cast<double>(kBlock); },
      .probes = {"m=3 k=256", "m=4 k=384 regime=outlier", "m=3 k=256 scale=30", "m=3 k=256 scale=0.001",
                 "m=3 k=256 scale=1e-6", "m=4 k=256 regime=zero_rows", "m=4 k=256 regime=nan",
                 "m=4 k=256 regime=inf", "m=12 k=256 regime=ends"},
      .sizes = {"k=256 m="},
      .empties = {"m=0 k=256"},
      .usual = {{{"dtype", DType::bf16}}, {{"dtype", DType::f16}}, {{"dtype", DType::f32}}},
      .open = open,
      .scaling = {.output = 1, .largest = 448, .under_maximum = "floor=", .magnitudes = magnitudes},
      .larger = {"m=2 k=14336", "m=2 k=4096", "m=2 k=1024"}};
}

/// The same of a gate and of what it is multiplied with in memory of their own.
Original apart(bool returned) {
  Original halves = original(returned);
  halves.functions = {"silu_mul_quant_of_two", "swiglu_quant"};
  halves.parameters.erase(halves.parameters.begin());
  halves.parameters.insert(halves.parameters.begin(), {{.name = "gate",
                                                        .argument = "x",
                                                        .field = "dtype",
                                                        .also = "gate_ptr gate_proj gate_out g x_gate",
                                                        .half = 0,
                                                        .shape = "M W/2"},
                                                       {.name = "up",
                                                        .argument = "x",
                                                        .field = "dtype",
                                                        .also = "up_ptr up_proj up_out u x_up",
                                                        .half = 1,
                                                        .shape = "M W/2"}});
  halves.bind = [](oracle::Problem& problem, const std::vector<Tensor>& t, const std::vector<double>& numbers,
                   DType made) {
    bind_values(problem, {joined(problem, t[0], t[1]), Tensor(), t[3], t[4]}, {0, numbers[2], 0, 0}, made);
  };
  return halves;
}

}  // namespace

std::vector<Original> originals() {
  return {original(true), original(false), apart(true), apart(false)};
}

}  // namespace isomer::ops::silu_mul_quant
