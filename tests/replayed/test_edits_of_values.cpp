// Edits that write a whole value anew, exchange two of them or two statements, or complete a round of a loop.
#include <gtest/gtest.h>

#include "core/temporary_folder.hpp"
#include "first_tier.hpp"
#include "lab/candidate/folder.hpp"
#include "lab/evidence/edits/exchangeable.hpp"
#include "lab/findings/mend/verify_fixes.hpp"
#include "lab/judge/diagnose.hpp"
#include "recorded_call.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <set>
#include <string>

namespace isomer::lab {
namespace {

/// Each edit as one text: the lines that it changes, one behind the other.
std::set<std::string> edits_of(const std::string& source) {
  std::set<std::string> all;
  for (const Exchange& each : exchangeable(source).edits) {
    std::string text = each.becomes;
    for (const EditedLine& other : each.also) text += "\n" + other.becomes;
    all.insert(text);
  }
  return all;
}

constexpr const char* kGated = R"(#include <cuda_runtime.h>
#include <cmath>

__global__ void gated_kernel(const float* x, const float* bias, float* y, int rows, int dim, float eps) {
  const int row = blockIdx.x;
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    const float gate = x[row * 2 * dim + d];
    const float up = x[row * 2 * dim + dim + d];
    const float open = 1.f / (1.f + expf(-gate));
    float total = 0.f;
    for (int k = 0; k <= d; ++k) total += x[row * 2 * dim + k];
    y[row * dim + d] = up * (open + bias[d]) / (fabsf(total) + eps);
  }
}

extern "C" void gated(const float* x, const float* bias, float* y, int rows, int dim, float eps) {
  gated_kernel<<<rows, 32>>>(x, bias, y, rows, dim, eps);
}
)";

Recording gated() {
  Recording recording;
  std::mt19937 engine(5);
  std::normal_distribution<float> normal;
  const auto drawn = [&](const std::string& name, const std::vector<std::int64_t>& shape) {
    Value value = tensor_value(name, DType::f32, shape);
    for (std::int64_t i = 0; i < value.tensor.numel(); ++i)
      static_cast<float*>(value.tensor.data)[i] = normal(engine);
    return value;
  };
  for (const std::int64_t rows : {3, 5}) {
    constexpr std::int64_t kDim = 12;
    record(recording, "gated",
           {drawn("x", {rows, 2 * kDim}), drawn("bias", {kDim}), tensor_value("y", DType::f32, {rows, kDim}),
            real_value("eps", 0.5)},
           [rows](std::vector<Value>& v) {
             const auto* x = static_cast<const float*>(v[0].tensor.data);
             const auto* bias = static_cast<const float*>(v[1].tensor.data);
             for (std::int64_t r = 0; r < rows; ++r) {
               double total = 0;
               for (std::int64_t d = 0; d < kDim; ++d) {
                 const double gate = double(x[r * 2 * kDim + d]), up = double(x[r * 2 * kDim + kDim + d]);
                 total += gate;
                 static_cast<float*>(v[2].tensor.data)[r * kDim + d] = static_cast<float>(
                     up * (1 / (1 + std::exp(-gate)) + double(bias[d])) / (std::fabs(total) + 0.5));
               }
             }
           });
  }
  return recording;
}

CaseFolder folder_of(const std::filesystem::path& place, const std::string& source) {
  std::ofstream(place / "candidate.cu") << source;
  save_recording((place / "recording.safetensors").string(), gated());
  CaseFolder folder;
  folder.folder = place;
  folder.candidates = {place / "candidate.cu"};
  folder.recording = place / "recording.safetensors";
  return folder;
}

Diagnosis judged_source(const std::filesystem::path& place, const std::string& source) {
  return diagnose_folder(folder_of(place, source)).at(0);
}

std::string with(std::string source, const std::string& was, const std::string& is) {
  source.replace(source.find(was), was.size(), is);
  return source;
}

TEST(EditsOfValues, ARightSourcePasses) {
  const core::TemporaryFolder place("test", "values");
  EXPECT_EQ(judged_source(place.path(), kGated).verdict(), "pass");
}

TEST(EditsOfValues, FindBracketsAnEpsilonAndTwoLinesThatHaveChangedPlaces) {
  struct Case {
    const char *was, *is, *says;
    std::size_t lines;
  };
  const Case cases[] = {{"up * (open + bias[d]) /", "(up * open + bias[d]) /", "up * (open + bias[d])", 1},
                        {"(fabsf(total) + eps)", "fabsf(total)", "eps", 1},
                        {"gate = x[row * 2 * dim + d];\n    const float up = x[row * 2 * dim + dim + d]",
                         "gate = x[row * 2 * dim + dim + d];\n    const float up = x[row * 2 * dim + d]",
                         "in lines 7 and 8", 2}};
  for (const Case& each : tests::every_nth(cases, 2)) {
    const core::TemporaryFolder place("test", "values");
    const std::string source = with(kGated, each.was, each.is);
    const Diagnosis said = judged_source(place.path(), source);
    ASSERT_EQ(said.verdict(), "fail") << each.is;
    bool found = false;
    for (const Finding& finding : said.findings) {
      if (finding.fix.find(each.says) == std::string::npos) continue;
      found = true;
      EXPECT_EQ(finding.edited_also.size() + 1, each.lines) << finding.evidence;
    }
    EXPECT_TRUE(found) << each.is << ": " << (said.findings.empty() ? "" : said.findings[0].evidence);
  }
}

// Extensions call the type of their numbers scalar_t.
TEST(EditsOfValues, BracketASumOfATemplatesNumbers) {
  const core::TemporaryFolder place("test", "values");
  std::string source = with(kGated, "up * (open + bias[d]) /", "scaled(up, open, bias[d]) /");
  source = with(source, "__global__",
                "template <typename scalar_t>\n"
                "__device__ scalar_t scaled(scalar_t by, scalar_t a, scalar_t b) {\n"
                "  return by > scalar_t(9) ? by : by * a + b;\n}\n\n__global__");
  const Diagnosis said = judged_source(place.path(), source);
  EXPECT_EQ(said.verdict(), "fail");
  EXPECT_TRUE(std::any_of(said.findings.begin(), said.findings.end(), [](const Finding& each) {
    return each.fix.find("by * (a + b)") != std::string::npos;
  })) << (said.findings.empty() ? "" : said.findings[0].evidence);
}

TEST(EditsOfValues, OfTwoLinesAreAPatchThatPasses) {
  const core::TemporaryFolder place("test", "values");
  const std::string source =
      with(kGated, "gate = x[row * 2 * dim + d];\n    const float up = x[row * 2 * dim + dim + d]",
           "gate = x[row * 2 * dim + dim + d];\n    const float up = x[row * 2 * dim + d]");
  const Diagnosis said = judged_source(place.path(), source);
  const CaseFolder folder = folder_of(place.path(), source);
  const VerifiedFixes fixes = verify_fixes(folder, place.path() / "candidate.cu", said, 60);
  EXPECT_TRUE(fixes.passes) << fixes_in_words(fixes, "x.patch");
  EXPECT_NE(fixes.patch.find("+    const float gate = x[row * 2 * dim + d];"), std::string::npos)
      << fixes.patch;
  EXPECT_NE(fixes.patch.find("+    const float up = x[row * 2 * dim + dim + d];"), std::string::npos)
      << fixes.patch;
}

TEST(EditsOfValues, AreThoseThatSourcesAreWrongBy) {
  const std::set<std::string> edits = edits_of(R"(
__global__ void f(const float* x, float* y, int n, int heads, int kv_heads, float eps) {
  const int h = blockIdx.x % kv_heads, whole = n / 4 * 4;
  const int first = n, second = heads + n;
  float sum = 0.f, most = -INFINITY;
  for (int t = 0; t < n; ++t) {
    for (int k = 0; k < whole; ++k) sum += x[k];
    const float rescale = expf(most);
    most = fmaxf(most, x[t]);
    sum = sum - most * x[h];
  }
  const float root = rsqrtf(sum + eps);
  y[0] = sum;
  y[1] = root / (y[0] * y[2]);
}
)");
  for (const char* edit :
       {"const int h = blockIdx.x / (heads / kv_heads), whole = n / 4 * 4;",
        "const int h = blockIdx.x % kv_heads, whole = n;", "const int first = heads + n, second = n;",
        "for (int t = 0; t < n; ++t) { sum = 0.f;", "const float rescale = expf(most); sum *= rescale;",
        "sum = (sum - most) * x[h];", "const float root = (rsqrtf(sum) + eps);", "y[1] = root / y[0] * y[2];",
        "y[1] = root / (y[0] * y[2]);\ny[0] = sum;", "sum = sum - most * x[h];\nmost = fmaxf(most, x[t]);"})
    EXPECT_EQ(edits.count(edit), 1u) << edit;
}

TEST(EditsOfValues, CompleteTheRoundsOfALoop) {
  const std::set<std::string> edits = edits_of(R"(
__global__ void f(const float* x, const int* skip, const unsigned char* bits, float* y, int n, int heads, int dim) {
  const int row = blockIdx.x;
  float state = 0.f, sum = 0.f;
  for (int t = 0; t < n; ++t) sum += x[t];
  for (int t = 0; t < n; ++t) {
    const float next = fmaxf(state, x[row * heads]);
    sum += next * bits[t];
    y[t] = sum;
    x += 32;
    y += 64;
  }
  float total;
  for (int h = 0; h < heads; ++h) {
    total = 0.f;
    for (int d = 0; d < dim; ++d) total += y[h / dim];
  }
  if (row < n) y[31 - row % 32] = total;
}
)");
  for (const char* edit :
       {"state = next; }", "sum = 0.f; for (int t = 0; t < n; ++t) {",
        "total = 0.f; for (int h = 0; h < heads; ++h) {\n;", "y += 64; bits += 32;",
        "const float next = fmaxf(state, x[row * heads + t % heads]);",
        "y[t] = sum;\nx += 32;\nsum += next * bits[t];", "y[row % 32] = total;",
        "sum += next * (signed char)bits[t];", "const int row = blockIdx.x; if (skip[row] < 0) return;"}) {
    const std::string whole = edit;
    const bool found = std::any_of(edits.begin(), edits.end(), [&](const std::string& each) {
      return each.find(whole) != std::string::npos;
    });
    EXPECT_TRUE(found) << edit;
  }
}

TEST(EditsOfValues, LeaveTypesAndCallsOfTemplatesWhole) {
  const std::set<std::string> edits = edits_of(R"(
template <typename F>
__global__ void f(const F* __restrict__ const in, F* __restrict__ const out, int n, int m, F eps) {
  const F *__restrict__ const x = in + n;
  const F total = 1 / reduce<false>(x[m], n) + eps;
  out[n] = total;
}
)");
  for (const std::string& each : edits) {
    EXPECT_EQ(each.find("F -"), std::string::npos) << each;
    EXPECT_EQ(each.find("reduce + eps"), std::string::npos) << each;
  }
  EXPECT_EQ(edits.count("const F total = 1 / (reduce<false>(x[m], n) + eps);"), 1u);
}

TEST(EditsOfValues, ChangeAllShufflesOfABodyAtOnce) {
  const std::set<std::string> edits = edits_of(R"(
__device__ float best(float v, int place) {
  for (int s = 16; s > 0; s >>= 1) {
    const float other = __shfl_down_sync(0xffffffffu, v, s);
    const int where = __shfl_down_sync(0xffffffffu, place, s);
    if (other > v) { v = other; place = where; }
  }
  return v;
}
)");
  EXPECT_EQ(edits.count("const float other = __shfl_xor_sync(0xffffffffu, v, s);\n"
                        "const int where = __shfl_xor_sync(0xffffffffu, place, s);"),
            1u);
}

/// The same of a source whose label names half a pixel and a logarithm.
std::set<std::string> edits_beside_label(const std::string& source) {
  std::set<std::string> all;
  for (const Exchange& each : exchangeable(source, {}, {{"0.0f"}, {"logf"}, {"0.5"}, {}}).edits)
    all.insert(each.becomes);
  return all;
}

TEST(EditsOfValues, ReachSignsHalfPixelsAndFunctions) {
  const std::set<std::string> edits = edits_beside_label(R"(
template <typename T>
__global__ void k(const T* x, T* y, int n, T angle, float scale, int bits) {
  const int i = threadIdx.x;
  T c = cosf(angle), s = sinf(angle);
  const float at = i * scale;
  const int most = (int)(n * scale);
  const int high = 1 << bits - 1;
  const float low = (float)(bits >> 24);
  y[i] = x[i] / at + c * s + most + high + low;
}
__device__ float lift(float a) { return a; }
)");
  for (const char* each :
       {"T c = cosf(angle), s = sinf(-angle);", "const float at = (i + 0.5f) * scale - 0.5f;",
        "const float at = i * scale - 0.5f;", "const int most = (int)ceilf((n * scale));",
        "const int high = (1 << bits) - 1;", "const float low = (float)(signed char)(bits >> 24);",
        "y[i] = x[i] / logf(at) + c * s + most + high + low;",
        "__device__ float lift(float a) { return fabsf(a); }"})
    EXPECT_EQ(edits.count(each), 1u) << each;
  // Halves are no matter where the label names none.
  EXPECT_EQ(edits_of("__global__ void k(float* y, float s) { const int i = threadIdx.x;\nconst float at = i "
                     "* s;\ny[i] = at; }")
                .count("const float at = i * s - 0.5f;"),
            0u);
}

TEST(EditsOfValues, ReachDimensionsAndWhatLiesBesideThem) {
  const std::set<std::string> edits = edits_of(R"(
struct Shape { int heads, kv_heads; };
__global__ void k(const float* x, const float* seed, float* y, int H, int W, int keys, int queries, Shape p) {
  const int n = blockIdx.y, h = blockIdx.x, w = threadIdx.x;
  const int place = h * W + w;
  const int last = w + 1;
  const int group = h % p.kv_heads;
  const float corner = x[0] + x[1] * x[2] + x[4] * x[4];
  float sum = 0.f;
  int first = max(last - 4, 0);
  y[place] = x[W] + corner + sum + group + first + seed[n];
}
)");
  for (const char* each :
       {"const int place = (n * H + h) * W + w;", "const int last = w + 1 + keys - queries;",
        "const int group = h / (p.heads / p.kv_heads);",
        "const float corner = x[0] + x[1] * x[2] + x[3] * x[4];", "float sum = 0.f + seed[place];",
        "int first = max(last - 4, queries);",
        "y[place] = x[W * H] + corner + sum + group + first + seed[n];"})
    EXPECT_EQ(edits.count(each), 1u) << each;
}

TEST(EditsOfValues, GiveAnOperandTheOperationThatItLacks) {
  const std::set<std::string> edits = edits_beside_label(R"(
__global__ void k(const float* x, const int* valid, int* place, float* y, int group, int m, int n) {
  const int i = threadIdx.x;
  const int turn = i / n;
  const int base = group * m;
  const int at = place[i];
  int count = 0;
  if (valid[i] > 0) count += 1;
  int wrapped = (turn + base) * n;
  const float side = turn == 0 ? x[i] + x[at] : x[base];
  y[i] = side + count + wrapped;
}
int blocks(int n, int threads) { return n < threads ? 1 : n / threads; }
void f(const float* x, float* y, int n) { cudaMemset(y, 0, n * 3); }
)");
  for (const char* each :
       {"const int turn = group * m + i / n;", "const int at = place[i]++;",
        "if (valid[i] > 0) count += valid[i];", "int wrapped = ((turn + base) % m) * n;",
        "const float side = turn % 2 == 0 ? x[i] + x[at] : x[base];",
        "const float side = turn == 0 ? x[i] + logf(x[at]) : x[base];",
        "int blocks(int n, int threads) { return (n + threads - 1) / threads; }",
        "void f(const float* x, float* y, int n) { cudaMemset(y, 0, n * 3 * sizeof(float)); }"})
    EXPECT_EQ(edits.count(each), 1u) << each;
}

TEST(EditsOfValues, ReachWhatIsNestedAndWhatARowOfStatementsLacks) {
  const std::set<std::string> edits = edits_of(R"(
struct Sums { float m, sx, sy; };
__global__ void k(const float* x, float4* y, float* total, float t, float eps, int n) {
  const int i = threadIdx.x;
  Sums s;
  s.sx *= eps; s.m *= eps;
  float4 v = y[i];
  v.x *= t; v.y *= t; v.z *= t;
  y[i] = v;
  float m = x[i], m2 = x[i + n];
  float low = fmaxf(sqrtf(m), eps);
  float sum = m + m2 * expf(m2 - t);
  float size = log1pf(fabsf(t));
  float part = 3.0f * m - m2;
  float whole = eps * m2;
  float series = 2.0f / t;
  int at = i;
  if (at >= n) at = n - 1;
  if (t > 0.f) low = sum; else low = size;
  *total = low + part + whole + series + at;
}
)");
  for (const char* each :
       {"s.sx *= eps; s.m *= eps; s.sy *= eps;", "v.x *= t; v.y *= t; v.z *= t; v.w *= t;",
        "float low = sqrtf(fmaxf(m, eps));", "float sum = m * expf(m - t) + m2 * expf(m2 - t);",
        "float size = copysignf(log1pf(fabsf(t)), t);", "float part = m - 3.0f * m2;",
        "float whole = eps * eps * m2;", "float series = 2.0f / t - 1.0f;", "if (at >= n) at = at - n;",
        "if (t > 0.f) low = sum; low = size;", "*total += low + part + whole + series + at;"})
    EXPECT_EQ(edits.count(each), 1u) << each;
}

TEST(EditsOfValues, OfHostCodeExchangeSizesStridesAndDimensions) {
  const std::set<std::string> edits = edits_of(R"(
__global__ void k(const float* x, const float* v, float* v_out, int n, float beta) {}
void f(at::Tensor x, const float* v, float* v_out, int beta) {
  auto t = x.permute({0, 3, 2, 1});
  long step = x.size(1);
  double w = std::log10(step);
  k<<<1, 32>>>(t, v, v_out, 1, beta);
}
)");
  for (const char* each :
       {"auto t = x.permute({0, 2, 3, 1});", "long step = x.stride(1);", "double w = std::log(step);",
        "k<<<1, 32>>>(t, v_out, v_out, 1, beta);", "k<<<1, 32>>>(t, v, v_out, beta, 1);"})
    EXPECT_EQ(edits.count(each), 1u) << each;
}

TEST(EditsOfValues, TheOneOfAnExponentialIsATermAndNoBase) {
  const std::string source = R"(#include <cuda_runtime.h>
__global__ void selu(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > 0.f ? x[i] : 1.67f * expf(x[i]);
}
extern "C" void launch(const float* x, float* y, int n) { selu<<<(n + 63) / 64, 64>>>(x, y, n); }
)";
  const Exchangeable with = exchangeable(source);
  const auto code_of = [&](const std::string& function) {
    const auto found = std::find_if(with.edits.begin(), with.edits.end(), [&](const Exchange& each) {
      return each.becomes.find(function + "(x[i])") != std::string::npos && each.also.empty();
    });
    return found == with.edits.end() ? Code::unexplained : found->code;
  };
  EXPECT_EQ(code_of("expm1f"), Code::missing_term);
  EXPECT_EQ(code_of("exp2f"), Code::log_base);
}

}  // namespace
}  // namespace isomer::lab
