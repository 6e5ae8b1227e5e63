// Every form of a candidate can be called: a bare kernel, a template, a host function over pointers, over
// DLPack, a prebuilt library.
#include "written.hpp"

#include <isomer/error.hpp>

#include <cstdlib>

namespace isomer::lab::tests {
namespace {

constexpr const char* kScale = R"(#include <hip/hip_runtime.h>
__global__ void scale(const float* x, float* y, int n, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * factor;
}
)";

void expect_scaled(const Answer& answer, std::size_t output, float factor) {
  ASSERT_TRUE(answer.ok()) << answer.message;
  EXPECT_TRUE(answer.seen.empty()) << answer.seen[0].text;
  EXPECT_TRUE(answer.refused_launches.empty()) << answer.refused_launches[0];
  const auto* y = data_of<float>(answer.arguments[output]);
  for (std::int64_t i = 0; i < answer.arguments[output].tensor.numel(); ++i)
    ASSERT_EQ(y[i], static_cast<float>(i) * factor) << i;
}

TEST(CandidateForms, ABareKernelRunsOneThreadForEachElement) {
  const auto c = built("candidate.hip.cpp", kScale);
  ASSERT_EQ(c->entries().size(), 1u);
  const Entry& e = c->entries()[0];
  EXPECT_EQ(e.form, Entry::Form::kernel);
  EXPECT_EQ(e.place.line, 2);
  ASSERT_EQ(e.parameters.size(), 4u);
  EXPECT_EQ(e.parameters[0].kind, Parameter::Kind::pointer);
  EXPECT_EQ(e.parameters[0].element, DType::f32);
  EXPECT_TRUE(e.parameters[0].is_const);
  EXPECT_EQ(e.parameters[0].name, "x");
  EXPECT_EQ(e.parameters[0].type, "const float*");
  EXPECT_FALSE(e.parameters[1].is_const);
  EXPECT_EQ(e.parameters[2].kind, Parameter::Kind::integer);
  EXPECT_EQ(e.parameters[2].bits, 32);
  EXPECT_EQ(e.parameters[3].kind, Parameter::Kind::real);
  const Answer a = c->call(e,
                           {ramp("x", {300}), tensor_value("y", DType::f32, {300}), integer_value("n", 300),
                            real_value("factor", 0.5)},
                           {});
  expect_scaled(a, 1, 0.5f);
  EXPECT_EQ(a.launches, 1);
  EXPECT_EQ(a.launch, "grid (2,1,1) block (256,1,1): one thread for each element of the largest tensor");
}

}  // namespace
}  // namespace isomer::lab::tests
