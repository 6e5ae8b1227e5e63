// What the words of a refused call say is refused.
#include <gtest/gtest.h>

#include "lab/ask/adapting/refusal.hpp"

namespace isomer::lab {
namespace {

const std::vector<std::string> kNames = {"K", "DestLoc", "Out", "Out_scale", "head_num"};

struct Said {
  const char* message;
  Code code;
  std::vector<std::string> arguments;
};

class Words : public testing::TestWithParam<Said> {};

TEST_P(Words, TellWhatIsRefusedAndOfWhich) {
  const Refusal refusal = refusal_of(GetParam().message, kNames);
  EXPECT_EQ(refusal.code, GetParam().code);
  EXPECT_EQ(refusal.arguments, GetParam().arguments);
}

INSTANTIATE_TEST_SUITE_P(
    Refusals, Words,
    testing::Values(
        Said{"K must be float32", Code::dtype_refused, {"K"}},
        Said{"expected scalar type Long but found Int", Code::dtype_refused, {}},
        Said{"\"quantize\" not implemented for 'Half'", Code::dtype_refused, {}},
        Said{"Out_scale must be 2-D, got 3-D", Code::rank_refused, {"Out_scale"}},
        Said{"Expected K.dim() == 2 to be true, but got false.", Code::rank_refused, {"K"}},
        Said{
            "Dimension out of range (expected to be in range of [-3, 2], but got 3)", Code::rank_refused, {}},
        Said{"out must be contiguous", Code::assumes_contiguous, {"Out"}},
        Said{"Expected Out.is_contiguous() to be true, but got false.", Code::assumes_contiguous, {"Out"}},
        Said{"DestLoc must be a CPU tensor", Code::argument_kind, {"DestLoc"}},
        Said{"head_dim must be 64 or 128", Code::shape_refused, {}},
        Said{"K and Out must have the same shape", Code::shape_refused, {"K", "Out"}}));

TEST(TheWords, OfPyTorchTellTheDtypeThatIsMeant) {
  const std::string message = "expected scalar type Long but found Int";
  EXPECT_TRUE(may_be_meant(message, DType::i32, DType::i64));
  EXPECT_FALSE(may_be_meant(message, DType::f16, DType::i64));
  EXPECT_FALSE(may_be_meant(message, DType::i32, DType::f32));
  EXPECT_TRUE(may_be_meant("no such size", DType::f16, DType::i64));
}

TEST(TheWords, NameAnArgumentByItsWholeName) {
  EXPECT_TRUE(names_argument("OUT_SCALE is wrong", "Out_scale"));
  EXPECT_FALSE(names_argument("Out_scale is wrong", "Out"));
  EXPECT_FALSE(names_argument("expected a tensor", "a"));
  EXPECT_FALSE(names_argument("k is wrong", "K"));
}

}  // namespace
}  // namespace isomer::lab
