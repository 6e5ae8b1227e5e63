// What the words of a refused call say is refused.
#include <gtest/gtest.h>

#include "lab/ask/adapting/refusal.hpp"

namespace isomer::lab {
namespace {

const std::vector<std::string> kNames = {"K", "DestLoc", "Out", "Out_scale", "head_num"};

struct Said {
  const char* message;
  const char* code;
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
        Said{"K must be float32", "dtype-refused", {"K"}},
        Said{"expected scalar type Long but found Int", "dtype-refused", {}},
        Said{"\"quantize\" not implemented for 'Half'", "dtype-refused", {}},
        Said{"Out_scale must be 2-D, got 3-D", "rank-refused", {"Out_scale"}},
        Said{"Expected K.dim() == 2 to be true, but got false.", "rank-refused", {"K"}},
        Said{"Dimension out of range (expected to be in range of [-3, 2], but got 3)", "rank-refused", {}},
        Said{"out must be contiguous", "assumes-contiguous", {"Out"}},
        Said{"Expected Out.is_contiguous() to be true, but got false.", "assumes-contiguous", {"Out"}},
        Said{"DestLoc must be a CPU tensor", "argument-kind", {"DestLoc"}},
        Said{"head_dim must be 64 or 128", "shape-refused", {}},
        Said{"K and Out must have the same shape", "shape-refused", {"K", "Out"}}));

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
