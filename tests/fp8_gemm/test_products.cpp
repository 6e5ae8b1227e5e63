// What the cases do not say: results depend neither on threads nor on the caller's arithmetic mode.
#include <isomer/fp8_gemm.hpp>

#include <gtest/gtest.h>

#include "core/codec.hpp"
#include "core/registry.hpp"
#include "ops/fp8_gemm/cpu/tiles.hpp"

#include <random>
#include <string>
#include <tuple>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace isomer {
namespace {

struct Matrices {
  Matrices(std::int64_t m, std::int64_t n, std::int64_t k)
      : m(m),
        n(n),
        k(k),
        blocks((k + 127) / 128),
        a(bytes(m * k)),
        b(bytes(n * k)),
        a_s(floats(m * blocks)),
        b_s(floats((n + 127) / 128 * blocks)) {}

  std::vector<float> multiply(const Queue& queue) const {
    std::vector<float> c(static_cast<std::size_t>(m * n));
    fp8_gemm(queue, {.a = Tensor(a.data(), DType::e4m3fn, {m, k}),
                     .a_s = Tensor(a_s.data(), DType::f32, {m, blocks}),
                     .b = Tensor(b.data(), DType::e4m3fn, {n, k}),
                     .b_s = Tensor(b_s.data(), DType::f32, {(n + 127) / 128, blocks}),
                     .c = Tensor(c.data(), DType::f32, {m, n})});
    return c;
  }

  std::vector<std::uint8_t> bytes(std::int64_t count) {
    std::vector<std::uint8_t> values(static_cast<std::size_t>(count));
    for (std::uint8_t& value : values) value = core::f32_to_e4m3fn(std::normal_distribution<float>()(random));
    return values;
  }
  std::vector<float> floats(std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = std::uniform_real_distribution<float>(0.1f, 2.0f)(random);
    return values;
  }

  std::mt19937 random{7};
  std::int64_t m, n, k, blocks;
  std::vector<std::uint8_t> a, b;
  std::vector<float> a_s, b_s;
};

Queue queue_on(int threads, const std::string& implementation = "") {
  QueueOptions options;
  options.executor = Executor::with_threads(threads);
  options.implementation = implementation;
  return Queue::cpu(options);
}

TEST(Fp8Gemm, GivesTheSameBitsOnAnyNumberOfThreads) {
  for (const auto& [m, n, k] : {std::tuple{5, 500, 700}, {9, 300, 200}, {241, 333, 260}, {500, 64, 130}}) {
    const Matrices matrices(m, n, k);
    const std::vector<float> one = matrices.multiply(queue_on(1));
    for (const int threads : {2, 3, 16})
      EXPECT_EQ(matrices.multiply(queue_on(threads)), one)
          << m << "x" << n << "x" << k << " on " << threads << " threads";
  }
}

TEST(Fp8Gemm, GivesARowTheSameBitsWhicheverFewRowsStandBesideIt) {
  const Matrices eight(8, 70, 900);
  const Queue queue = Queue::cpu();
  const std::vector<float> all = eight.multiply(queue);
  for (std::int64_t m = 1; m < 8; ++m) {
    Matrices fewer = eight;
    fewer.m = m;
    const std::vector<float> some = fewer.multiply(queue);
    EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin())) << m << " rows";
  }
}

TEST(Fp8Gemm, IgnoresTheStrideOfADimensionOfOneElement) {
  const Matrices one(1, 1, 200);
  const Queue queue = Queue::cpu();
  float c = 0;
  const std::int64_t far = INT64_MAX / 2;
  fp8_gemm(queue, {.a = Tensor::strided(one.a.data(), DType::e4m3fn, {1, 200}, {far, 1}),
                   .a_s = Tensor::strided(one.a_s.data(), DType::f32, {1, 2}, {far, 1}),
                   .b = Tensor::strided(one.b.data(), DType::e4m3fn, {1, 200}, {far, 1}),
                   .b_s = Tensor::strided(one.b_s.data(), DType::f32, {1, 2}, {far, 1}),
                   .c = Tensor::strided(&c, DType::f32, {1, 1}, {far, far})});
  EXPECT_EQ(c, one.multiply(queue)[0]);
}

TEST(Fp8Gemm, IsCutIntoTilesThatFitAndCoverTheProduct) {
  for (const std::int64_t rows : {1, 8, 9, 12, 239, 240, 241, 512, 5000})
    for (const std::int64_t columns : {1, 31, 32, 33, 256, 257, 512, 7168})
      for (const int threads : {1, 2, 7, 64}) {
        const auto t = ops::fp8_gemm::tiling(3, rows, columns, threads);
        EXPECT_LE(t.rows, ops::fp8_gemm::kTileRows);
        EXPECT_LE(t.columns, ops::fp8_gemm::kTileColumns);
        EXPECT_EQ(t.columns % ops::fp8_gemm::kPanelColumns, 0);
        EXPECT_GE(t.row_tiles * t.rows, rows);
        EXPECT_GE(t.column_tiles * t.columns, columns);
        EXPECT_LT((t.row_tiles - 1) * t.rows, rows);
        EXPECT_LT((t.column_tiles - 1) * t.columns, columns);
      }
}

#if defined(__x86_64__)
TEST(Fp8Gemm, KeepsSubnormalsOfE4m3WhereTheCallerTreatsF32SubnormalsAsZero) {
  const core::Registry::Op* op = core::Registry::builtin().find("fp8_gemm");
  int tried = 0;
  for (const char* name : {"cpu/avx2", "cpu/avx512"}) {
    const core::Implementation* implementation = op->find(name);
    if (implementation == nullptr || !implementation->unavailable().empty()) continue;
    const Queue queue = queue_on(1, name);
    for (const std::int64_t m : {2, 20}) {
      Matrices matrices(m, 40, 128);
      for (std::size_t i = 0; i < matrices.a.size(); ++i) matrices.a[i] = static_cast<std::uint8_t>(i % 8);
      const std::vector<float> want = matrices.multiply(queue);
      const unsigned mode = _mm_getcsr();
      _mm_setcsr(mode | 0x8040);  // flush to zero, denormals are zero
      const std::vector<float> got = matrices.multiply(queue);
      _mm_setcsr(mode);
      EXPECT_EQ(got, want) << name << ", " << m << " rows";
      ++tried;
    }
  }
  if (tried == 0) GTEST_SKIP() << "no implementation with hardware f16 here";
}
#endif

}  // namespace
}  // namespace isomer
