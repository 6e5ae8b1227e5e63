#include "ops/fp8_gemm/fp8_gemm.hpp"
#include "ops/fp8_gemm/oracle/oracle.hpp"
#include "ops/fp8_gemm/oracle/reference_product.hpp"

#include <algorithm>
#include <string_view>

namespace isomer::ops::fp8_gemm {
namespace {

/// How many rows take the expert of the first of them; 0: each its own.
std::int64_t tile_of(const oracle::Variations& vary) {
  const std::string_view tile = vary.after("expert=of-first-of-");
  std::int64_t rows = 0;
  for (const char digit : tile) rows = 10 * rows + (digit - '0');
  return rows;
}

/// The expert of a row; −1 for padding, −2 for a row that stays untouched.
std::int64_t expert_of(const GroupedFp8GemmArgs& args, const oracle::Variations& vary, std::int64_t row) {
  if (args.row_counts.defined()) {
    const std::int64_t capacity = args.a.size(1), expert = row / capacity;
    const bool counted = row % capacity < *args.row_counts.at<std::int32_t>(expert);
    return counted || vary.has("row_counts=ignored") ? expert : -2;
  }
  if (const std::int64_t tile = tile_of(vary); tile > 0) row = row / tile * tile;
  const std::int64_t expert = *args.expert_ids.at<std::int32_t>(row);
  if (expert >= 0) return expert;
  if (vary.has("padding=untouched")) return -2;
  if (vary.has("padding=computed"))
    return std::max<std::int64_t>(*args.expert_ids.at<std::int32_t>(row / kSegment * kSegment), 0);
  return -1;
}

/// The scales of an expert's weights.
Tensor scales_of(const Tensor& b_s, std::int64_t expert, const Tensor& b, const oracle::Variations& vary) {
  Tensor scales = b_s.select(0, vary.has("b_s=first") ? 0 : expert);
  const auto begin_at = [&](std::int64_t first) {
    scales.data = static_cast<std::byte*>(b_s.data) + first * size_of(b_s.dtype);
  };
  if (vary.has("b_s=offset-floor")) begin_at(expert * (b.size(0) / kScaleBlock) * b_s.stride(1));
  // Whose rows of scales are shorter, his experts begin earlier.
  if (vary.has("k_tail=floor") && !vary.has("b_s=first"))
    begin_at(expert * b_s.size(1) * (b.size(1) / kScaleBlock));
  return scales;
}

}  // namespace

void grouped_reference(const core::Call& call, const oracle::Variations& vary, oracle::Expected& expected) {
  const auto& args = call.args<GroupedFp8GemmArgs>();
  const std::int64_t experts = args.b.size(0);
  std::vector<Product> products;
  products.reserve(static_cast<std::size_t>(experts));
  for (std::int64_t g = 0; g < experts; ++g) {
    const Tensor b = args.b.select(0, g), b_s = scales_of(args.b_s, g, b, vary);
    products.push_back(g == 0 ? Product(args.a, args.a_s, b, b_s, vary) : products.front().with(b, b_s));
  }
  oracle::ExpectedTensor& c = expected["c"];
  const auto columns = static_cast<std::size_t>(args.c.size(-1));
  for (std::size_t flat = 0; flat < c.value.size(); ++flat) {
    const auto m = static_cast<std::int64_t>(flat / columns), n = static_cast<std::int64_t>(flat % columns);
    std::int64_t expert = expert_of(args, vary, m);
    if (expert == -2) continue;
    if (expert == -1) {
      c.set(flat, 0.0);
      continue;
    }
    if (vary.has("expert=first")) expert = 0;
    if (vary.has("expert=next")) expert = (expert + 1) % experts;
    if (vary.has("expert=segment")) expert = std::min(m / kSegment, experts - 1);
    const Epilogue finish{args.bias.defined() ? args.bias.select(0, expert) : Tensor(), args.addend, vary};
    const Element element = products[static_cast<std::size_t>(expert)](m, n);
    const auto [value, bound] = finish(element, c.dtype, flat, n);
    c.set(flat, value, bound);
    if (element.unknown) c.set_unknown(flat);
  }
}

const std::vector<oracle::Variation>& grouped_variations() {
  static const std::vector<oracle::Variation> list = [] {
    std::vector<oracle::Variation> all = product_variations();
    all.insert(
        all.end(),
        {{"expert=first", "every row multiplied with the weights of expert 0"},
         {"expert=next", "every row multiplied with the weights of the expert after its own"},
         {"expert=segment", "segment i of 128 rows multiplied with the weights of expert i"},
         {"expert=of-first-of-16", "rows of each tile of 16 multiplied with the weights of the tile's first"},
         {"expert=of-first-of-32", "rows of each tile of 32 multiplied with the weights of the tile's first"},
         {"expert=of-first-of-64", "rows of each tile of 64 multiplied with the weights of the tile's first"},
         {"expert=of-first-of-128",
          "rows of each tile of 128 multiplied with the weights of the tile's first"},
         {"b_s=first", "every row scaled with the scales of expert 0's weights"},
         {"b_s=offset-floor",
          "floor(N/128) rows of scales counted for each expert before: ragged N shifts the experts after"},
         {"padding=untouched", "padding rows of c left as they were"},
         {"padding=computed", "padding rows computed with the expert of their block"},
         {"row_counts=ignored", "rows past the count computed too"}});
    return all;
  }();
  return list;
}

}  // namespace isomer::ops::fp8_gemm
