// A view answers for the dimensions that it has; any other is refused with a sentence.
#include <isomer/tensor.hpp>

#include <gtest/gtest.h>

#include <climits>
#include <string>

namespace isomer {
namespace {

std::string refusal(const Tensor& tensor, int dim) {
  std::string sentences[2];
  for (int i = 0; i < 2; ++i) {
    try {
      static_cast<void>(i == 0 ? tensor.size(dim) : tensor.stride(dim));
      return "answered";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_argument);
      sentences[i] = error.what();
    }
  }
  EXPECT_EQ(sentences[0], sentences[1]);
  return sentences[0];
}

TEST(Tensor, CountsNegativeDimensionsFromTheLast) {
  float data[6] = {};
  const Tensor tensor(data, DType::f32, {2, 3});
  EXPECT_EQ(tensor.size(0), 2);
  EXPECT_EQ(tensor.size(-1), 3);
  EXPECT_EQ(tensor.stride(-2), 3);
  EXPECT_EQ(tensor.stride(1), 1);
}

TEST(Tensor, RefusesADimensionThatItHasNot) {
  float data[6] = {};
  const Tensor row(data, DType::f32, {6});
  EXPECT_EQ(refusal(row, 7), "tensor: a dimension in [-1, 1) expected, got 7 for f32[6]");
  EXPECT_EQ(refusal(row, 1), "tensor: a dimension in [-1, 1) expected, got 1 for f32[6]");
  EXPECT_EQ(refusal(row, -2), "tensor: a dimension in [-1, 1) expected, got -2 for f32[6]");
  EXPECT_EQ(refusal(row, INT_MIN), "tensor: a dimension in [-1, 1) expected, got -2147483648 for f32[6]");
  const Tensor scalar(data, DType::f32, std::initializer_list<std::int64_t>{});
  EXPECT_EQ(refusal(scalar, 0), "tensor: dimension 0 of a tensor of rank 0 (f32[]) is asked for");
  EXPECT_EQ(refusal(scalar, -1), "tensor: dimension -1 of a tensor of rank 0 (f32[]) is asked for");
  EXPECT_EQ(refusal(Tensor(), 0), "tensor: dimension 0 of a tensor of rank 0 (absent) is asked for");
}

TEST(Tensor, RefusesEveryDimensionOfARankThatNoneHas) {
  Tensor tensor;
  tensor.dtype = DType::f32;
  tensor.rank = 9;
  EXPECT_EQ(refusal(tensor, 8), "tensor: rank 0 to 8 expected, got 9");
  tensor.rank = -1;
  EXPECT_EQ(refusal(tensor, -1), "tensor: rank 0 to 8 expected, got -1");
}

}  // namespace
}  // namespace isomer
