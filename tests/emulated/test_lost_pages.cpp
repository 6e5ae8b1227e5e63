// Attention on GPUs leaves out a key whose page does not exist, and an entry of such keys alone is empty.
#include <isomer/attention.hpp>

#include <gtest/gtest.h>

#include "emulated.hpp"
#include "first_tier.hpp"
#include "vendor/vendor.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace isomer {
namespace {

struct Way {
  const char* name;
  const char* implementation;
  DType dtype;
  std::int64_t page, keys;
  int num_splits;
  std::int64_t dim_v = 64;
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

class LostPages : public testing::TestWithParam<Way> {
 protected:
  static void SetUpTestSuite() {
    setenv("ISOMER_CACHE", ISOMER_EMULATED_CACHE, 1);
    emulator::register_vendor();
  }
};

/// Keys are 0, so that all of them weigh the same; the values of page i are i % 3 + 1.
template <class Element>
void expect_left_out(const Way& way, const Element (&values)[3], float last_digit) {
  constexpr std::int64_t kBatch = 3, kQueries = 20, kHeads = 2, kDim = 64, kPages = 20;
  const Device device{DeviceType::emulated, 0};
  const std::int64_t row = kHeads * kDim, row_v = kHeads * way.dim_v,
                     columns = (way.keys + way.page - 1) / way.page;
  std::vector<Element> v;
  for (std::int64_t i = 0; i < kPages; ++i) v.insert(v.end(), way.page * row_v, values[i % 3]);
  // The first entry has all of its pages, the second lacks some at either end and within, the third has none.
  std::vector<std::int32_t> table;
  for (std::int64_t b = 0; b < kBatch; ++b)
    for (std::int64_t c = 0; c < columns; ++c) {
      const bool lost = b == 2 || (b == 1 && (c % 5 == 0 || c == columns - 1));
      const std::int32_t nowhere[] = {-1, std::numeric_limits<std::int32_t>::max(), kPages};
      table.push_back(lost ? nowhere[c % 3] : static_cast<std::int32_t>((c + b) % kPages));
    }
  const Buffer<Element> q(device, std::vector<Element>(kBatch * kQueries * row, values[0])),
      k(device, std::vector<Element>(kPages * way.page * row, Element{})), v_pages(device, v);
  const Buffer<std::int32_t> pages(device, table),
      used(device, std::vector<std::int32_t>(kBatch, static_cast<std::int32_t>(way.keys)));
  const Buffer<std::uint16_t> out(device, std::vector<std::uint16_t>(kBatch * kQueries * row_v, 0xffff));
  const Buffer<float> lse(device, std::vector<float>(kBatch * kHeads * kQueries, -7.0f));
  const Queue queue = Queue::on(device, {.implementation = way.implementation});
  attention(queue,
            {.q = q.tensor(way.dtype, {kBatch, kQueries, kHeads, kDim}),
             .k = k.tensor(way.dtype, {kPages, way.page, kHeads, kDim}),
             .v = v_pages.tensor(way.dtype, {kPages, way.page, kHeads, way.dim_v}),
             .out = out.tensor(DType::bf16, {kBatch, kQueries, kHeads, way.dim_v}),
             .lse = lse.tensor(DType::f32, {kBatch, kHeads, kQueries}),
             .seqused_k = used.tensor(DType::i32, {kBatch}),
             .page_table = pages.tensor(DType::i32, {kBatch, columns})},
            {.num_splits = way.num_splits});
  queue.synchronize();
  const std::vector<std::uint16_t> got = out.values();
  const std::vector<float> got_lse = lse.values();
  for (std::int64_t b = 0; b < kBatch; ++b) {
    double sum = 0, count = 0;
    for (std::int64_t j = 0; j < way.keys; ++j) {
      const std::int32_t page = table[static_cast<std::size_t>(b * columns + j / way.page)];
      if (page < 0 || page >= kPages) continue;
      sum += page % 3 + 1;
      count += 1;
    }
    const double expected = count > 0 ? sum / count : 0;
    for (std::int64_t i = 0; i < kQueries * row_v; ++i) {
      const std::uint32_t bits = std::uint32_t{got[static_cast<std::size_t>(b * kQueries * row_v + i)]} << 16;
      float value;
      std::memcpy(&value, &bits, sizeof value);
      ASSERT_NEAR(value, expected, last_digit) << "entry " << b << ", element " << i;
    }
    for (std::int64_t i = 0; i < kHeads * kQueries; ++i) {
      const float value = got_lse[static_cast<std::size_t>(b * kHeads * kQueries + i)];
      if (count == 0)
        ASSERT_EQ(value, -std::numeric_limits<float>::infinity()) << "entry " << b << ", row " << i;
      else
        ASSERT_NEAR(value, std::log(count), 1e-3) << "entry " << b << ", row " << i;
    }
  }
}

TEST_P(LostPages, HaveNoKeys) {
  const Way& way = GetParam();
  if (way.dtype == DType::e4m3fn)
    expect_left_out<std::uint8_t>(way, {0x38, 0x40, 0x44}, 0.02f);
  else
    expect_left_out<std::uint16_t>(way, {0x3f80, 0x4000, 0x4040}, 0.02f);
}

INSTANTIATE_TEST_SUITE_P(
    Of, LostPages,
    testing::ValuesIn(tests::every_nth(
        std::vector<Way>{Way{"hopper", "emulated/sm90", DType::bf16, 16, 300, 1},
                         Way{"hopper_in_parts", "emulated/sm90", DType::bf16, 16, 300, 2},
                         Way{"hopper_pages_of_7", "emulated/sm90", DType::bf16, 7, 130, 1},
                         Way{"hopper_bytes", "emulated/sm90", DType::e4m3fn, 16, 300, 1},
                         Way{"hopper_wide", "emulated/sm90_wide", DType::bf16, 16, 130, 1, 512},
                         Way{"hopper_wide_in_parts", "emulated/sm90_wide", DType::bf16, 7, 130, 2, 512}},
        4)),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace isomer
