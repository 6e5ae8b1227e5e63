// The line that a finding of numbers is given: one that computes, and no comment, no enumeration and no text.
#include "lab/findings/source_places.hpp"

#include <gtest/gtest.h>

namespace isomer::lab {
namespace {

struct Placed {
  const char* name;
  const char* source;
  int line;
};
void PrintTo(const Placed& placed, std::ostream* out) { *out << placed.name; }

class ALine : public testing::TestWithParam<Placed> {};

TEST_P(ALine, IsOneThatComputes) { EXPECT_EQ(line_of(GetParam().source, {"scale"}), GetParam().line); }

INSTANTIATE_TEST_SUITE_P(
    Of, ALine,
    testing::Values(
        Placed{"kernel_before_host",
               "void launch(float scale) {\n"
               "  run(1 / scale);\n"
               "}\n"
               "__global__ void run(float* y, float scale) {\n"
               "  y[0] *= scale;\n"
               "}\n",
               5},
        Placed{"enumeration_last",
               "enum class Mode {\n"
               "  scale_once,\n"
               "  none\n"
               "};\n"
               "constexpr float kOf = scale;\n",
               5},
        Placed{"enumeration_of_one_line_last", "enum Mode { scale_once };\nfloat scale_of(float x);\n", 2},
        Placed{"enumeration_where_nothing_else", "enum Mode {\n  scale_once\n};\n", 2},
        Placed{"no_comment",
               "// scale\n/* scale\n scale */\n__device__ float f(float x) {\n  return scale(x);\n}\n", 5},
        Placed{"no_text", "void f() {\n  printf(\"scale {\\\"\");\n  use(R\"(scale\n)\");\n  scale(1);\n}\n",
               5},
        Placed{"kernel_within_a_namespace",
               "namespace a { struct S {\n"
               "  float scale;\n"
               "};\n"
               "template <int N> __global__ void run(S s) {\n"
               "  for (int i = 0; i < N; ++i) {\n"
               "    use(s.scale);\n"
               "  }\n"
               "}}\n",
               6},
        Placed{"separators_of_digits", "void f() {\n  g(1'000);\n  scale('x');\n}\n", 3},
        Placed{"none", "int x;\n", 0}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace isomer::lab
