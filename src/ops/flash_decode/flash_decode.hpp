#pragma once

#include <isomer/flash_decode.hpp>

#include "core/registry.hpp"
#include "core/sentence.hpp"

namespace isomer::ops::flash_decode {

/// The three entries of the op. Tensors in the order of their contract's args.
const core::Contract& contract();
core::Call bind(const FlashDecodeArgs& args, const FlashDecodeOptions& options);
std::vector<std::unique_ptr<const core::Implementation>> cpu();
std::vector<std::unique_ptr<const core::Implementation>> gpu();

namespace stage1 {
const core::Contract& contract();
core::Call bind(const FlashDecodeStage1Args& args, const FlashDecodeStage1Options& options);
std::vector<std::unique_ptr<const core::Implementation>> cpu();
std::vector<std::unique_ptr<const core::Implementation>> gpu();
}  // namespace stage1

namespace stage2 {
const core::Contract& contract();
core::Call bind(const FlashDecodeStage2Args& args, const FlashDecodeStage2Options& options);
std::vector<std::unique_ptr<const core::Implementation>> cpu();
std::vector<std::unique_ptr<const core::Implementation>> gpu();
}  // namespace stage2

/// Element of an i32 or i64 CPU tensor of rank 1.
inline std::int64_t index_at(const Tensor& tensor, std::int64_t i) {
  return tensor.dtype == DType::i64 ? *tensor.at<const std::int64_t>(i) : *tensor.at<const std::int32_t>(i);
}

/// What stage 1 reads, of either entry that has it.
struct Inputs {
  const Tensor &q, &k, &v, &req_to_tokens, &b_req_idx, &b_seqlen;
  const Tensor &k_scale, &v_scale;  ///< of int8 k and v, else undefined
  float scale;                      ///< as given; 0 means 1/sqrt(D)
  bool scaled() const { return k_scale.defined(); }
};

/// From the scale of 8 channels to that of the next, in elements; 0 where a row has one scale.
inline std::int64_t scale_step(const Tensor& scale) {
  return scale.rank == 3 && scale.size(2) != 1 ? scale.stride(2) : 0;
}
inline Inputs inputs_of(const FlashDecodeArgs& a, const FlashDecodeOptions& o) {
  return {a.q, a.k, a.v, a.req_to_tokens, a.b_req_idx, a.b_seqlen, a.k_scale, a.v_scale, o.scale};
}
inline Inputs inputs_of(const FlashDecodeStage1Args& a, const FlashDecodeStage1Options& o) {
  return {a.q, a.k, a.v, a.req_to_tokens, a.b_req_idx, a.b_seqlen, a.k_scale, a.v_scale, o.scale};
}

}  // namespace isomer::ops::flash_decode
