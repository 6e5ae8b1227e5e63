// What does not build, or cannot, says why in one sentence with its place.
#include "written.hpp"

#include <isomer/error.hpp>

#include <sys/stat.h>

namespace isomer::lab::tests {
namespace {

TEST(CandidateBuilds, ASyntaxErrorHasItsPlace) {
  const BuildFailure f = not_built("candidate.cu", "void run(float* y) {\n  y[0] = 1\n}\n");
  EXPECT_EQ(f.place.line, 2) << f.message;
  EXPECT_NE(f.place.file.find("candidate.cu"), std::string::npos);
  EXPECT_NE(f.message.find("expected ‘;’"), std::string::npos) << f.message;
  EXPECT_TRUE(f.missing_header.empty());
}

TEST(CandidateBuilds, AMissingHeaderIsNamed) {
  const BuildFailure f =
      not_built("candidate.hip.cpp", "#include <hip/hip_runtime.h>\n#include <miopen/miopen.h>\n");
  EXPECT_EQ(f.missing_header, "miopen/miopen.h") << f.message;
  EXPECT_EQ(f.place.line, 2);
}

TEST(CandidateBuilds, AnUndefinedSymbolIsNamed) {
  const BuildFailure f =
      not_built("candidate.cu", "void absent(float*);\nvoid run(float* y) { absent(y); }\n");
  EXPECT_NE(f.message.find("absent(float*) is used and nowhere defined"), std::string::npos) << f.message;
}

TEST(CandidateBuilds, InlineAssemblyIsRefusedByName) {
  const BuildFailure f = not_built(
      "candidate.cu",
      "__global__ void k(int* y) {\n  asm volatile(\"tcgen05.wait::ld.sync.aligned;\");\n  y[0] = 1;\n}\n");
  EXPECT_NE(f.message.find("tcgen05"), std::string::npos) << f.message;
  EXPECT_EQ(f.place.line, 2);
}

TEST(CandidateBuilds, InitialisationThatThrowsHangsOrLeavesIsAFailure) {
  EXPECT_NE(not_built("candidate.cpp",
                      "#include <cstdlib>\nstatic int now = (exit(5), 1);\nvoid run(int* y) { *y = now; }\n")
                .message.find("cannot be loaded"),
            std::string::npos);
  EXPECT_NE(not_built("candidate.cpp",
                      "#include <stdexcept>\nint f() { throw std::runtime_error(\"no\"); }\nstatic int now = "
                      "f();\nvoid run(int* y) { *y = now; }\n")
                .message.find("cannot be loaded"),
            std::string::npos);
}

TEST(CandidateBuilds, WhatIsNoCandidateIsOneSentence) {
  BuildFailure failure;
  const auto folder = fresh_folder();
  const auto refused = [&](const std::filesystem::path& path, ErrorCode code) {
    try {
      build_candidate(path, {}, failure);
      ADD_FAILURE() << "accepted " << path;
      return std::string();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), code) << e.what();
      return std::string(e.what());
    }
  };
  refused(folder / "candidate.cu", ErrorCode::bad_argument);
  refused(folder, ErrorCode::bad_argument);
  refused(write_file(folder / "kernel.py", "pass\n"), ErrorCode::bad_argument);
  EXPECT_NE(refused(write_file(folder / "candidate.so", "no library"), ErrorCode::bad_argument)
                .find("not a shared library"),
            std::string::npos);
  EXPECT_NE(refused(write_file(folder / "extension.so", std::string("\177ELF") + "libtorch_cpu.so"),
                    ErrorCode::bad_argument)
                .find("give its source"),
            std::string::npos);
}

TEST(CandidateBuilds, ASourceWithoutAnythingToCallHasNoEntries) {
  EXPECT_TRUE(built("candidate.cpp", "")->entries().empty());
  EXPECT_TRUE(built("candidate.cu",
                    "__device__ float twice(float x) { return 2 * x; }\nstatic int blocks(int n) { return n "
                    "/ 4; }\nint main() { return blocks(3); }\n")
                  ->entries()
                  .empty());
}

TEST(CandidateBuilds, OverloadsMembersAndTemplatesDoNotStandInTheWay) {
  const auto c = built("candidate.cu", R"(#include <algorithm>
struct Plan { int n; Plan(int m) : n(m) {} void go(float* y) { y[0] = n; } };
template <class T> T most(T a, T b) { return std::max(a, b); }
static inline void put(float* y, int v) { y[0] = v; }
static inline void put(float* y, float v) { y[0] = v; }
namespace { void hidden(float* y) { Plan(most(1, 2)).go(y); } }
extern "C" void run(float* __restrict__ y, const int n = 1 + 2, ...) { put(y, n); }
void operator+(Plan& a, Plan& b) { a.n += b.n; }
auto twice(float* y) { put(y, 2.0f); return 2; }
)");
  std::vector<std::string> names;
  for (const Entry& e : c->entries()) names.push_back(e.name);
  EXPECT_EQ(names, (std::vector<std::string>{"twice"}));
  const Answer a = c->call(c->entries()[0], {tensor_value("y", DType::f32, {1})}, {});
  ASSERT_TRUE(a.ok()) << a.message;
  EXPECT_EQ(data_of<float>(a.arguments[0])[0], 2);
}

}  // namespace
}  // namespace isomer::lab::tests
