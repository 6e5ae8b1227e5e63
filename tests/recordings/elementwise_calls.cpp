#include "replay.hpp"

#include "ops/act_quant/act_quant.hpp"
#include "ops/fp8_gemm/fp8_gemm.hpp"
#include "ops/quantize_copy_kv/quantize_copy_kv.hpp"
#include "ops/sin/sin.hpp"
#include "ops/weight_dequant/weight_dequant.hpp"

#include <stdexcept>

namespace isomer::recordings {

std::vector<Replay> sin_calls(Parts& parts) {
  return {parts.make("sin", ops::sin::bind, SinArgs{.x = parts.input("x"), .y = parts.output("y")}, {})};
}

std::vector<Replay> act_quant_calls(Parts& parts) {
  ActQuantOptions options;
  options.block_size = parts.option("block_size", options.block_size);
  options.amax_floor = parts.option("amax_floor", options.amax_floor);
  const std::string format = parts.option<std::string>("scale_format", "f32");
  if (format != "f32" && format != "ue8m0") throw std::runtime_error("unknown scale_format " + format);
  options.scale_format = format == "ue8m0" ? ScaleFormat::ue8m0 : ScaleFormat::f32;
  const ActQuantArgs args{.x = parts.input("x"), .y = parts.output("y"), .s = parts.output("s")};
  Replay replay = parts.make("act_quant", ops::act_quant::bind, args, options);
  replay.outputs[0].quotient = [args, options](const oracle::Expected& expected, std::size_t i) {
    const oracle::ExpectedTensor& s = expected.tensors[1];
    const auto scale = static_cast<float>(s.value[i / static_cast<std::size_t>(options.block_size)]);
    return static_cast<double>(static_cast<float>(oracle::element(args.x, i)) / scale);
  };
  return {replay};
}

std::vector<Replay> weight_dequant_calls(Parts& parts) {
  WeightDequantOptions options;
  options.block_size = parts.option("block_size", options.block_size);
  return {parts.make("weight_dequant", ops::weight_dequant::bind,
                     WeightDequantArgs{.x = parts.input("x"), .s = parts.input("s"), .y = parts.output("y")},
                     options)};
}

std::vector<Replay> fp8_gemm_calls(Parts& parts) {
  const Fp8GemmArgs args{.a = parts.input("a"),
                         .a_s = parts.input("a_s"),
                         .b = parts.input("b"),
                         .b_s = parts.input("b_s"),
                         .c = parts.output("c"),
                         .bias = {},
                         .addend = {}};
  return {parts.make<Fp8GemmArgs, Fp8GemmOptions>("fp8_gemm", ops::fp8_gemm::bind, args, {})};
}

std::vector<Replay> quantize_copy_kv_calls(Parts& parts) {
  QuantizeCopyKvOptions options;
  options.group = parts.option("group", options.group);
  return {parts.make("quantize_copy_kv", ops::quantize_copy_kv::bind,
                     QuantizeCopyKvArgs{.k = parts.input("k"),
                                        .dest = parts.input("dest"),
                                        .out = parts.output("out"),
                                        .out_scale = parts.output("out_scale")},
                     options)};
}

}  // namespace isomer::recordings
