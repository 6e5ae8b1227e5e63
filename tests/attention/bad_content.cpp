#include "bad_calls.hpp"

namespace isomer {

using A = AttentionArgs;
using O = AttentionOptions;

namespace {

std::int32_t& at(const Tensor& t, std::int64_t i) { return *t.at<std::int32_t>(i); }

}  // namespace

const std::vector<BadCall>& calls_of_bad_content() {
  static const char* varlen = "b=2 sq=4 sk=6 hq=2 d=16 varlen_q varlen_k lengths=full";
  static const char* paged = "b=2 sq=4 sk=6 hq=2 d=16 page=4 lengths=full";
  static const char* append = "b=2 sq=4 sk=9 hq=2 d=32 append=3 lengths=full";
  static const std::vector<BadCall> calls = {
      {"CuSeqlensQBeginsAt1", varlen, [](A& a, O&) { at(a.cu_seqlens_q, 0) = 1; },
       "attention: cu_seqlens_q[0] is 1, expected 0"},
      {"CuSeqlensQFalls", varlen, [](A& a, O&) { at(a.cu_seqlens_q, 1) = 9; },
       "attention: cu_seqlens_q falls from 9 to 8 at entry 2, expected ascending"},
      {"CuSeqlensQIsNegative", varlen, [](A& a, O&) { at(a.cu_seqlens_q, 1) = -3; },
       "attention: cu_seqlens_q falls from 0 to -3 at entry 1, expected ascending"},
      {"CuSeqlensQEndsPastQ", varlen, [](A& a, O&) { at(a.cu_seqlens_q, 2) = 11; },
       "attention: cu_seqlens_q[2] is 11, past the 10 rows of q"},
      {"CuSeqlensQExceedsMaxSeqlen", varlen, [](A&, O& o) { o.max_seqlen_q = 3; },
       "attention: cu_seqlens_q gives batch entry 0 a length of 4, over max_seqlen_q 3"},
      {"CuSeqlensKBeginsAt1", varlen, [](A& a, O&) { at(a.cu_seqlens_k, 0) = 1; },
       "attention: cu_seqlens_k[0] is 1, expected 0"},
      {"CuSeqlensKFalls", varlen, [](A& a, O&) { at(a.cu_seqlens_k, 1) = 13; },
       "attention: cu_seqlens_k falls from 13 to 12 at entry 2, expected ascending"},
      {"CuSeqlensKEndsPastK", varlen, [](A& a, O&) { at(a.cu_seqlens_k, 2) = 15; },
       "attention: cu_seqlens_k[2] is 15, past the 14 rows of k"},
      {"KeysExceedMaxSeqlen", varlen, [](A&, O& o) { o.max_seqlen_k = 5; },
       "attention: batch entry 0 has 6 keys, over max_seqlen_k 5"},
      {"SequsedQIsNegative", "b=2 sq=4 hq=2 d=16 seqused_q", [](A& a, O&) { at(a.seqused_q, 1) = -1; },
       "attention: seqused_q[1] is -1, expected 0 to 4"},
      {"SequsedQExceedsQ", "b=2 sq=4 hq=2 d=16 seqused_q", [](A& a, O&) { at(a.seqused_q, 1) = 5; },
       "attention: seqused_q[1] is 5, expected 0 to 4"},
      {"SequsedQExceedsItsSequence", "b=2 sq=4 hq=2 d=16 seqused_q varlen_q lengths=full",
       [](A& a, O&) { at(a.seqused_q, 0) = 5; }, "attention: seqused_q[0] is 5, expected 0 to 4"},
      {"SequsedKIsNegative", paged, [](A& a, O&) { at(a.seqused_k, 0) = -1; },
       "attention: seqused_k[0] is -1, expected 0 to 12"},
      {"SequsedKExceedsK", "b=2 sq=4 hq=2 d=16 seqused_k", [](A& a, O&) { at(a.seqused_k, 1) = 10; },
       "attention: seqused_k[1] is 10, expected 0 to 9"},
      {"SequsedKExceedsTheTable", paged, [](A& a, O&) { at(a.seqused_k, 1) = 13; },
       "attention: seqused_k[1] is 13, expected 0 to 12"},
      {"PageIsNegative", paged, [](A& a, O&) { *a.page_table.at<std::int32_t>(1, 1) = -1; },
       "attention: page_table[1, 1] is -1, outside the 7 pages of k"},
      {"PageIsPastTheLast", paged, [](A& a, O&) { *a.page_table.at<std::int32_t>(0, 0) = 7; },
       "attention: page_table[0, 0] is 7, outside the 7 pages of k"},
      {"KvBatchIdxIsNegative", "b=2 sq=4 hq=2 d=16 kv_batch_idx",
       [](A& a, O&) { at(a.kv_batch_idx, 0) = -1; },
       "attention: kv_batch_idx[0] is -1, outside the 3 rows of k"},
      {"KvBatchIdxIsPastTheLast", "b=2 sq=4 hq=2 d=16 kv_batch_idx",
       [](A& a, O&) { at(a.kv_batch_idx, 1) = 3; },
       "attention: kv_batch_idx[1] is 3, outside the 3 rows of k"},
      {"KvBatchIdxIsPastTheTable", "b=2 sq=4 hq=2 d=16 kv_batch_idx page=4",
       [](A& a, O&) { at(a.kv_batch_idx, 1) = 3; },
       "attention: kv_batch_idx[1] is 3, outside the 3 rows of page_table"},
      {"LeftpadIsNegative", "b=2 sq=4 hq=2 d=16 leftpad_k", [](A& a, O&) { at(a.leftpad_k, 0) = -1; },
       "attention: leftpad_k[0] is -1, expected 0 to the key length 4"},
      {"LeftpadExceedsTheKeys", "b=2 sq=4 hq=2 d=16 leftpad_k", [](A& a, O&) { at(a.leftpad_k, 1) = 5; },
       "attention: leftpad_k[1] is 5, expected 0 to the key length 4"},
      {"LeftpadExceedsTheCachedKeys", "b=2 sq=4 sk=9 hq=2 d=16 leftpad_k append=3 lengths=full",
       [](A& a, O&) { at(a.leftpad_k, 0) = 7; },
       "attention: leftpad_k[0] is 7, expected 0 to the key length 6"},
      {"CacheSeqlensAreNegative", append, [](A& a, O&) { at(a.cache_seqlens, 0) = -1; },
       "attention: cache_seqlens[0] is -1, expected at least 0"},
      {"AppendDoesNotFit", append, [](A& a, O&) { at(a.cache_seqlens, 1) = 12; },
       "attention: cache_seqlens[1] is 12, and 3 new keys do not fit after it: the cache holds 14 keys"},
      {"AppendDoesNotFitIntoTheTable", "b=2 sq=4 sk=9 hq=2 d=32 append=3 page=4 lengths=full",
       [](A& a, O&) { at(a.cache_seqlens, 1) = 14; },
       "attention: cache_seqlens[1] is 14, and 3 new keys do not fit after it: the cache holds 16 keys"},
      {"CuSeqlensKNewFalls", "b=2 sq=4 sk=9 hq=2 d=32 append=3 varlen_new lengths=full",
       [](A& a, O&) { at(a.cu_seqlens_k_new, 1) = 7; },
       "attention: cu_seqlens_k_new falls from 7 to 6 at entry 2, expected ascending"},
      {"CuSeqlensKNewEndsPastKNew", "b=2 sq=4 sk=9 hq=2 d=32 append=3 varlen_new lengths=full",
       [](A& a, O&) { at(a.cu_seqlens_k_new, 2) = 8; },
       "attention: cu_seqlens_k_new[2] is 8, past the 7 rows of k_new"},
      {"TwoEntriesAppendToOneRow", "b=2 sq=4 sk=9 hq=2 d=32 append=3 kv_batch_idx",
       [](A& a, O&) { at(a.kv_batch_idx, 1) = 1; },
       "attention: batch entry 1 appends to slots that batch entry 0 uses too"},
      {"AppendToAPageOfAnotherEntry", "b=2 sq=4 sk=9 hq=2 d=32 append=3 page=4 lengths=full",
       [](A& a, O&) { *a.page_table.at<std::int32_t>(1, 0) = *a.page_table.at<std::int32_t>(0, 2); },
       "attention: batch entry 0 appends to slots that batch entry 1 uses too"},
      {"AppendToAPageThatStandsTwice", "b=2 sq=4 sk=9 hq=2 d=32 append=3 page=4 lengths=full",
       [](A& a, O&) { *a.page_table.at<std::int32_t>(1, 0) = *a.page_table.at<std::int32_t>(1, 1); },
       "attention: batch entry 1 appends to a page that its table names twice"},
      {"RotaryIsTooShort", "b=2 sq=4 sk=9 hq=2 d=32 append=3 rotary=neox lengths=full",
       [](A& a, O&) {
         a.rotary_cos = a.rotary_cos.slice(0, 0, 8), a.rotary_sin = a.rotary_sin.slice(0, 0, 8);
       },
       "attention: rotary_cos has 8 positions, batch entry 0 needs 9"},
  };
  return calls;
}

}  // namespace isomer
