// overlap() and overlaps_itself() decide whether a call may write: both against the plain definition, byte by
// byte.
#include <gtest/gtest.h>

#include "core/contract.hpp"
#include "oracle/values.hpp"

#include <set>
#include <vector>

namespace isomer::core {
using oracle::Random;
namespace {

alignas(64) std::byte arena[4096];

/// First byte of every element, one entry for each index tuple.
std::vector<std::int64_t> addresses(const Tensor& tensor) {
  std::vector<std::int64_t> list;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    std::int64_t offset = 0, index = i;
    for (int d = tensor.rank - 1; d >= 0; --d) {
      offset += index % tensor.size(d) * tensor.stride(d);
      index /= tensor.size(d);
    }
    list.push_back(static_cast<std::byte*>(tensor.data) - arena + offset * size_of(tensor.dtype));
  }
  return list;
}

std::set<std::int64_t> bytes(const Tensor& tensor) {
  std::set<std::int64_t> all;
  for (const std::int64_t at : addresses(tensor))
    for (int b = 0; b < size_of(tensor.dtype); ++b) all.insert(at + b);
  return all;
}

bool share_a_byte(const Tensor& a, const Tensor& b) {
  const std::set<std::int64_t> ours = bytes(a);
  for (const std::int64_t at : bytes(b))
    if (ours.count(at) != 0) return true;
  return false;
}

bool meets_itself(const Tensor& tensor) {
  return bytes(tensor).size() < addresses(tensor).size() * static_cast<std::size_t>(size_of(tensor.dtype));
}

Tensor random_view(Random& random, int max_rank) {
  constexpr DType kTypes[] = {DType::i8, DType::f16, DType::f32, DType::f64};
  Tensor tensor;
  tensor.dtype = kTypes[random.below(4)];
  tensor.rank = static_cast<int>(random.below(max_rank + 1));
  for (int i = 0; i < tensor.rank; ++i) {
    const auto at = static_cast<std::size_t>(i);
    tensor.shape[at] = random.below(12) == 0 ? 0 : 1 + random.below(4);
    tensor.strides[at] = random.below(4) == 0 ? random.below(40) : random.below(21) - 7;
  }
  // Any alignment of its type's size.
  tensor.data = arena + 2048 + random.below(24) * size_of(tensor.dtype);
  return tensor;
}

std::string text(const Tensor& tensor) {
  return tensor.describe() + " at " + std::to_string(static_cast<std::byte*>(tensor.data) - arena);
}

TEST(Overlap, OfRandomViewsIsThatOfTheirBytes) {
  Random random(11);
  int overlapping = 0, apart = 0;
  for (int i = 0; i < 30000; ++i) {
    const Tensor a = random_view(random, 4), b = random_view(random, 4);
    const bool expected = share_a_byte(a, b);
    (expected ? overlapping : apart) += 1;
    ASSERT_EQ(overlap(a, b), expected) << text(a) << "\n" << text(b);
    ASSERT_EQ(overlap(b, a), expected) << text(a) << "\n" << text(b);
  }
  EXPECT_GT(overlapping, 3000);
  EXPECT_GT(apart, 3000);
}

TEST(Overlap, OfARandomViewWithItselfIsThatOfItsIndexTuples) {
  Random random(12);
  int meeting = 0, apart = 0;
  for (int i = 0; i < 30000; ++i) {
    const Tensor tensor = random_view(random, 4);
    const bool expected = meets_itself(tensor);
    (expected ? meeting : apart) += 1;
    ASSERT_EQ(overlaps_itself(tensor), expected) << text(tensor);
  }
  EXPECT_GT(meeting, 3000);
  EXPECT_GT(apart, 3000);
}

TEST(Overlap, IsNotSeenBetweenInterleavedKeysAndValues) {
  // [slots, 2, heads, 128] as one buffer, [slots, heads, 2, 128] as another: usual caches.
  const Tensor both(arena, DType::i8, {3, 2, 4, 128});
  EXPECT_FALSE(overlap(both.select(1, 0), both.select(1, 1)));
  const Tensor inner(arena, DType::i8, {3, 4, 2, 128});
  EXPECT_FALSE(overlap(inner.select(2, 0), inner.select(2, 1)));
  const Tensor columns(arena, DType::f16, {16, 64});
  EXPECT_FALSE(overlap(columns.slice(1, 0, 32), columns.slice(1, 32, 64)));
  EXPECT_TRUE(overlap(columns.slice(1, 0, 33), columns.slice(1, 32, 64)));
  const auto even = Tensor::strided(arena, DType::f16, {16, 32}, {64, 2});
  const auto odd = Tensor::strided(arena + 2, DType::f16, {16, 32}, {64, 2});
  EXPECT_FALSE(overlap(even, odd));
  EXPECT_FALSE(overlaps_itself(even));
}

TEST(Overlap, IsSeenBetweenAViewAndItsTransposeOrReverse) {
  const Tensor square(arena, DType::f32, {16, 16});
  EXPECT_TRUE(overlap(square, square));
  EXPECT_TRUE(overlap(square, square.transpose(0, 1)));
  EXPECT_FALSE(overlap(square.slice(0, 0, 8), square.slice(0, 8, 16)));
  const auto reversed = Tensor::strided(arena + 15 * 4, DType::f32, {16}, {-1});
  EXPECT_TRUE(overlap(square.select(0, 0), reversed));
  EXPECT_FALSE(overlap(square.select(0, 1), reversed));
}

TEST(Overlap, IsSeenWhereElementsOfDifferentSizesShareOneByte) {
  const Tensor wide(arena, DType::f64, {2});
  EXPECT_TRUE(overlap(wide, Tensor(arena + 15, DType::i8, {1})));
  EXPECT_FALSE(overlap(wide, Tensor(arena + 16, DType::i8, {1})));
}

TEST(Overlap, IsNotSeenWithNothing) {
  const Tensor some(arena, DType::f32, {4});
  EXPECT_FALSE(overlap(some, Tensor()));
  EXPECT_FALSE(overlap(some, Tensor(nullptr, DType::f32, {4})));
  EXPECT_FALSE(overlap(some, Tensor(arena, DType::f32, {0})));
  Tensor elsewhere = some;
  elsewhere.device = {DeviceType::cuda, 0};
  EXPECT_FALSE(overlap(some, elsewhere));
}

TEST(Overlap, OfLargeViewsIsDecidedAtOnce) {
  // A billion elements each; a search over elements would not return.
  constexpr std::int64_t kRows = 1 << 20, kRow = 2048;
  const auto left = Tensor::strided(arena, DType::f16, {kRows, 1024}, {kRow, 1});
  const auto right = Tensor::strided(arena + 2048, DType::f16, {kRows, 1024}, {kRow, 1});
  EXPECT_FALSE(overlap(left, right));
  EXPECT_TRUE(overlap(left, Tensor::strided(arena + 2046, DType::f16, {kRows, 1024}, {kRow, 1})));
  EXPECT_FALSE(overlaps_itself(left));
  EXPECT_TRUE(overlaps_itself(Tensor::strided(arena, DType::f16, {kRows, 1024}, {1023, 1})));
}

TEST(BytesOf, CountsABroadcastDimensionOnce) {
  EXPECT_EQ(bytes_of(Tensor(arena, DType::f16, {4, 8})), 64.0);
  EXPECT_EQ(bytes_of(Tensor::strided(arena, DType::f16, {4, 8}, {0, 1})), 16.0);
  EXPECT_EQ(bytes_of(Tensor(arena, DType::f16, {4, 0})), 0.0);
  EXPECT_EQ(bytes_of(Tensor()), 0.0);
}

}  // namespace
}  // namespace isomer::core
