// Edits of names, members, indices and jumps; those that are tried leave the source what it is.
#include <gtest/gtest.h>

#include "core/temporary_folder.hpp"
#include "lab/candidate/candidate.hpp"
#include "lab/candidate/folder.hpp"
#include "lab/evidence/edits/exchangeable.hpp"
#include "lab/evidence/edits/likeness.hpp"
#include "lab/evidence/edits/rebuilt.hpp"
#include "lab/judge/diagnose.hpp"
#include "lab/judge/tried_ahead.hpp"
#include "recorded_call.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>

namespace isomer::lab {
namespace {

std::set<std::string> lines_of(const std::vector<Exchange>& edits) {
  std::set<std::string> all;
  for (const Exchange& each : edits) {
    std::string text = each.becomes;
    for (const EditedLine& other : each.also) text += "\n" + other.becomes;
    all.insert(text);
  }
  return all;
}

/// A source with one kernel of that body.
std::string kernel(const std::string& body) {
  return R"(#include <cuda_runtime.h>
struct Side { int h, w; };
struct Shape { Side in; int rows, heads, offset; float scale; };
__global__ void f(const float* x, const int* lens, float* out, float* sums, Shape s, int n_rows, int n_cols, int dW, int dH,
                  int64_t wide, float limit) {
  __shared__ float left[32], right[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
)" + body +
         R"(
}
extern "C" void g(const float* x, const int* lens, float* out, float* sums, Shape s, int n_rows, int n_cols, int dW, int dH,
                  int64_t wide, float limit) {
  f<<<n_rows, 32>>>(x, lens, out, sums, s, n_rows, n_cols, dW, dH, wide, limit);
}
)";
}

struct Case {
  const char *own, *wanted;  ///< statements of the kernel, and a line that an edit makes of them
};

TEST(EditsOfPlaces, AreWhatIsMistakenForEachOther) {
  for (const Case& each : {
           Case{"const int last = lens[i];", "const int last = lens[i] - 1;"},
           Case{"out[i] = x[2 * i];", "out[i] = x[2 * i + 1];"},
           Case{"const int block = i / n_cols;", "const int block = (i - 1) / n_cols;"},
           Case{"float v = x[i] * limit;", "float v = (x[i] + 1.0f) * limit;"},
           Case{"float v = x[i] * limit;", "float v = (1.0f - x[i]) * limit;"},
           Case{"const int at = i * dW;", "const int at = i * dH;"},
           Case{"const int at = i * n_cols;", "const int at = i * wide;"},
           Case{"out[i] = left[i];", "out[i] = right[i];"},
           Case{"if (i >= s.in.h) return;", "if (i >= s.in.w) return;"},
           Case{"const int at = i + n_rows;", "const int at = i + n_rows + s.offset;"},
           Case{"float v = x[i];", "float v = (x[i]) * s.scale;"},
           Case{"const int at = i * n_rows + dW;", "const int at = dW * n_cols + i;"},
           Case{"const int h = i % s.heads;", "const int h = i / s.rows;"},
           Case{"const int t = i % n_rows, h = i / n_rows;", "const int t = i / n_cols, h = i % n_cols;"},
           Case{"const int r = i % n_rows;", "const int r = i / n_cols % n_rows;"},
           Case{"const int y = 2 * dH + (i >> 1);\n  const int z = 2 * dW + (i & 1);",
                "const int y = 2 * dH + (i & 1);\nconst int z = 2 * dW + (i >> 1);"},
           Case{"for (int k = 0; k < n_rows; ++k) {\n    if (x[k] > limit) break;\n    out[k] = x[k];\n  }",
                "if (x[k] > limit) continue;"},
           Case{"sums[i % 4] += x[i];", "atomicAdd(&sums[i % 4], x[i]);"},
           Case{"const int w = i % n_cols, h = i / n_cols;\n  out[i] = x[h];",
                "const int w = i % n_cols, h = i / n_cols; if (h >= s.in.h || w >= s.in.w) return;"},
           Case{"switch (n_rows) {\n    case 1: out[i] = FLT_MIN; break;\n  }",
                "case 1: out[i] = -FLT_MAX; break;"},
           Case{"float v = x[i] / 6.f;", "float v = x[i] / limit;"},
           Case{"float v = x[i] * -6.f;", "float v = x[i] * limit;"},
           Case{"float v = limit + 2.f;\n  v = v > 1.f ? logf(v) : v;\n  out[i] = v;",
                "v = v > 1.f ? logf(v) / limit : v;"},
           Case{"float keep = expf(limit);\n  out[i] = sums[i] + x[i];", "out[i] = sums[i] * keep + x[i];"},
           Case{"out[i] = x[i];", "out[lens[i]] = x[i];"},
           Case{"out[i] = x[i];", "out[i] = x[lens[i]];"},
           Case{"float least = limit;\n  for (int k = 0; k < n_rows; ++k) least = fminf(least, x[k]);\n  "
                "out[i] = least;",
                "float least = INFINITY;"},
           Case{"if (i < n_cols) out[i] = x[i];", "if (i < n_cols + n_rows) out[i] = x[i];"},
           Case{"if (i & 1) {\n    out[i] = x[i];\n  }\n  if (n_rows < i) {\n    out[i] = limit;\n  }",
                "if (n_rows <= i) {"},
           Case{"if (n_rows <= 40) out[i] = x[i];", "if (n_rows <= 32) out[i] = x[i];"},
           Case{"out[i] = x[(i + dW) * n_cols];", "out[i] = x[(i + dW + blockIdx.x * n_rows) * n_cols];"},
       }) {
    const std::set<std::string> lines = lines_of(exchangeable(kernel(each.own)).edits);
    EXPECT_EQ(lines.count(each.wanted), 1u) << each.own << "\n  does not become " << each.wanted;
  }
}

TEST(EditsOfPlaces, AMinimumByANumberIsABound) {
  for (const Exchange& each :
       exchangeable(kernel("const int a = max(16, i), b = max(i, n_rows);\n  out[a] = x[b];")).edits) {
    if (each.becomes == "const int a = min(16, i), b = max(i, n_rows);") EXPECT_EQ(each.code, Code::clamp);
    if (each.becomes == "const int a = max(16, i), b = min(i, n_rows);")
      EXPECT_EQ(each.code, Code::other_reduction);
  }
}

TEST(EditsOfPlaces, AreWhatACompilerTakes) {
  const std::string source = R"(#include <cuda_runtime.h>
#define T 16
#define V 2
struct Options { float lr, eps, first; };
__device__ void turn(float& a, float& b, float by) { const float c = a; a = c - b * by; b = c * by; }
template <int kThreads>
__global__ void f(const float* x, const int* lens, float* out, int n, int2 pair, float limit) {
  __shared__ float room[T];
  const int i = blockIdx.x * T + threadIdx.x, tiles = (n + kThreads - 1) / kThreads;
  float taps[2] = {0.f, 1.f}, sum = 0.f, most = x[0];
  for (int k = 0; k < V; ++k) taps[k] *= limit;
  for (int t = 0; t < tiles; ++t) {
    const float v = x[lens[t]];
    if (v > most) most = v;
  }
  room[threadIdx.x] = (float)n / limit + most;
  float c = room[0], s = taps[1];
  turn(c, s, limit);
  if (i < pair.x) out[i] = c + s * sum;
}
extern "C" void g(const float* x, const int* lens, float* out, int n, float lr, float eps) {
  constexpr int threads = 16;
  const int blocks = (n + threads - 1) / threads;
  Options o{lr, eps, 0.f};
  o.first = o.lr * 2.f;
  o.eps = o.eps + o.first;
  float *none = 0;
  f<threads><<<blocks, threads>>>(x, lens, none == 0 ? out : none, n, int2{n, 1}, o.eps);
}
)";
  const core::TemporaryFolder place("test", "compiles");
  const std::filesystem::path edited = place.path() / "edited.cu";
  std::ofstream(edited) << exchangeable(source).source;
  BuildSettings settings;
  settings.exchangeable = true;
  BuildFailure failure;
  EXPECT_NE(build_candidate(edited, settings, failure), nullptr)
      << failure.place.line << ": " << failure.message;
}

TEST(EditsOfPlaces, AValueInWhichNoEditIsChosenStaysAsItIs) {
  const std::string edited = exchangeable(kernel("float v = x[i] * limit;\n  out[i + n_rows] = v;")).source;
  for (const char* own : {"[&] { return x[i] * limit; }, [&] { return isomer_edits::",
                          "[&] { return i + n_rows; }, [&] { return isomer_edits::"})
    EXPECT_NE(edited.find(own), std::string::npos) << own;
}

TEST(EditsOfPlaces, MemoryMayBeClearedInPartAlone) {
  const std::set<std::string> lines = lines_of(exchangeable(R"(#include <cuda_runtime.h>
extern "C" void f(float* sums, int n, cudaStream_t stream) {
  cudaMemsetAsync(sums, 0, n * sizeof(float), stream);
}
)")
                                                   .edits);
  EXPECT_EQ(lines.count("cudaMemsetAsync(sums, 0, 2 * n * sizeof(float), stream);"), 1u);
}

TEST(EditsOfPlaces, MemoryOfPyTorchMayHaveToBeginAsZeros) {
  const std::set<std::string> lines = lines_of(exchangeable(R"(#include <torch/extension.h>
at::Tensor f(const at::Tensor& x) {
  auto out = at::empty_like(x);
  return out;
}
)")
                                                   .edits);
  EXPECT_EQ(lines.count("auto out = at::zeros_like(x);"), 1u);
}

TEST(EditsOfPlaces, OfFlagsAndDefaultsAreRebuilt) {
  const std::string source = R"(#include <torch/extension.h>
#define LAUNCH(A, B) f<A, B><<<1, 1>>>(n)
template <bool A, bool B> __global__ void f(int n) {}
void g(int n, double scale) { LAUNCH(false, true); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("g", &g, py::arg("n"), py::arg("scale") = 3600.0); }
)";
  std::set<std::string> lines;
  for (const RebuiltEdit& each : rebuilt_edits(source, of_label("def g(n, scale=60.0): return n * scale")))
    lines.insert(each.edit.becomes);
  EXPECT_EQ(lines.count("void g(int n, double scale) { LAUNCH(true, true); }"), 1u);
  EXPECT_EQ(lines.count("PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"g\", &g, py::arg(\"n\"), "
                        "py::arg(\"scale\") = 60.0); }"),
            1u);
}

TEST(EditsOfPlaces, AreMadeInTheSource) {
  Exchange edit;
  edit.line = 2, edit.was = "b;", edit.becomes = "c;";
  edit.also = {{4, "e;", "f;"}};
  EXPECT_EQ(made_in("a;\n  b;\nd;\n  e;\n", edit).source, "a;\nc;\nd;\nf;\n");
}

TEST(Likeness, IsOfNamesThatBeginOrEndAlikeAndOfTwoSides) {
  EXPECT_GT(likeness("dH", "dW"), likeness("dH", "start"));
  EXPECT_GT(likeness("grad_width", "grad_height"), 0.8);
  EXPECT_GT(likeness("height", "pooled_height"), likeness("height", "batch"));
  EXPECT_EQ(likeness("row", "lane"), 0);
}

/// The columns of rows, of which each is a remainder of a quotient: its place among the others is that of no
/// product.
Recording columns() {
  Recording recording;
  for (const std::int64_t rows : {5, 9}) {
    constexpr std::int64_t kHeads = 3, kDim = 4;
    Value x = tensor_value("x", DType::f32, {rows, kHeads, kDim});
    for (std::int64_t i = 0; i < x.tensor.numel(); ++i)
      static_cast<float*>(x.tensor.data)[i] = static_cast<float>(i % 17) - 8;
    record(recording, "by_head", {x, tensor_value("y", DType::f32, {rows, kHeads, kDim})},
           [rows](std::vector<Value>& v) {
             for (std::int64_t i = 0; i < rows * kHeads * kDim; ++i)
               static_cast<float*>(v[1].tensor.data)[i] = static_cast<const float*>(v[0].tensor.data)[i] *
                                                              static_cast<float>(i / kDim % kHeads + 2) +
                                                          1;
           });
  }
  return recording;
}

TEST(EditsOfPlaces, AQuotientsRemainderStaysWhatItIs) {
  // Were `dim % heads` a part of its own, no edit of this source would ever help.
  const core::TemporaryFolder place("test", "remainder");
  std::ofstream(place.path() / "candidate.cu") << R"(#include <cuda_runtime.h>
__global__ void by_head_kernel(const float* x, float* y, int n, int heads, int dim) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int head = i / dim % heads;
  y[i] = x[i] * (head + 2) - 1;
}
extern "C" void by_head(const float* x, float* y, int rows, int heads, int dim) {
  const int n = rows * heads * dim;
  by_head_kernel<<<(n + 31) / 32, 32>>>(x, y, n, heads, dim);
}
)";
  save_recording((place.path() / "recording.safetensors").string(), columns());
  CaseFolder folder;
  folder.folder = place.path();
  folder.candidates = {place.path() / "candidate.cu"};
  folder.recording = place.path() / "recording.safetensors";
  const Diagnosis said = diagnose_folder(folder).at(0);
  ASSERT_EQ(said.findings.size(), 1u) << said.error;
  EXPECT_EQ(said.findings.front().edited, "y[i] = x[i] * (head + 2) + 1;") << said.findings.front().evidence;
}

TEST(TriedAhead, AnswersInTheirOrder) {
  std::atomic<int> asked{0};
  {
    TriedAhead odd(1000, [&](std::size_t i) {
      ++asked;
      return i % 2 == 1;
    });
    for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(odd[i], i % 2 == 1) << i;
  }
  // What nobody has asked for is begun only a little ahead.
  EXPECT_GE(asked, 10);
  EXPECT_LT(asked, 100);
  TriedAhead none(0, [](std::size_t) { return true; });
}

TEST(TriedAhead, ThrowsWhatWasThrown) {
  TriedAhead list(4, [](std::size_t i) -> bool {
    if (i == 1) throw std::runtime_error("no room");
    return true;
  });
  EXPECT_TRUE(list[0]);
  EXPECT_THROW(list[1], std::runtime_error);
}

}  // namespace
}  // namespace isomer::lab
