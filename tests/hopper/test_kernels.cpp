// Kernels on Hopper's words give what plain loops give, under every schedule, and nothing is reported.
#include "device.hpp"

#include <cmath>
#include <functional>

namespace isomer::emulator::tests {
namespace {

void expect_clean(const RunResult& result) {
  EXPECT_EQ(result.failure, "");
  EXPECT_EQ(result.error, 0);
  for (const Report& r : result.reports) ADD_FAILURE() << r.text;
  for (const Refusal& r : result.refusals) ADD_FAILURE() << r.text;
}

/// Small integers, exact in every type and in every sum here.
int value(std::size_t i) { return static_cast<int>(i * 2654435761u >> 7 & 7) - 3; }

std::uint16_t f16_of(int x) {
  if (x == 0) return 0;
  const int magnitude = std::abs(x), exponent = magnitude >= 4 ? 2 : magnitude >= 2 ? 1 : 0;
  return static_cast<std::uint16_t>((x < 0) << 15 | (15 + exponent) << 10 |
                                    ((magnitude << (10 - exponent)) & 0x3ff));
}
std::uint16_t bf16_of(int x) {
  const float f = static_cast<float>(x);
  std::uint32_t bits;
  std::memcpy(&bits, &f, 4);
  return static_cast<std::uint16_t>(bits >> 16);
}
std::uint8_t e4m3_of(int x) {
  if (x == 0) return 0;
  const int magnitude = std::abs(x), exponent = magnitude >= 4 ? 2 : magnitude >= 2 ? 1 : 0;
  return static_cast<std::uint8_t>((x < 0) << 7 | (7 + exponent) << 3 | ((magnitude << (3 - exponent)) & 7));
}
float of_bf16(std::uint16_t bits) {
  const std::uint32_t wide = std::uint32_t{bits} << 16;
  float f;
  std::memcpy(&f, &wide, 4);
  return f;
}

struct Product {
  const char* kernel;
  unsigned element_bytes;
  int columns, swizzle_a, swizzle_b;
  bool a_transposed = false, b_transposed = false;
};
void PrintTo(const Product& p, std::ostream* out) { *out << p.kernel; }

const Product kProducts[] = {
    {"f16_64", 2, 64, 128, 128},
    {"f16_256", 2, 256, 128, 128},
    {"bf16_96", 2, 96, 128, 128},
    {"f16_swizzle_64", 2, 64, 64, 64},
    {"f16_swizzle_32", 2, 64, 32, 32},
    {"f16_no_swizzle", 2, 32, 0, 0},
    {"f16_b_transposed", 2, 128, 128, 128, false, true},
    {"bf16_b_transposed_64", 2, 64, 128, 64, false, true},
    {"bf16_both_transposed", 2, 64, 128, 128, true, true},
    {"f16_registers", 2, 64, 128, 128},
    {"bf16_registers_b_transposed", 2, 192, 128, 128, false, true},
    {"e4m3_64", 1, 64, 128, 128},
    {"e4m3_8_swizzle_64", 1, 8, 64, 64},
    {"e4m3_registers", 1, 128, 128, 128},
};

class HopperProduct : public testing::TestWithParam<Product> {};

/// The map of a tile of `lines` lines and 256 bytes of k: a box of panels, each as the swizzle has it.
device::TensorMap tile_map(std::uint8_t* data, unsigned e, std::uint64_t lines, int swizzle,
                           bool transposed) {
  const std::uint64_t depth = 256 / e, panel = swizzle == 0 ? 16 / e : swizzle / e;
  const std::uint64_t adjacent = transposed ? lines : depth, other = transposed ? depth : lines;
  return map_of({.data = data,
                 .element_bytes = e,
                 .rank = 3,
                 .size = {panel, other, adjacent / panel},
                 .stride_bytes = {e, adjacent * e, panel * e},
                 .box = {static_cast<std::uint32_t>(panel), static_cast<std::uint32_t>(other),
                         static_cast<std::uint32_t>(adjacent / panel)},
                 .swizzle_bytes = swizzle});
}

TEST_P(HopperProduct, IsThatOfAPlainLoop) {
  const Product& c = GetParam();
  const int depth = 256 / static_cast<int>(c.element_bytes), n = c.columns;
  const bool bf16 = c.kernel[0] == 'b';
  Memory<std::uint8_t> a(64 * 256), b(static_cast<std::size_t>(n) * 256);
  Memory<float> out(64 * static_cast<std::size_t>(n), NAN);
  const auto put = [&](Memory<std::uint8_t>& to, int lines, bool transposed, std::size_t salt) {
    for (int line = 0; line < lines; ++line) {
      for (int k = 0; k < depth; ++k) {
        const std::size_t at = transposed ? static_cast<std::size_t>(k) * lines + line
                                          : static_cast<std::size_t>(line) * depth + k;
        const int x = value(static_cast<std::size_t>(line) * depth + k + salt);
        if (c.element_bytes == 1) {
          to[at] = e4m3_of(x);
        } else {
          const std::uint16_t bits = bf16 ? bf16_of(x) : f16_of(x);
          std::memcpy(to.data() + 2 * at, &bits, 2);
        }
      }
    }
  };
  put(a, 64, c.a_transposed, 0);
  put(b, n, c.b_transposed, 99991);
  device::HopperParameters p{};
  p.from = tile_map(a.data(), c.element_bytes, 64, c.swizzle_a, c.a_transposed);
  p.other = tile_map(b.data(), c.element_bytes, static_cast<std::uint64_t>(n), c.swizzle_b, c.b_transposed);
  p.out = out.data();
  for (const bool watch : {true, false}) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = NAN;
    expect_clean(run(module_of("products.cu", watch), c.kernel, p, 128, 98304 + 8));
    for (int row = 0; row < 64; ++row) {
      for (int column = 0; column < n; ++column) {
        float sum = 0;
        for (int k = 0; k < depth; ++k)
          sum += static_cast<float>(value(static_cast<std::size_t>(row) * depth + k) *
                                    value(static_cast<std::size_t>(column) * depth + k + 99991));
        ASSERT_EQ(out[static_cast<std::size_t>(row) * n + column], sum) << row << ", " << column;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, HopperProduct, testing::ValuesIn(kProducts),
                         [](const auto& info) { return std::string(info.param.kernel); });

TEST(HopperKernels, APipelineWithTurnsAndClaimedTilesMultipliesRaggedMatrices) {
  struct Sizes {
    int m, n, k;
  };
  for (const Sizes s : {Sizes{128, 64, 64}, Sizes{100, 40, 192}, Sizes{300, 136, 136}, Sizes{1, 8, 8}}) {
    Memory<std::uint16_t> a(static_cast<std::size_t>(s.m) * s.k), b(static_cast<std::size_t>(s.n) * s.k),
        c(static_cast<std::size_t>(s.m) * s.n, 0xffff);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = bf16_of(value(i));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = bf16_of(value(i + 77));
    Memory<std::uint32_t> next(1, 0);
    device::PipelinedParameters p{};
    const auto whole = [](int x) { return static_cast<std::uint64_t>(x); };
    p.from = map_of(a, whole(s.k), whole(s.m), 64, 128, 128);
    p.other = map_of(b, whole(s.k), whole(s.n), 64, 64, 128);
    p.to = map_of(c, whole(s.n), whole(s.m), 64, 64, 128);
    p.across = (s.n + 63) / 64;
    p.tiles = (s.m + 127) / 128 * p.across;
    p.blocks = (s.k + 63) / 64;
    p.next = next.data();
    for (const std::uint64_t seed : {0, 1, 6}) {
      SCOPED_TRACE(testing::Message() << s.m << " x " << s.n << " x " << s.k << ", seed " << seed);
      expect_clean(module_of("pipelined.cu")
                       .launch_here("pipelined", {{2, 1, 1}, {384, 1, 1}, 66 * 1024 + 64},
                                    {Argument::value(p)}, {.seed = seed}));
      EXPECT_EQ(next[0], 0u);
      for (int row = 0; row < s.m; ++row) {
        for (int column = 0; column < s.n; ++column) {
          float sum = 0;
          for (int k = 0; k < s.k; ++k)
            sum += static_cast<float>(value(static_cast<std::size_t>(row) * s.k + k) *
                                      value(static_cast<std::size_t>(column) * s.k + k + 77));
          const float got = of_bf16(c[static_cast<std::size_t>(row) * s.n + column]);
          ASSERT_LE(std::abs(got - sum), std::abs(sum) / 256) << row << ", " << column;
        }
      }
    }
  }
}

TEST(HopperKernels, BoxesOfEveryRankArriveWithZerosAndLeaveWithoutThem) {
  for (int rank = 2; rank <= 5; ++rank) {
    for (const int swizzle : {0, 32, 64, 128}) {
      SCOPED_TRACE(testing::Message() << "rank " << rank << ", swizzle " << swizzle);
      const std::uint32_t row = swizzle == 0 ? 12 : static_cast<std::uint32_t>(swizzle) / 4;
      TensorMapDescription d{.element_bytes = 4, .rank = rank, .swizzle_bytes = swizzle};
      std::size_t all = 1, boxes = 1;
      const std::uint64_t size[5] = {row + 20, 7, 3, 2, 3};
      const std::uint32_t box[5] = {row, 4, 2, 2, 1};
      for (int i = 0; i < rank; ++i) {
        d.size[i] = size[i];
        d.box[i] = box[i];
        d.stride_bytes[i] = all * 4;
        all *= i == 0 ? (size[i] + 3) / 4 * 4 : size[i];
        boxes *= box[i];
      }
      Memory<std::uint32_t> from(all), to(all, 7), seen(boxes, 0xffffffffu);
      for (std::size_t i = 0; i < all; ++i) from[i] = static_cast<std::uint32_t>(1000 + i);
      // Over an edge of every dimension: in front of the first, behind the second.
      device::CopyParameters p{};
      const int corner[5] = {-4, 5, 2, -1, 1};
      std::memcpy(p.corner, corner, sizeof corner);
      d.data = from.data();
      p.from = map_of(d);
      d.data = to.data();
      p.to = map_of(d);
      p.seen = seen.data();
      p.bytes = static_cast<std::uint32_t>(boxes * 4);
      expect_clean(module_of("copies.cu")
                       .launch_here("copy_" + std::to_string(rank), {{1, 1, 1}, {64, 1, 1}, p.bytes + 8u},
                                    {Argument::value(p)}));
      std::vector<std::uint32_t> copied(all, 7);
      for (std::size_t i = 0; i < boxes; ++i) {
        std::size_t rest = i, at = 0;
        bool inside = true;
        for (int dimension = 0; dimension < rank; ++dimension) {
          const auto x = corner[dimension] + static_cast<std::int64_t>(rest % box[dimension]);
          rest /= box[dimension];
          inside = inside && x >= 0 && x < static_cast<std::int64_t>(size[dimension]);
          at += static_cast<std::size_t>(x) * d.stride_bytes[dimension] / 4;
        }
        // Sixteen-byte chunks of rows change places by the number of their 128 bytes.
        std::size_t byte = i * 4;
        if (swizzle != 0) byte ^= (byte >> 7 & (static_cast<std::size_t>(swizzle) / 16 - 1)) << 4;
        ASSERT_EQ(seen[byte / 4], inside ? from[at] : 0u) << "element " << i;
        if (inside) copied[at] = from[at];
      }
      for (std::size_t i = 0; i < all; ++i) ASSERT_EQ(to[i], copied[i]) << i;
    }
  }
}

TEST(HopperKernels, TensorMapsThatTheHardwareWouldNotTakeAreRefused) {
  alignas(16) static char data[64];
  const TensorMapDescription good{.data = data,
                                  .element_bytes = 2,
                                  .rank = 2,
                                  .size = {64, 8},
                                  .stride_bytes = {2, 128},
                                  .box = {64, 8},
                                  .swizzle_bytes = 128};
  device::TensorMap map;
  EXPECT_EQ(encode_tensor_map(good, &map), "");
  const auto says = [&](const std::function<void(TensorMapDescription&)>& change) {
    TensorMapDescription bad = good;
    change(bad);
    return encode_tensor_map(bad, &map);
  };
  EXPECT_EQ(says([](auto& d) { d.rank = 6; }), "rank is 6, expected 1 to 5");
  EXPECT_EQ(says([](auto& d) { d.stride_bytes[1] = 120; }),
            "dimension 1 has a stride of 120 bytes, expected a multiple of 16 below 2^40");
  EXPECT_EQ(says([](auto& d) { d.box[1] = 257; }), "dimension 1 of the box is 257, expected 1 to 256");
  EXPECT_EQ(says([](auto& d) { d.size[0] = 0; }), "dimension 0 has size 0, expected 1 to 2^32");
  EXPECT_EQ(says([](auto& d) { d.swizzle_bytes = 64; }),
            "a row of the box has 128 bytes, more than the swizzle's 64");
  EXPECT_EQ(says([](auto& d) { d.swizzle_bytes = 16; }),
            "the swizzle is 16 bytes, expected 0, 32, 64 or 128");
  EXPECT_EQ(says([](auto& d) {
              d.box[0] = 12;
              d.swizzle_bytes = 0;
            }),
            "a row of the box has 24 bytes, expected a multiple of 16");
  EXPECT_NE(says([](auto& d) { d.data = data + 8; }).find("expected a multiple of 16"), std::string::npos);
}

}  // namespace
}  // namespace isomer::emulator::tests
