#pragma once

#include <isomer/dtype.hpp>

#include "cpu/target.hpp"

#include <cstddef>
#include <cstdint>

namespace isomer::ops::quantize_copy_kv {

/// One token: `heads` rows of `channels` elements, and where they go. Strides in elements.
struct Token {
  const std::byte* k = nullptr;
  std::byte* out = nullptr;
  std::byte* scale = nullptr;
};

struct TokenShape {
  DType k_type = DType::none, scale_type = DType::none;
  std::int64_t heads = 0, channels = 0;
  bool grouped = false;  ///< a scale for every 8 channels
  std::int64_t k_head = 0, k_channel = 0;
  std::int64_t out_head = 0, out_channel = 0;
  std::int64_t scale_head = 0, scale_group = 0;
};

inline constexpr std::int64_t kGroup = 8;

using TokenFunction = void (*)(const TokenShape& shape, const Token& token);
const cpu::PerTarget<TokenFunction>& token_function();

}  // namespace isomer::ops::quantize_copy_kv
