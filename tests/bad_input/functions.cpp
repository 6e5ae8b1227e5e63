#include "functions.hpp"

#include <stdexcept>

namespace isomer::bad_input {
namespace {

using core::Call;

/// The C++ form of every op: R is the function's type.
template <class Args, class Options, void (*function)(const Queue&, const Args&, const Options&)>
void cxx(const Queue& queue, const Call& call) {
  function(queue, call.args<Args>(), call.options<Options>());
}

template <class Args, class Options>
Explanation explained(const Queue& queue, const Call& call) {
  return explain(queue, call.args<Args>(), call.options<Options>());
}

template <class Args, class Options>
Planned planned(const Queue& queue, const Call& call) {
  const Plan made = plan(queue, call.args<Args>(), call.options<Options>());
  return {made, [made](const Call& with, void* workspace, std::size_t bytes) {
            if (workspace == nullptr && bytes == 0) return made.run(with.args<Args>());
            made.run(with.args<Args>(), workspace, bytes);
          }};
}

isomer_status c_sin(isomer_queue* queue, const Call& call, const CTensors& t) {
  const auto& a = call.args<SinArgs>();
  return t.call(isomer_sin, isomer_plan_sin, queue, isomer_sin_args{sizeof(isomer_sin_args), t(a.x), t(a.y)},
                isomer_sin_options ISOMER_SIN_OPTIONS_INIT);
}

isomer_status c_act_quant(isomer_queue* queue, const Call& call, const CTensors& t) {
  const auto& a = call.args<ActQuantArgs>();
  const auto& o = call.options<ActQuantOptions>();
  return t.call(isomer_act_quant, isomer_plan_act_quant, queue,
                isomer_act_quant_args{sizeof(isomer_act_quant_args), t(a.x), t(a.y), t(a.s)},
                isomer_act_quant_options{sizeof(isomer_act_quant_options), o.block_size, o.amax_floor,
                                         static_cast<int>(o.scale_format), static_cast<int>(o.scale_layout)});
}

isomer_status c_silu_mul_quant(isomer_queue* queue, const Call& call, const CTensors& t) {
  const auto& a = call.args<SiluMulQuantArgs>();
  const auto& o = call.options<SiluMulQuantOptions>();
  return t.call(
      isomer_silu_mul_quant, isomer_plan_silu_mul_quant, queue,
      isomer_silu_mul_quant_args{sizeof(isomer_silu_mul_quant_args), t(a.x), t(a.y), t(a.s), t(a.row_counts)},
      isomer_silu_mul_quant_options{sizeof(isomer_silu_mul_quant_options), o.amax_floor,
                                    static_cast<int>(o.scale_format), static_cast<int>(o.scale_layout)});
}

isomer_status c_weight_dequant(isomer_queue* queue, const Call& call, const CTensors& t) {
  const auto& a = call.args<WeightDequantArgs>();
  return t.call(isomer_weight_dequant, isomer_plan_weight_dequant, queue,
                isomer_weight_dequant_args{sizeof(isomer_weight_dequant_args), t(a.x), t(a.s), t(a.y)},
                isomer_weight_dequant_options{sizeof(isomer_weight_dequant_options),
                                              call.options<WeightDequantOptions>().block_size});
}

isomer_status c_weight_quant(isomer_queue* queue, const Call& call, const CTensors& t) {
  const auto& a = call.args<WeightQuantArgs>();
  const auto& o = call.options<WeightQuantOptions>();
  return t.call(
      isomer_weight_quant, isomer_plan_weight_quant, queue,
      isomer_weight_quant_args{sizeof(isomer_weight_quant_args), t(a.x), t(a.y), t(a.s)},
      isomer_weight_quant_options{sizeof(isomer_weight_quant_options), o.block_size, o.amax_floor,
                                  static_cast<int>(o.scale_format), static_cast<int>(o.scale_layout)});
}

isomer_status c_fp8_gemm(isomer_queue* queue, const Call& call, const CTensors& t) {
  const auto& a = call.args<Fp8GemmArgs>();
  return t.call(
      isomer_fp8_gemm, isomer_plan_fp8_gemm, queue,
      isomer_fp8_gemm_args{sizeof(isomer_fp8_gemm_args), t(a.a), t(a.a_s), t(a.b), t(a.b_s), t(a.c),
                           t(a.bias), t(a.addend)},
      isomer_fp8_gemm_options{sizeof(isomer_fp8_gemm_options), call.options<Fp8GemmOptions>().b_ready});
}

isomer_status c_fp8_linear(isomer_queue* queue, const Call& call, const CTensors& t) {
  const auto& a = call.args<Fp8LinearArgs>();
  const auto& o = call.options<Fp8LinearOptions>();
  return t.call(isomer_fp8_linear, isomer_plan_fp8_linear, queue,
                isomer_fp8_linear_args{sizeof(isomer_fp8_linear_args), t(a.x), t(a.b), t(a.b_s), t(a.c),
                                       t(a.bias), t(a.addend)},
                isomer_fp8_linear_options{sizeof(isomer_fp8_linear_options), static_cast<int>(o.scale_format),
                                          o.amax_floor, o.b_ready});
}

isomer_status c_grouped_fp8_gemm(isomer_queue* queue, const Call& call, const CTensors& t) {
  const auto& a = call.args<GroupedFp8GemmArgs>();
  return t.call(
      isomer_grouped_fp8_gemm, isomer_plan_grouped_fp8_gemm, queue,
      isomer_grouped_fp8_gemm_args{sizeof(isomer_grouped_fp8_gemm_args), t(a.a), t(a.a_s), t(a.b), t(a.b_s),
                                   t(a.c), t(a.expert_ids), t(a.row_counts), t(a.bias), t(a.addend)},
      isomer_grouped_fp8_gemm_options ISOMER_GROUPED_FP8_GEMM_OPTIONS_INIT);
}

isomer_status c_expert_layer(isomer_queue* queue, const Call& call, const CTensors& t) {
  const auto& a = call.args<ExpertLayerArgs>();
  const auto& o = call.options<ExpertLayerOptions>();
  return t.call(isomer_expert_layer, isomer_plan_expert_layer, queue,
                isomer_expert_layer_args{sizeof(isomer_expert_layer_args), t(a.a), t(a.a_s), t(a.gate_up),
                                         t(a.gate_up_s), t(a.down), t(a.down_s), t(a.out), t(a.expert_ids),
                                         t(a.row_counts)},
                isomer_expert_layer_options{sizeof(isomer_expert_layer_options),
                                            static_cast<int>(o.scale_format), o.amax_floor});
}

isomer_status c_quantize_copy_kv(isomer_queue* queue, const Call& call, const CTensors& t) {
  const auto& a = call.args<QuantizeCopyKvArgs>();
  return t.call(isomer_quantize_copy_kv, isomer_plan_quantize_copy_kv, queue,
                isomer_quantize_copy_kv_args{sizeof(isomer_quantize_copy_kv_args), t(a.k), t(a.dest),
                                             t(a.out), t(a.out_scale)},
                isomer_quantize_copy_kv_options{sizeof(isomer_quantize_copy_kv_options),
                                                call.options<QuantizeCopyKvOptions>().group});
}

isomer_status c_flash_decode(isomer_queue* queue, const Call& call, const CTensors& t) {
  const auto& a = call.args<FlashDecodeArgs>();
  const auto& o = call.options<FlashDecodeOptions>();
  return t.call(
      isomer_flash_decode, isomer_plan_flash_decode, queue,
      isomer_flash_decode_args{sizeof(isomer_flash_decode_args), t(a.q), t(a.k), t(a.v), t(a.req_to_tokens),
                               t(a.b_req_idx), t(a.b_seqlen), t(a.out), t(a.k_scale), t(a.v_scale)},
      isomer_flash_decode_options{sizeof(isomer_flash_decode_options), o.block_seq, o.max_len, o.scale});
}

isomer_status c_flash_decode_stage1(isomer_queue* queue, const Call& call, const CTensors& t) {
  const auto& a = call.args<FlashDecodeStage1Args>();
  const auto& o = call.options<FlashDecodeStage1Options>();
  return t.call(isomer_flash_decode_stage1, isomer_plan_flash_decode_stage1, queue,
                isomer_flash_decode_stage1_args{sizeof(isomer_flash_decode_stage1_args), t(a.q), t(a.k),
                                                t(a.v), t(a.req_to_tokens), t(a.b_req_idx), t(a.b_seqlen),
                                                t(a.mid_out), t(a.mid_lse), t(a.k_scale), t(a.v_scale)},
                isomer_flash_decode_stage1_options{sizeof(isomer_flash_decode_stage1_options), o.block_seq,
                                                   o.max_len, o.scale});
}

isomer_status c_flash_decode_stage2(isomer_queue* queue, const Call& call, const CTensors& t) {
  const auto& a = call.args<FlashDecodeStage2Args>();
  return t.call(isomer_flash_decode_stage2, isomer_plan_flash_decode_stage2, queue,
                isomer_flash_decode_stage2_args{sizeof(isomer_flash_decode_stage2_args), t(a.mid_out),
                                                t(a.mid_lse), t(a.b_seqlen), t(a.out)},
                isomer_flash_decode_stage2_options{sizeof(isomer_flash_decode_stage2_options),
                                                   call.options<FlashDecodeStage2Options>().block_seq});
}

isomer_status c_attention(isomer_queue* queue, const Call& call, const CTensors& t) {
  const auto& a = call.args<AttentionArgs>();
  const auto& o = call.options<AttentionOptions>();
  isomer_attention_args args = ISOMER_ATTENTION_ARGS_INIT;
  args.q = t(a.q);
  args.k = t(a.k);
  args.v = t(a.v);
  args.out = t(a.out);
  args.lse = t(a.lse);
  args.cu_seqlens_q = t(a.cu_seqlens_q);
  args.cu_seqlens_k = t(a.cu_seqlens_k);
  args.seqused_q = t(a.seqused_q);
  args.seqused_k = t(a.seqused_k);
  args.leftpad_k = t(a.leftpad_k);
  args.page_table = t(a.page_table);
  args.kv_batch_idx = t(a.kv_batch_idx);
  args.k_new = t(a.k_new);
  args.v_new = t(a.v_new);
  args.cu_seqlens_k_new = t(a.cu_seqlens_k_new);
  args.cache_seqlens = t(a.cache_seqlens);
  args.rotary_cos = t(a.rotary_cos);
  args.rotary_sin = t(a.rotary_sin);
  args.q_descale = t(a.q_descale);
  args.k_descale = t(a.k_descale);
  args.v_descale = t(a.v_descale);
  args.sink = t(a.sink);
  args.k_scale = t(a.k_scale);
  args.v_scale = t(a.v_scale);
  args.qv = t(a.qv);
  isomer_attention_options options = ISOMER_ATTENTION_OPTIONS_INIT;
  options.window_left = o.window_left;
  options.window_right = o.window_right;
  options.max_seqlen_q = o.max_seqlen_q;
  options.max_seqlen_k = o.max_seqlen_k;
  options.num_splits = o.num_splits;
  options.split_size = o.split_size;
  options.attention_chunk = o.attention_chunk;
  options.scale = o.scale;
  options.softcap = o.softcap;
  options.causal = o.causal;
  options.rotary_interleaved = o.rotary_interleaved;
  options.v_colmajor = o.v_colmajor;
  options.pack_gqa = static_cast<int>(o.pack_gqa);
  return t.call(isomer_attention, isomer_plan_attention, queue, args, options);
}

isomer_status c_merge_attention(isomer_queue* queue, const Call& call, const CTensors& t) {
  const auto& a = call.args<MergeAttentionArgs>();
  return t.call(isomer_merge_attention, isomer_plan_merge_attention, queue,
                isomer_merge_attention_args{sizeof(isomer_merge_attention_args), t(a.out_a), t(a.lse_a),
                                            t(a.out_b), t(a.lse_b), t(a.out), t(a.lse)},
                isomer_merge_attention_options ISOMER_MERGE_ATTENTION_OPTIONS_INIT);
}

}  // namespace

const std::vector<Function>& functions() {
  static const std::vector<Function> list = {
      {"sin",
       {"sin n=9 rows=3"},
       cxx<SinArgs, SinOptions, sin>,
       explained<SinArgs, SinOptions>,
       planned<SinArgs, SinOptions>,
       c_sin},
      {"act_quant",
       {"act_quant m=3 k=256", "act_quant m=3 k=256 f32 colmajor rank=3"},
       cxx<ActQuantArgs, ActQuantOptions, act_quant>,
       explained<ActQuantArgs, ActQuantOptions>,
       planned<ActQuantArgs, ActQuantOptions>,
       c_act_quant},
      {"silu_mul_quant",
       {"silu_mul_quant m=3 k=256", "silu_mul_quant masked g=2 m=4 k=128 f32 colmajor"},
       cxx<SiluMulQuantArgs, SiluMulQuantOptions, silu_mul_quant>,
       explained<SiluMulQuantArgs, SiluMulQuantOptions>,
       planned<SiluMulQuantArgs, SiluMulQuantOptions>,
       c_silu_mul_quant},
      {"weight_dequant",
       {"weight_dequant m=130 n=140"},
       cxx<WeightDequantArgs, WeightDequantOptions, weight_dequant>,
       explained<WeightDequantArgs, WeightDequantOptions>,
       planned<WeightDequantArgs, WeightDequantOptions>,
       c_weight_dequant},
      {"weight_quant",
       {"weight_quant m=130 n=140", "weight_quant m=30 n=200 f32 ue8m0 block=16"},
       cxx<WeightQuantArgs, WeightQuantOptions, weight_quant>,
       explained<WeightQuantArgs, WeightQuantOptions>,
       planned<WeightQuantArgs, WeightQuantOptions>,
       c_weight_quant},
      {"fp8_gemm",
       {"fp8_gemm m=5 n=130 k=260", "fp8_gemm m=5 n=130 k=260 f16 bias=f32 addend=own"},
       cxx<Fp8GemmArgs, Fp8GemmOptions, fp8_gemm>,
       explained<Fp8GemmArgs, Fp8GemmOptions>,
       planned<Fp8GemmArgs, Fp8GemmOptions>,
       c_fp8_gemm},
      {"fp8_linear",
       {"fp8_linear m=5 n=130 k=256", "fp8_linear m=5 n=130 k=256 f16 ue8m0 bias=f32 addend=own"},
       cxx<Fp8LinearArgs, Fp8LinearOptions, fp8_linear>,
       explained<Fp8LinearArgs, Fp8LinearOptions>,
       planned<Fp8LinearArgs, Fp8LinearOptions>,
       c_fp8_linear},
      {"grouped_fp8_gemm",
       {"grouped_fp8_gemm g=3 r=9 n=20 k=130 bias=f32",
        "grouped_fp8_gemm masked g=3 r=9 n=20 k=130 addend=own"},
       cxx<GroupedFp8GemmArgs, GroupedFp8GemmOptions, grouped_fp8_gemm>,
       explained<GroupedFp8GemmArgs, GroupedFp8GemmOptions>,
       planned<GroupedFp8GemmArgs, GroupedFp8GemmOptions>,
       c_grouped_fp8_gemm},
      {"expert_layer",
       {"expert_layer g=3 r=9 n=20 k=130", "expert_layer masked g=3 r=9 n=20 k=130 ue8m0"},
       cxx<ExpertLayerArgs, ExpertLayerOptions, expert_layer>,
       explained<ExpertLayerArgs, ExpertLayerOptions>,
       planned<ExpertLayerArgs, ExpertLayerOptions>,
       c_expert_layer},
      {"quantize_copy_kv",
       {"quantize_copy_kv s=5 n=7 h=2 d=24", "quantize_copy_kv s=5 n=7 h=2 d=24 group=8 dest=i64"},
       cxx<QuantizeCopyKvArgs, QuantizeCopyKvOptions, quantize_copy_kv>,
       explained<QuantizeCopyKvArgs, QuantizeCopyKvOptions>,
       planned<QuantizeCopyKvArgs, QuantizeCopyKvOptions>,
       c_quantize_copy_kv},
      {"flash_decode",
       {"flash_decode b=3 hq=4 hkv=2 d=16 len=40 block_seq=16",
        "flash_decode b=3 hq=4 hkv=2 d=16 len=40 block_seq=16 f16 kv=i8"},
       cxx<FlashDecodeArgs, FlashDecodeOptions, flash_decode>,
       explained<FlashDecodeArgs, FlashDecodeOptions>,
       planned<FlashDecodeArgs, FlashDecodeOptions>,
       c_flash_decode},
      {"flash_decode_stage1",
       {"flash_decode_stage1 b=3 hq=4 hkv=2 d=16 len=40 block_seq=16",
        "flash_decode_stage1 b=3 hq=4 hkv=2 d=16 len=40 block_seq=16 bf16 kv=i8x8"},
       cxx<FlashDecodeStage1Args, FlashDecodeStage1Options, flash_decode_stage1>,
       explained<FlashDecodeStage1Args, FlashDecodeStage1Options>,
       planned<FlashDecodeStage1Args, FlashDecodeStage1Options>,
       c_flash_decode_stage1},
      {"flash_decode_stage2",
       {"flash_decode_stage2 b=3 h=2 nb=3 d=16"},
       cxx<FlashDecodeStage2Args, FlashDecodeStage2Options, flash_decode_stage2>,
       explained<FlashDecodeStage2Args, FlashDecodeStage2Options>,
       planned<FlashDecodeStage2Args, FlashDecodeStage2Options>,
       c_flash_decode_stage2},
      {"attention",
       {"attention b=2 sq=5 sk=9 hq=4 hkv=2 d=16 dv=24 lse qv",
        "attention b=2 sq=5 sk=9 hq=4 hkv=2 d=16 causal lse sink=f32 seqused_q seqused_k leftpad_k",
        "attention b=3 sq=5 sk=9 hq=4 hkv=2 d=16 varlen_q varlen_k lse",
        "attention b=2 sq=3 sk=40 hq=4 hkv=2 d=32 page=16 append=3 rotary=neox kv_batch_idx",
        "attention b=3 sq=3 sk=20 hq=2 hkv=1 d=32 append=3 varlen_new rotary=interleaved",
        "attention b=2 sq=4 sk=16 hq=2 hkv=1 d=32 e4m3fn descale v_colmajor",
        "attention b=2 sq=4 sk=16 hq=2 hkv=1 d=32 kv=i8x8 page=8",
        "attention b=2 sq=3 sk=16 hq=2 hkv=1 d=32 kv=e4m3fn append=3 new=f16 descale"},
       cxx<AttentionArgs, AttentionOptions, attention>,
       explained<AttentionArgs, AttentionOptions>,
       planned<AttentionArgs, AttentionOptions>,
       c_attention},
      {"merge_attention",
       {"merge_attention b=2 s=3 h=2 d=16"},
       cxx<MergeAttentionArgs, MergeAttentionOptions, merge_attention>,
       explained<MergeAttentionArgs, MergeAttentionOptions>,
       planned<MergeAttentionArgs, MergeAttentionOptions>,
       c_merge_attention},
  };
  return list;
}

const Function& function_of(std::string_view op) {
  for (const Function& function : functions())
    if (function.op == op) return function;
  throw std::logic_error("no function of that name");
}

}  // namespace isomer::bad_input
