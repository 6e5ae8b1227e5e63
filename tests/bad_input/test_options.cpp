// Every option that is a number, at the ends of its type: refused with a sentence, or an answer like any
// other.
#include "attempt.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace isomer::bad_input {
namespace {

template <class Number>
const std::vector<Number> kEnds = {
    std::numeric_limits<Number>::min(),         std::numeric_limits<Number>::lowest(),
    std::numeric_limits<Number>::lowest() / 2,  Number{-1},
    std::numeric_limits<Number>::max() / 2 + 1, std::numeric_limits<Number>::max() / 2,
    std::numeric_limits<Number>::max() - 1,     std::numeric_limits<Number>::max()};

class Tried {
 public:
  explicit Tried(const std::string& line) : attempt_(line), before_(attempt_.bytes()) {}

  template <class Options, class Number>
  void option(const char* name, Number Options::*field) {
    auto& options = attempt_.problem().options<Options>();
    const Number good = options.*field;
    for (const Number end : kEnds<Number>) {
      options.*field = end;
      const std::string what =
          attempt_.problem().made_from().line() + ", " + name + " " + std::to_string(end);
      const std::string sentence = attempt_.cxx();
      EXPECT_EQ(attempt_.explain(), sentence) << what;
      EXPECT_EQ(attempt_.c(), sentence) << what;
      if (!sentence.empty()) {
        EXPECT_TRUE(sentence.starts_with(attempt_.function().op + ": ")) << what << " gave: " << sentence;
        EXPECT_TRUE(attempt_.bytes() == before_) << what << " was refused, but wrote: " << sentence;
        ++refused_;
      }
      attempt_.restore(before_);
    }
    options.*field = good;
  }
  int refused() const { return refused_; }

 private:
  Attempt attempt_;
  std::string before_;
  int refused_ = 0;
};

TEST(Options, OfQuantisationAtTheEndsOfTheirTypes) {
  Tried quant("act_quant m=3 k=256");
  quant.option("block_size", &ActQuantOptions::block_size);
  quant.option("amax_floor", &ActQuantOptions::amax_floor);
  EXPECT_GT(quant.refused(), 7);
  Tried dequant("weight_dequant m=130 n=140");
  dequant.option("block_size", &WeightDequantOptions::block_size);
  EXPECT_GT(dequant.refused(), 3);
  Tried scatter("quantize_copy_kv s=5 n=7 h=2 d=24");
  scatter.option("group", &QuantizeCopyKvOptions::group);
  EXPECT_EQ(scatter.refused(), 8);
}

TEST(Options, OfFlashDecodeAtTheEndsOfTheirTypes) {
  Tried whole("flash_decode b=3 hq=4 hkv=2 d=16 len=40 block_seq=16");
  whole.option("block_seq", &FlashDecodeOptions::block_seq);
  whole.option("max_len", &FlashDecodeOptions::max_len);
  whole.option("scale", &FlashDecodeOptions::scale);
  EXPECT_GT(whole.refused(), 7);
  Tried one("flash_decode_stage1 b=3 hq=4 hkv=2 d=16 len=40 block_seq=16");
  one.option("block_seq", &FlashDecodeStage1Options::block_seq);
  one.option("max_len", &FlashDecodeStage1Options::max_len);
  one.option("scale", &FlashDecodeStage1Options::scale);
  EXPECT_GT(one.refused(), 7);
  Tried two("flash_decode_stage2 b=3 h=2 nb=3 d=16");
  two.option("block_seq", &FlashDecodeStage2Options::block_seq);
  EXPECT_GT(two.refused(), 3);
}

TEST(Options, OfAttentionAtTheEndsOfTheirTypes) {
  for (const std::string& line : function_of("attention").good) {
    Tried tried(line);
    tried.option("scale", &AttentionOptions::scale);
    tried.option("window_left", &AttentionOptions::window_left);
    tried.option("window_right", &AttentionOptions::window_right);
    tried.option("softcap", &AttentionOptions::softcap);
    tried.option("max_seqlen_q", &AttentionOptions::max_seqlen_q);
    tried.option("max_seqlen_k", &AttentionOptions::max_seqlen_k);
    tried.option("num_splits", &AttentionOptions::num_splits);
    tried.option("split_size", &AttentionOptions::split_size);
    tried.option("attention_chunk", &AttentionOptions::attention_chunk);
    EXPECT_GT(tried.refused(), 12) << line;
  }
}

}  // namespace
}  // namespace isomer::bad_input
