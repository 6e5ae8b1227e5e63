// Faults that no experiment names, found by an edit of the source with which every call is right; and that a
// right source is not accused, and that only expressions are exchanged.
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
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <string>

namespace isomer::lab {
namespace {

Value drawn(std::mt19937& engine, const std::string& name, const std::vector<std::int64_t>& shape) {
  Value value = tensor_value(name, DType::f32, shape);
  std::normal_distribution<float> normal;
  for (std::int64_t i = 0; i < value.tensor.numel(); ++i)
    static_cast<float*>(value.tensor.data)[i] = normal(engine);
  return value;
}
/// Pairs of elements half a head apart, turned by an angle of their token, and weighed by their head.
Recording turned_heads() {
  Recording recording;
  std::mt19937 engine(11);
  for (const std::int64_t tokens : {5, 9}) {
    constexpr std::int64_t kHeads = 3, kHalf = 4;
    record(recording, "turned_heads",
           {drawn(engine, "x", {tokens, kHeads, 2 * kHalf}), drawn(engine, "angle", {tokens, kHalf}),
            drawn(engine, "weight", {kHeads, kHalf}), drawn(engine, "bias", {kHeads, kHalf}),
            tensor_value("y", DType::f32, {tokens, kHeads, 2 * kHalf})},
           [tokens](std::vector<Value>& v) {
             for (std::int64_t t = 0; t < tokens; ++t)
               for (std::int64_t h = 0; h < kHeads; ++h)
                 for (std::int64_t d = 0; d < kHalf; ++d) {
                   const std::int64_t at = (t * kHeads + h) * 2 * kHalf + d;
                   const double a = double(f32(v[0])[at]), b = double(f32(v[0])[at + kHalf]),
                                angle = double(f32(v[1])[t * kHalf + d]),
                                w = double(f32(v[2])[h * kHalf + d]), bias = double(f32(v[3])[h * kHalf + d]);
                   f32(v[4])[at] = static_cast<float>(w * (a * std::cos(angle) - b * std::sin(angle)) + bias);
                   f32(v[4])[at + kHalf] =
                       static_cast<float>(a * std::sin(angle) + b * std::cos(angle) - w * bias);
                 }
           });
  }
  return recording;
}

constexpr const char* kTurnedHeads = R"(#include <cuda_runtime.h>
#include <math.h>

__global__ void turn(const float* x, const float* angle, const float* weight, const float* bias, float* y,
                     int heads, int half) {
  const int token = blockIdx.x, head = blockIdx.y;
  for (int d = threadIdx.x; d < half; d += blockDim.x) {
    const float* from = x + (token * heads + head) * 2 * half;
    float* to = y + (token * heads + head) * 2 * half;
    const float a = from[d], b = from[d + half];
    const float c = cosf(angle[token * half + d]), s = sinf(angle[token * half + d]);
    const float w = weight[head * half + d], o = bias[head * half + d];
    to[d] = w * (a * c - b * s) + o;
    to[d + half] = a * s + b * c - w * o;
  }
}

extern "C" void turned_heads(const float* x, const float* angle, const float* weight, const float* bias, float* y,
                             int tokens, int heads, int dim) {
  const int half = dim / 2;
  turn<<<dim3(tokens, heads), 32>>>(x, angle, weight, bias, y, heads, half);
}
)";

/// Rows less their mean and not below 0, and two more.
Recording centred_rows() {
  Recording recording;
  std::mt19937 engine(13);
  for (const std::int64_t rows : {3, 8}) {
    const std::int64_t cols = 11 * rows + 2;
    record(recording, "centred_rows",
           {drawn(engine, "x", {rows, cols}), tensor_value("y", DType::f32, {rows, cols})},
           [rows, cols](std::vector<Value>& v) {
             for (std::int64_t r = 0; r < rows; ++r) {
               double sum = 0;
               for (std::int64_t c = 0; c < cols; ++c) sum += double(f32(v[0])[r * cols + c]);
               for (std::int64_t c = 0; c < cols; ++c)
                 f32(v[1])[r * cols + c] = static_cast<float>(
                     std::max(double(f32(v[0])[r * cols + c]) - sum / double(cols), 0.0) + 2);
             }
           });
  }
  return recording;
}

constexpr const char* kCentredRows = R"(#include <cuda_runtime.h>
#include <math.h>

__global__ void centre(const float* x, float* y, int rows, int cols) {
  __shared__ float part[64];
  const int row = blockIdx.x;
  float sum = 0.f;
  for (int c = threadIdx.x; c < cols; c += 64) sum += x[row * cols + c];
  part[threadIdx.x] = sum;
  __syncthreads();
  float all = 0.f;
  for (int i = 0; i < 64; ++i) all += part[i];
  const float mean = all / cols;
  for (int c = threadIdx.x; c < cols; c += 64) {
    const float off = fmaxf(x[row * cols + c] - mean, 0.f);
    y[row * cols + c] = off;
  }
}

__global__ void one_more(float* y, int n) {
  const int at = blockIdx.x * 64 + threadIdx.x;
  if (at >= n) return;
  y[at] += 1.f;
}

__global__ void one_more_of_four(float* y, int n) {
  const int first = 4 * (blockIdx.x * 64 + threadIdx.x);
  for (int k = first; k < first + 4 && k < n; ++k) y[k] += 1.f;
}

extern "C" void centred_rows(const float* x, float* y, int rows, int cols) {
  centre<<<rows, 64>>>(x, y, rows, cols);
  one_more<<<(rows * cols + 63) / 64, 64>>>(y, rows * cols);
  one_more_of_four<<<(rows * cols + 255) / 256, 64>>>(y, rows * cols);
}
)";

struct Fault {
  const char* name;
  const char *right, *wrong;  ///< of the source
  int line;
  Code code = Code::wrong_expression;
  const char* mended = nullptr;  ///< the line with the edit; null: as it was
};
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

CaseFolder folder_of(const std::filesystem::path& place, const std::string& source,
                     const Recording& recording = turned_heads()) {
  return case_of(place, source, recording);
}

std::string text_of(const Diagnosis& said) {
  std::string text = said.verdict() + " " + said.error;
  for (const Finding& each : said.findings) text += "\n" + said_against(each) + ": " + each.evidence;
  return text;
}

std::string line_of(const std::string& source, int line) {
  std::size_t at = 0;
  while (--line > 0) at = source.find('\n', at) + 1;
  const std::string found = source.substr(at, source.find('\n', at) - at);
  return found.substr(found.find_first_not_of(' '));
}

void expect_found_and_mended(const Fault& fault, const std::string& right, const Recording& recording) {
  std::string source = right;
  const std::size_t at = source.find(fault.right);
  ASSERT_NE(at, std::string::npos);
  source.replace(at, std::string(fault.right).size(), fault.wrong);
  const core::TemporaryFolder place("test", "one-edit");
  const CaseFolder folder = folder_of(place.path(), source, recording);
  const Diagnosis said = diagnose_folder(folder).at(0);
  ASSERT_EQ(said.findings.size(), 1u) << text_of(said);
  const Finding& finding = said.findings.front();
  const std::string mended = fault.mended != nullptr ? fault.mended : line_of(right, fault.line);
  EXPECT_EQ(finding.code, fault.code) << text_of(said);
  EXPECT_EQ(finding.location.line, fault.line) << text_of(said);
  EXPECT_EQ(finding.edited, mended) << text_of(said);
  EXPECT_NE(finding.evidence.find("all 2 calls are right"), std::string::npos) << finding.evidence;
  const VerifiedFixes fixes = verify_fixes(folder, folder.candidates.front(), said, 60);
  EXPECT_TRUE(fixes.passes);
  EXPECT_NE(fixes.patch.find(mended), std::string::npos) << fixes.patch;
}

class OneEdit : public testing::TestWithParam<Fault> {};

TEST_P(OneEdit, IsFoundAndMends) { expect_found_and_mended(GetParam(), kTurnedHeads, turned_heads()); }

class OneEditOfRows : public testing::TestWithParam<Fault> {};

TEST_P(OneEditOfRows, IsFoundAndMends) { expect_found_and_mended(GetParam(), kCentredRows, centred_rows()); }

INSTANTIATE_TEST_SUITE_P(
    Of, OneEditOfRows,
    testing::Values(Fault{"barrier", "  __syncthreads();\n", "\n", 9, Code::missing_barrier,
                          "part[threadIdx.x] = sum; __syncthreads();"},
                    Fault{"clamp", "fmaxf(x[row * cols + c] - mean, 0.f)", "x[row * cols + c] - mean", 15,
                          Code::clamp, "const float off = fmaxf(x[row * cols + c] - mean, 0.0f);"}),
    [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(
    More, OneEditOfRows,
    testing::ValuesIn(tests::in_second_tier<Fault>(
        {{"divisor", "all / cols", "all", 9, Code::missing_term, "part[threadIdx.x] = sum / cols;"},
         {"index_beyond", "sum += x[row * cols", "sum += x[rows * cols", 8, Code::out_of_bounds_read},
         {"one_beyond", "&& k < n; ++k", "&& k <= n; ++k", 28, Code::out_of_bounds_write},
         {"bound_of_a_loop", " && k < n; ++k", "; ++k", 28, Code::tail_mask},
         {"end_of_a_thread", "  if (at >= n) return;\n", "\n", 21, Code::tail_mask,
          "const int at = blockIdx.x * 64 + threadIdx.x; if (at >= n) return;"}})),
    [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Of, OneEdit,
    testing::Values(Fault{"sign_of_a_term", "a * s + b * c - w * o", "a * s - b * c - w * o", 14},
                    Fault{"place_of_another", "b = from[d + half]", "b = from[d + heads]", 10}),
    [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(More, OneEdit,
                         testing::ValuesIn(tests::in_second_tier<Fault>(
                             {{"name_of_another", "w * (a * c - b * s) + o", "w * (a * c - b * s) + b", 13},
                              {"operator", "b * c - w * o", "b * c - w / o", 14},
                              {"term", "b * s) + o", "b * s)", 13, Code::missing_term},
                              {"factor_of_an_index", "angle[token * half + d])", "angle[token + d])", 11}})),
                         [](const auto& info) { return std::string(info.param.name); });

/// The recording, and what its label answers without the bias, with it twice, and by cosines for sines.
Recording with_edits_of_the_label() {
  Recording recording = turned_heads();
  EditedReference& edited = recording.edited;
  edited.edits = {{7, "w * o", "o", "missing-scale"},
                  {6, "w * t + o", "w * t", "missing-term"},
                  {5, "sin(angle)", "cos(angle)", "wrong-expression"}};
  for (std::size_t c = 0; c < recording.calls.size(); ++c) {
    const std::vector<Value>& v = recording.calls[c].before;
    constexpr std::int64_t kHeads = 3, kHalf = 4;
    EditedReference::Output output;
    output.index = 4;
    for (std::int64_t at = c; at < v[4].tensor.numel(); at += 3) output.at.push_back(at);
    for (std::size_t e = 0; e < edited.edits.size(); ++e)
      for (const std::int64_t at : output.at) {
        const std::int64_t token = at / (kHeads * 2 * kHalf), row = at / (2 * kHalf), d = at % kHalf;
        const bool second = at % (2 * kHalf) >= kHalf;
        const double a = double(f32(v[0])[row * 2 * kHalf + d]),
                     b = double(f32(v[0])[row * 2 * kHalf + d + kHalf]),
                     angle = double(f32(v[1])[token * kHalf + d]),
                     w = double(f32(v[2])[row % kHeads * kHalf + d]),
                     bias = double(f32(v[3])[row % kHeads * kHalf + d]), c = std::cos(angle),
                     s = e == 2 ? c : std::sin(angle);
        edited.edits[e].answers.push_back(static_cast<float>(
            second ? a * s + b * c - (e == 0 ? bias : w * bias) : w * (a * c - b * s) + (e == 1 ? 0 : bias)));
      }
    edited.calls.push_back({c, {output}});
  }
  return recording;
}

TEST(OneEdit, OfTheLabelIsWhatAPortDoes) {
  const Recording recording = with_edits_of_the_label();
  const struct {
    const char *right, *wrong;
    Code code;
    const char* words;
  } faults[] = {{"w * (a * c - b * s) + o", "w * (a * c - b * s)", Code::missing_term,
                 "with 'w * t' in place of 'w * t + o' in its line 6 (2 calls were compared, with 3 edits of "
                 "it)"},
                {"s = sinf(angle", "s = cosf(angle", Code::wrong_expression,
                 "with 'cos(angle)' in place of 'sin(angle)'"}};
  for (const auto& fault : faults) {
    SCOPED_TRACE(fault.wrong);
    std::string source = kTurnedHeads;
    source.replace(source.find(fault.right), std::string(fault.right).size(), fault.wrong);
    const core::TemporaryFolder place("test", "label-edit");
    CaseFolder folder = folder_of(place.path(), source);
    save_recording(folder.recording.string(), recording);
    const Diagnosis said = diagnose_folder(folder).at(0);
    ASSERT_EQ(said.findings.size(), 1u) << text_of(said);
    EXPECT_EQ(said.findings[0].code, fault.code) << text_of(said);
    EXPECT_NE(said.findings[0].evidence.find(fault.words), std::string::npos) << text_of(said);
  }
}

TEST(OneEdit, OfTheLabelIsNotToldWhereAnswersAreNone) {
  std::string source = kTurnedHeads;
  source.replace(source.find("w * (a * c - b * s) + o"), 23, "1.25f * (a * c - b * s) + o");
  const core::TemporaryFolder place("test", "label-edit");
  const CaseFolder folder = folder_of(place.path(), source);
  save_recording(folder.recording.string(), with_edits_of_the_label());
  const Diagnosis said = diagnose_folder(folder).at(0);
  EXPECT_NE(said.verdict(), "pass");
  EXPECT_EQ(text_of(said).find("what the label gives"), std::string::npos) << text_of(said);
}

TEST(OneEdit, OfAKnownOpIsFound) {
  std::ifstream right(ISOMER_CANDIDATES
                      "/../../../examples/ports/act_quant_corrected/candidate_corrected.hip.cpp");
  std::string source{std::istreambuf_iterator<char>(right), {}};
  const std::string quotient = "x[first + i] / scale";
  ASSERT_NE(source.find(quotient), std::string::npos);
  source.replace(source.find(quotient), quotient.size(), "x[first + i] / amax");
  const core::TemporaryFolder place("test", "one-edit");
  std::ofstream(place.path() / "candidate.hip.cpp") << source;
  CaseFolder folder;
  folder.folder = place.path();
  folder.candidates = {place.path() / "candidate.hip.cpp"};
  folder.op = "act_quant";
  const Diagnosis said = diagnose_folder(folder).at(0);
  ASSERT_EQ(said.findings.size(), 1u) << text_of(said);
  EXPECT_EQ(said.findings.front().code, Code::wrong_expression) << text_of(said);
  EXPECT_EQ(said.findings.front().edited, "y[first + i] = __hip_fp8_e4m3(x[first + i] / scale);");
}

/// What the cache has of earlier searches.
std::set<std::filesystem::path> kept_searches() {
  std::set<std::filesystem::path> found;
  std::error_code none;
  for (const auto& each :
       std::filesystem::directory_iterator(std::filesystem::path(ISOMER_CANDIDATE_CACHE) / "edits", none))
    if (each.path().extension() == ".found") found.insert(each.path());
  return found;
}

TEST(OneEdit, OfAnEarlierSearchIsAskedOnceMore) {
  setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
  const core::TemporaryFolder place("test", "one-edit");
  std::string source = kTurnedHeads;
  source.replace(source.find("a * c - b * s"), 13, "a * c + b * s");
  const CaseFolder folder = folder_of(place.path(), source);
  const std::set<std::filesystem::path> before = kept_searches();
  const Diagnosis first = diagnose_folder(folder).at(0), again = diagnose_folder(folder).at(0);
  ASSERT_FALSE(first.findings.empty());
  EXPECT_FALSE(first.findings.front().edited.empty()) << text_of(first);
  EXPECT_EQ(text_of(again), text_of(first));
  EXPECT_GT(kept_searches().size(), before.size());
}

TEST(OneEdit, ARightSourceIsNotAccused) {
  const core::TemporaryFolder place("test", "one-edit");
  const Diagnosis said = diagnose_folder(folder_of(place.path(), kTurnedHeads)).at(0);
  EXPECT_EQ(said.verdict(), "pass") << text_of(said);
  const Diagnosis other = diagnose_folder(folder_of(place.path(), kCentredRows, centred_rows())).at(0);
  EXPECT_EQ(other.verdict(), "pass") << text_of(other);
}

// Two faults are no single edit: what is not explained stays so.
TEST(OneEdit, DoesNotMendTwoFaults) {
  std::string source = kTurnedHeads;
  source.replace(source.find("a * s + b * c"), 13, "a * s - b * c");
  source.replace(source.find("- b * s) + o"), 12, "- b * s) + a");
  const core::TemporaryFolder place("test", "one-edit");
  const Diagnosis said = diagnose_folder(folder_of(place.path(), source)).at(0);
  EXPECT_NE(said.verdict(), "pass");
  for (const Finding& each : said.findings) EXPECT_TRUE(each.edited.empty()) << text_of(said);
}

TEST(Exchangeable, KeepsEveryLineAndHasEachEditOnOne) {
  const Exchangeable made = exchangeable(kTurnedHeads);
  const std::string source = kTurnedHeads;
  // The header that edits are made of is included behind the source's own, and what follows keeps its number.
  const std::size_t header = made.source.find("#include \"isomer_emulator/edits.h\"\n#line ");
  ASSERT_NE(header, std::string::npos);
  const std::string before = made.source.substr(0, header);
  EXPECT_EQ(before, source.substr(0, header));
  EXPECT_EQ(std::stoi(made.source.substr(made.source.find("#line ") + 6)), 1 + std::count(before.begin(), before.end(), '\n'));
  // What is written anew stands on lines that no source has, behind which the source's own go on.
  std::istringstream lines(made.source);
  int at = 1, last = 0;
  for (std::string line; std::getline(lines, line); ++at) {
    if (line.starts_with("#line "))
      at = std::stoi(line.substr(6)) - 1;
    else if (at < kLineOfValues)
      last = at;
    else
      EXPECT_GT(made.values.count(at - kLineOfValues), 0u) << line;
  }
  // Behind the source's last line stands which values the edits are in.
  EXPECT_EQ(last, std::count(source.begin(), source.end(), '\n') + 1);
  EXPECT_GT(made.edits.size(), 100u);
  std::set<int> numbers;
  for (const Exchange& each : made.edits) {
    EXPECT_TRUE(numbers.insert(each.number).second) << each.number;
    EXPECT_EQ(each.was, line_of(source, each.line)) << each.becomes;
    EXPECT_NE(each.was, each.becomes);
    EXPECT_EQ(std::count(each.becomes.begin(), each.becomes.end(), '('),
              std::count(each.becomes.begin(), each.becomes.end(), ')'))
        << each.becomes;
  }
}

TEST(Exchangeable, HasWhatMayHaveBeenLeftOut) {
  std::set<std::string> lines;
  for (const Exchange& each : exchangeable(kCentredRows, {}, of_label("y = x.clamp(min=-2, max=6.5)")).edits)
    lines.insert(each.becomes);
  for (const char* line :
       {"const float mean = (all / cols) * row;", "const float mean = all / cols + sum;",
        "const float off = fminf(fmaxf(x[row * cols + c] - mean, 0.f), 6.5f);",
        "const float off = fmaxf(fmaxf(x[row * cols + c] - mean, 0.f), -2.0f);",
        "for (int i = 0; i < 64 && i < cols; ++i) all += part[i];", "if (!(at >= n)) return;",
        "y[row * cols + c] = off; __syncthreads();", "y[row * cols + c] = off; __syncwarp();"})
    EXPECT_EQ(lines.count(line), 1u) << line;
}

TEST(Exchangeable, HasBoundsLeftOutFunctionsOfTheLabelAndOptionsThatNobodyReads) {
  const std::string source = R"(
__global__ void f(const float* x, float* y, int n, bool soft) {
  const int i = threadIdx.x;
  float v = x[i];
  if (v < 20.0f) v = fmaxf(v, 0.5f);
  y[i] = data<float>(v) > 1 ? v : 0;
}
)";
  std::set<std::string> lines;
  for (const Exchange& each : exchangeable(source, {}, of_label("w = tl.exp(w)")).edits) lines.insert(each.becomes);
  for (const char* line : {"if (v < 20.0f) v = v;", "if (v < 20.0f) v = 0.5f;", "float v = expf(x[i]);",
                           "if (soft && v < 20.0f) v = fmaxf(v, 0.5f);"})
    EXPECT_EQ(lines.count(line), 1u) << line;
  for (const std::string& line : lines) EXPECT_EQ(line.find("data<=float"), std::string::npos) << line;
}

TEST(Exchangeable, HasFactorsOfGroupsAndBarriersOfDeviceFunctions) {
  std::set<std::string> lines;
  for (const Exchange& each : exchangeable(R"(
__device__ void keep(float* kept, float value) {
  kept[threadIdx.x] = value;
  kept[0] += kept[1];
}
__global__ void f(const float* x, float* y, int heads, int dim) {
  __shared__ float kept[32];
  const int h = blockIdx.x, d = threadIdx.x;
  keep(kept, x[(h + heads) + d]);
  y[((long)h * dim) + d] = kept[31 - d];
}
)")
                                  .edits)
    lines.insert(each.becomes);
  for (const char* line :
       {"keep(kept, x[(h + heads) * dim + d]);", "y[((long)h * dim + heads) + d] = kept[31 - d];",
        "kept[threadIdx.x] = value; __syncthreads();"})
    EXPECT_EQ(lines.count(line), 1u) << line;
}

TEST(Exchangeable, LeavesConstantsDeclarationsAndTextAlone) {
  const std::string source = R"(#define SIZE 4 + 4
constexpr int kTile = 8 * 2;
template <int N> struct Tile { int room[N + 1]; };
// a + b in a comment
__global__ void f(int* y, int n) {
  constexpr int kHalf = kTile / 2;
  __shared__ int kept[kTile * 2];
  static_assert(kHalf + 1 > 0, "a + b");
  int room[16];
  Tile<3> tile;
  y[0] = static_cast<int>(sizeof(room));
}
)";
  for (const Exchange& each : exchangeable(source).edits) EXPECT_GE(each.line, 11) << each.becomes;
  EXPECT_FALSE(exchangeable(source).edits.empty());
  EXPECT_TRUE(exchangeable(source, {{{11, LeftAlone::all}}, {}}).edits.empty());
  EXPECT_EQ(exchangeable(source, {{{11, LeftAlone::all}}, {}}).source, source);
}

TEST(Exchangeable, TakesNonsenseWithoutHarm) {
  for (const char* text :
       {"", "{", "}", "(", "void f( {", "void f() { if (", "void f() { a[", "\"", "R\"(", "/*", "#",
        "void f() { for (;;", "void f() { for (int i = 0; i < 3; ++i)", "void f() { while (a) {", "void f() { int a = 1",
        "template <typename T", "void f() { return a % (b / ", "void f(const T *__restrict__ const x", "void f() { x = ; }", "int f(int a, { return a + ; }",
        "%_factor <#ib  of"})
    EXPECT_NO_FATAL_FAILURE(exchangeable(text)) << text;
}

}  // namespace
}  // namespace isomer::lab
