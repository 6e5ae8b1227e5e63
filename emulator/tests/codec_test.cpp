// The emulated device's small floating types against the project's own codecs: every code decoded, and every
// code's value, its neighbours and the midpoints between codes encoded.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/codec.hpp"
#include "isomer/emulator/module.hpp"

namespace isomer::emulator::tests {
namespace {

const Module& module() {
  static const Module m = Module::build({.sources = {std::string(ISOMER_EMULATOR_KERNELS) + "/atomics.cu"}});
  return m;
}

double core_value(DType type, std::uint32_t code) {
  const std::uint16_t wide = static_cast<std::uint16_t>(code);
  return core::decode(type, &wide);
}

std::uint32_t core_code(DType type, double value, core::Overflow overflow, std::size_t bytes) {
  std::uint16_t wide = 0;
  core::encode(type, value, &wide, overflow);
  return bytes == 1 ? wide & 0xff : wide;
}

void expect_same(double ours, double core, std::uint32_t code, const char* what) {
  if (std::isnan(core)) {
    EXPECT_TRUE(std::isnan(ours)) << what << " code " << code;
  } else {
    EXPECT_EQ(ours, core) << what << " code " << code;
    EXPECT_EQ(std::signbit(ours), std::signbit(core)) << what << " code " << code;
  }
}

std::vector<float> decoded(const char* kernel, unsigned codes, const std::vector<Argument>& more = {}) {
  std::vector<float> out(codes);
  std::vector<Argument> arguments{Argument::output("out", out)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const RunResult r = module().launch(kernel, {{codes / 256, 1, 1}, {256, 1, 1}}, arguments);
  EXPECT_TRUE(r.ok()) << r.failure;
  return out;
}

// Around every finite code: its value, the floats beside it, the midpoint to the next code and the floats
// beside that.
std::vector<float> probes(DType type, unsigned codes) {
  std::vector<float> values = {0.0f,    -0.0f,  HUGE_VALF, -HUGE_VALF, std::nanf(""), 1e-45f,
                               -1e-45f, 3e38f,  -3e38f,    1e30f,      1e6f,          500.0f,
                               448.1f,  464.0f, 465.0f,    65519.0f,   65520.0f};
  const auto around = [&](double v) {
    const float f = static_cast<float>(v);
    values.insert(values.end(), {f, std::nextafterf(f, HUGE_VALF), std::nextafterf(f, -HUGE_VALF)});
  };
  for (std::uint32_t c = 0; c < codes; ++c) {
    const double v = core_value(type, c);
    if (!std::isfinite(v)) continue;
    around(v);
    if (c + 1 < codes && std::isfinite(core_value(type, c + 1))) around((v + core_value(type, c + 1)) / 2);
  }
  return values;
}

template <class Code>
void expect_encodes(DType type, const char* kernel, const std::vector<float>& in, core::Overflow overflow,
                    const std::vector<Argument>& more) {
  std::vector<Code> out(in.size());
  std::vector<Argument> arguments{Argument::input("in", in), Argument::output("out", out),
                                  Argument::value(static_cast<int>(in.size()))};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const unsigned blocks = static_cast<unsigned>((in.size() + 255) / 256);
  const RunResult r = module().launch(kernel, {{blocks, 1, 1}, {256, 1, 1}}, arguments);
  ASSERT_TRUE(r.ok()) << r.failure;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::uint32_t expected = core_code(type, in[i], overflow, sizeof(Code));
    if (std::isnan(core_value(type, expected))) {
      EXPECT_TRUE(std::isnan(core_value(type, out[i]))) << kernel << " of " << in[i];
    } else {
      ASSERT_EQ(out[i], expected) << kernel << " of " << in[i];
    }
  }
}

TEST(Codecs, SixteenBitTypesDecodeAndEncodeAsTheProjectsOwn) {
  const std::vector<float> half = decoded("decode_f16", 65536), bf16 = decoded("decode_bf16", 65536);
  for (std::uint32_t c = 0; c < 65536; ++c) {
    expect_same(half[c], core_value(DType::f16, c), c, "f16");
    expect_same(bf16[c], core_value(DType::bf16, c), c, "bf16");
  }
  expect_encodes<std::uint16_t>(DType::f16, "encode_f16", probes(DType::f16, 65536), core::Overflow::ieee,
                                {});
  expect_encodes<std::uint16_t>(DType::bf16, "encode_bf16", probes(DType::bf16, 65536), core::Overflow::ieee,
                                {});
}

TEST(Codecs, EightBitTypesDecodeAndEncodeAsTheProjectsOwn) {
  const DType types[] = {DType::e4m3fn, DType::e5m2, DType::e4m3fnuz, DType::e5m2fnuz};
  for (int format = 0; format < 4; ++format) {
    const std::vector<float> values = decoded("decode_fp8", 256, {Argument::value(format)});
    for (std::uint32_t c = 0; c < 256; ++c) expect_same(values[c], core_value(types[format], c), c, "fp8");
    for (int saturate : {0, 1}) {
      SCOPED_TRACE(testing::Message() << "format " << format << " saturate " << saturate);
      expect_encodes<std::uint8_t>(types[format], "encode_fp8", probes(types[format], 256),
                                   saturate ? core::Overflow::saturate : core::Overflow::ieee,
                                   {Argument::value(format), Argument::value(saturate)});
    }
  }
}

}  // namespace
}  // namespace isomer::emulator::tests
