// flash_decode on GPUs looks at lengths, requests and slots where they are used: a length past the table is
// clamped, a request or a slot that does not exist is left out, and nothing is read or written out of bounds.
#include <isomer/flash_decode.hpp>

#include <gtest/gtest.h>

#include "emulated.hpp"
#include "vendor/vendor.hpp"

#include <cstdint>
#include <limits>

namespace isomer {
namespace {

constexpr std::int64_t kBatch = 5, kHeads = 2, kDim = 64, kSlots = 3, kLongest = 20;
constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();

/// Keys are 0, so that all tokens weigh the same; the values of slot s are s + 1.
class EmulatedDecode : public testing::TestWithParam<int> {
 protected:
  static void SetUpTestSuite() {
    setenv("ISOMER_CACHE", ISOMER_EMULATED_CACHE, 1);
    emulator::register_vendor();
  }
  Device device() const { return {DeviceType::emulated, GetParam()}; }

  /// One number for each sequence and head, which all of its elements must be.
  template <class Element>
  std::vector<float> decode(DType dtype, Element one, Element two, Element three,
                            const std::vector<std::int32_t>& slots, const std::vector<std::int32_t>& requests,
                            const std::vector<std::int32_t>& lengths) {
    std::vector<Element> values;
    for (const Element value : {one, two, three}) values.insert(values.end(), kDim, value);
    const Buffer<Element> q(device(), std::vector<Element>(kBatch * kHeads * kDim, one));
    const Buffer<Element> k(device(), std::vector<Element>(kSlots * kDim, Element{}));
    const Buffer<Element> v(device(), values);
    const Buffer<std::int32_t> tokens(device(), slots), request(device(), requests),
        length(device(), lengths);
    const Buffer<float> out(device(), std::vector<float>(kBatch * kHeads * kDim, -7.0f));
    const Queue queue = Queue::on(device());
    flash_decode(queue,
                 {.q = q.tensor(dtype, {kBatch, kHeads, kDim}),
                  .k = k.tensor(dtype, {kSlots, 1, kDim}),
                  .v = v.tensor(dtype, {kSlots, 1, kDim}),
                  .req_to_tokens = tokens.tensor(DType::i32, {1, kLongest}),
                  .b_req_idx = request.tensor(DType::i32, {kBatch}),
                  .b_seqlen = length.tensor(DType::i32, {kBatch}),
                  .out = out.tensor(DType::f32, {kBatch, kHeads, kDim})},
                 {.block_seq = 16});
    queue.synchronize();
    const std::vector<float> all = out.values();
    std::vector<float> rows;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i % kDim == 0) rows.push_back(all[i]);
      EXPECT_EQ(all[i], rows.back()) << "element " << i;
    }
    return rows;
  }

  void check(const std::vector<std::int32_t>& slots, const std::vector<std::int32_t>& requests,
             const std::vector<std::int32_t>& lengths, const std::vector<float>& expected) {
    std::vector<float> rows;
    for (const float value : expected) rows.insert(rows.end(), kHeads, value);
    EXPECT_EQ(decode<float>(DType::f32, 1, 2, 3, slots, requests, lengths), rows) << "f32";
    EXPECT_EQ(decode<std::uint16_t>(DType::bf16, 0x3f80, 0x4000, 0x4040, slots, requests, lengths), rows)
        << "bf16";
  }
};

TEST_P(EmulatedDecode, ALengthOutsideOfItsRangeIsClamped) {
  // 16 tokens of slot 0 and 4 of slot 2.
  std::vector<std::int32_t> slots(kLongest, 0);
  for (std::size_t t = 16; t < kLongest; ++t) slots[t] = 2;
  check(slots, {0, 0, 0, 0, 0}, {kMax, 20, -1, kMin, 16}, {1.4f, 1.4f, 0, 0, 1});
}

TEST_P(EmulatedDecode, ARequestThatDoesNotExistHasNoTokens) {
  check(std::vector<std::int32_t>(kLongest, 1), {1, -1, 0, kMin, kMax}, {20, 20, 20, 20, 20},
        {0, 0, 2, 0, 0});
}

TEST_P(EmulatedDecode, ASlotThatDoesNotExistIsLeftOut) {
  std::vector<std::int32_t> slots(kLongest, kMax);
  slots[0] = -1, slots[1] = kMin, slots[2] = kSlots;
  slots[3] = 1, slots[4] = 2;  // of the first block; none of the second exists
  check(slots, {0, 0, 0, 0, 0}, {3, 4, 5, 16, 20}, {0, 2, 2.5f, 2.5f, 2.5f});
}

INSTANTIATE_TEST_SUITE_P(Lanes, EmulatedDecode, testing::Values(0, 1),
                         [](const auto& of) { return of.param == 0 ? "32" : "64"; });

}  // namespace
}  // namespace isomer
