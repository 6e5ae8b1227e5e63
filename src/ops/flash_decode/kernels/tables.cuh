// What a block asks the tables of a call. Device data is not trusted: a length is clamped, and a request or a
// slot that does not exist is left out.
#pragma once

#include "gpu/device/portable.cuh"

namespace isomer::device {

/// Element `at` of an i32 or i64 array.
ISOMER_DEVICE i64 index_at(const void* array, i64 at, bool is_i64) {
  return is_i64 ? static_cast<const i64*>(array)[at] : static_cast<const i32*>(array)[at];
}

template <class Parameters>
ISOMER_DEVICE i64 length_of(const Parameters& p, i64 b) {
  const i64 length = index_at(p.lengths, b * p.length_step, p.lengths_are_i64);
  return length < p.longest ? length : p.longest;
}

/// The row of req_to_tokens of a sequence that has tokens; null where there is none.
template <class Parameters>
ISOMER_DEVICE const i32* tokens_of(const Parameters& p, i64 b) {
  const i64 request = index_at(p.requests, b * p.request_step, p.requests_are_i64);
  return request >= 0 && request < p.request_count ? p.tokens + request * p.token_request : nullptr;
}

/// The slot of token `t` of `count`, −1 where there is none.
template <class Parameters>
ISOMER_DEVICE int slot_of(const Parameters& p, const i32* tokens, i64 t, i64 count) {
  if (tokens == nullptr || t >= count) return -1;
  const i32 slot = tokens[t * p.token_step];
  return slot >= 0 && slot < p.slots ? slot : -1;
}

}  // namespace isomer::device
