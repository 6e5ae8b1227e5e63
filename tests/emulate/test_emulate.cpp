// `isomer emulate` as a user calls it: exit codes, what it prints, bad input; and the words its arguments are
// written in.
#include <isomer/emulator/written.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace isomer::emulator {
namespace {

struct Said {
  int exit = -1;
  std::string text;
};

Said isomer_emulate(const std::string& words) {
  FILE* pipe = popen((std::string(ISOMER_CLI) + " emulate " + words + " 2>&1").c_str(), "r");
  Said said;
  char chunk[4096];
  while (const std::size_t n = std::fread(chunk, 1, sizeof chunk, pipe)) said.text.append(chunk, n);
  said.exit = WEXITSTATUS(pclose(pipe));
  return said;
}

class Emulate : public testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("ISOMER_CACHE", ISOMER_EMULATE_CACHE, 1); }
  static std::string source() {
    static const std::string path = [] {
      std::string pattern = (std::filesystem::temp_directory_path() / "isomer-emulate-XXXXXX").string();
      const std::string file = std::string(mkdtemp(pattern.data())) + "/scale.cu";
      std::ofstream(file) << "__global__ void scale(const float* x, float* y, int n, float f) {\n"
                             "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "  y[i] = x[i] * f;\n"
                             "}\n"
                             "template <class T> __global__ void cast(const float* x, T* y) { y[threadIdx.x] "
                             "= T(x[threadIdx.x]); }\n";
      return file;
    }();
    return path;
  }
};

TEST_F(Emulate, ACleanKernelHoldsAndPrintsItsOutput) {
  const Said said = isomer_emulate(
      source() + " --kernel scale --block 100 x=in:f32:100:ramp y=out:f32:100 n=i32:100 f32:0.5");
  EXPECT_EQ(said.exit, 0) << said.text;
  EXPECT_NE(said.text.find("y = 0 0.5 1 1.5 2 2.5 3 3.5 …"), std::string::npos) << said.text;
}

TEST_F(Emulate, WhatALimitStoppedIsNotFinishedAndExitThree) {
  const Said said = isomer_emulate(
      source() + " --kernel scale --block 100 x=in:f32:100:ramp y=out:f32:100 n=i32:100 f32:0.5 --steps 10");
  EXPECT_EQ(said.exit, 3) << said.text;
  EXPECT_NE(said.text.find("not finished: scale was stopped at the limit of memory accesses"),
            std::string::npos)
      << said.text;
  EXPECT_NE(said.text.find(", 0 findings"), std::string::npos) << said.text;
}

// The Makefile of src/ lies above it: the program gets its words and runs where the Makefile is.
TEST_F(Emulate, ATableCountsWhatALimitStoppedApartFromFindings) {
  const std::filesystem::path folder = std::filesystem::path(source()).parent_path() / "table";
  std::filesystem::create_directories(folder / "a/src");
  std::ofstream(folder / "a/Makefile") << "run: main\n\t./main 4 here\n";
  std::ofstream(folder / "a/here") << "1";
  std::ofstream(folder / "a/src/main.cu")
      << "#include <cuda_runtime.h>\n#include <cstdlib>\n#include <cstdio>\n"
         "__global__ void k(int* p, int n) { if (threadIdx.x < n) p[threadIdx.x] = 1; }\n"
         "int main(int c, char** v) {\n  int* p;\n  cudaMalloc(&p, 16);\n"
         "  k<<<1, 32>>>(p, atoi(v[1]));\n"
         "  return cudaDeviceSynchronize() != cudaSuccess || fopen(v[2], \"r\") == nullptr;\n}\n";
  const Said whole = isomer_emulate("--table " + folder.string());
  EXPECT_EQ(whole.exit, 0) << whole.text;
  EXPECT_NE(whole.text.find("1 programs: 1 build, 1 finish, 0 were stopped at a limit, 0 have findings"),
            std::string::npos)
      << whole.text;
  const Said stopped = isomer_emulate("--table --steps 2 " + folder.string());
  EXPECT_EQ(stopped.exit, 3) << stopped.text;
  EXPECT_NE(stopped.text.find("1 programs: 1 build, 0 finish, 1 were stopped at a limit, 0 have findings"),
            std::string::npos)
      << stopped.text;
}

// As where a build file that is not read names the folder: the nearest of two is taken.
TEST_F(Emulate, ATableFindsHeadersElsewhereInTheCollection) {
  const std::filesystem::path folder = std::filesystem::path(source()).parent_path() / "collection";
  for (const char* part : {"one/programs", "one/tools/deep", "two/tools/deep"})
    std::filesystem::create_directories(folder / part);
  std::ofstream(folder / "one/tools/deep/size.h") << "#include \"unit.h\"\nconst int size = 4 * unit;\n";
  std::ofstream(folder / "one/tools/unit.h") << "const int unit = 1;\n";
  std::ofstream(folder / "two/tools/deep/size.h") << "const int size = 9;\n";
  std::ofstream(folder / "one/programs/main.cu")
      << "#include \"deep/size.h\"\n#include <cuda_runtime.h>\n"
         "__global__ void k(int* p) { p[threadIdx.x] = 1; }\n"
         "int main() {\n  int* p;\n  cudaMalloc(&p, 16);\n"
         "  k<<<1, size>>>(p);\n  return cudaDeviceSynchronize();\n}\n";
  const Said said = isomer_emulate("--table " + folder.string());
  EXPECT_EQ(said.exit, 0) << said.text;
  std::ofstream(folder / "one/tools/unit.h") << "const int unit = 2;\n";
  EXPECT_EQ(isomer_emulate("--table " + folder.string()).exit, 1);
}

// A source that another includes is no unit of its own, though the main stands in it.
TEST_F(Emulate, ATableTakesAMainThatAnotherSourceIncludesOnce) {
  const std::filesystem::path folder = std::filesystem::path(source()).parent_path() / "included";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "driver.c") << "int threads = 4;\nint main(void) { return run(threads); }\n";
  const auto kernels = [&](const char* size) {
    std::ofstream(folder / "main.cu")
        << "__global__ void k(int* p) { p[threadIdx.x] = 1; }\n"
           "int run(int n) {\n  int* p;\n  cudaMalloc(&p, "
        << size << ");\n  k<<<1, n>>>(p);\n  return cudaDeviceSynchronize();\n}\n#include \"driver.c\"\n";
  };
  kernels("16");
  const Said said = isomer_emulate("--table " + folder.string());
  EXPECT_EQ(said.exit, 0) << said.text;
  EXPECT_NE(said.text.find("1 programs: 1 build, 1 finish"), std::string::npos) << said.text;
  kernels("12");
  EXPECT_EQ(isomer_emulate("--table " + folder.string()).exit, 1);
}

// A host in C and functions in C are of the program beside them; what is C as a whole is none.
TEST_F(Emulate, ATableTakesSourcesInCBesideKernels) {
  const std::filesystem::path folder = std::filesystem::path(source()).parent_path() / "in_c";
  for (const char* part : {"host", "functions", "plain"}) std::filesystem::create_directories(folder / part);
  const std::string kernels =
      "extern \"C\" int size(int);\n__global__ void k(int* p) { p[threadIdx.x] = 1; }\n"
      "extern \"C\" int run(int n) {\n  int* p;\n  cudaMalloc(&p, 16);\n  k<<<1, size(n)>>>(p);\n"
      "  return cudaDeviceSynchronize();\n}\n";
  std::ofstream(folder / "host/kernels.cu") << kernels;
  std::ofstream(folder / "host/host.c") << "int run(int);\nint size(n) int n; { return n; }\n"
                                           "int main(void) { int class = 4; return run(class); }\n";
  std::ofstream(folder / "functions/kernels.cu") << kernels << "int main() { return run(2); }\n";
  std::ofstream(folder / "functions/size.c") << "int size(int n) { return 2 * n; }\n";
  std::ofstream(folder / "plain/main.c") << "int main(void) { return 0; }\n";
  const Said said = isomer_emulate("--table " + folder.string());
  EXPECT_EQ(said.exit, 0) << said.text;
  EXPECT_NE(said.text.find("2 programs: 2 build, 2 finish"), std::string::npos) << said.text;
  std::ofstream(folder / "functions/size.c") << "int size(int n) { return 3 * n; }\n";
  EXPECT_EQ(isomer_emulate("--table " + folder.string()).exit, 1);
}

TEST_F(Emulate, AFindingIsOneLineWithItsPlaceAndExitOne) {
  const Said said = isomer_emulate(
      source() + " --kernel scale --block 128 x=in:f32:100:ramp y=out:f32:100 n=i32:100 f32:0.5");
  EXPECT_EQ(said.exit, 1);
  EXPECT_NE(
      said.text.find(
          "scale.cu:3: out-of-bounds-write: kernel scale, block (0,0,0), thread (100,0,0) writes 4 bytes "
          "at offset 400 of buffer y of 400 bytes (28 times)"),
      std::string::npos)
      << said.text;
}

TEST_F(Emulate, ATemplateRunsAndJsonIsJson) {
  const Said said =
      isomer_emulate(source() + " --kernel 'cast<int>' --block 4 x=in:f32:4:ramp y=out:i32:4 --json");
  EXPECT_EQ(said.exit, 0) << said.text;
  EXPECT_NE(said.text.find("\"version\": 1"), std::string::npos) << said.text;
  EXPECT_NE(said.text.find("\"kernel\": \"cast<int>\""), std::string::npos) << said.text;
}

TEST_F(Emulate, BadInputIsOneSentenceAndExitTwo) {
  const std::pair<std::string, const char*> cases[] = {
      {"/nowhere.cu", "no such source file"},
      {source(), "choose one of its kernels with --kernel (scale, cast)"},
      {source() + " --kernel nothing", "the module has no kernel nothing"},
      {source() + " --kernel scale x=in:f32:4", "scale takes 4 arguments, got 1"},
      {source() + " --kernel scale --lanes 48", "48"},
      {source() + " --kernel scale --grid 1,x", "--grid 1,x: expected X, X,Y or X,Y,Z"},
      {source() + " --kernel scale --timeout -1", "--timeout"},
      {source() + " --kernel scale --seed -1", "--seed: expected a whole number"},
      {source() + " --kernel scale --shared -1", "--shared: expected a whole number"},
      {source() + " --kernel scale --fill-seed 1e3", "--fill-seed: expected a whole number"},
      {source() + " --kernel scale --steps 0", "--steps: expected a whole number"},
      {source() + " --kernel scale --block 0x4", "--block 0x4: expected X, X,Y or X,Y,Z"},
      {source() + " --kernel scale --block 18446744073709551616", "expected X, X,Y or X,Y,Z"},
      {source() + " --kernel ''", "choose one of its kernels"},
      {source() + " --kernel 'cast<'", "cast<"},
      {std::filesystem::temp_directory_path().string(), "no such source file"},
      {source() + " --compiler /nowhere/cxx --kernel scale", "/nowhere/cxx"},
      {source() + " --json=/nowhere/x.json", "--json"},
      {source() + " --purple", "--purple"},
      {source() + " --kernel scale q=in:f9:4", "type f9, expected one of"},
      {"", "file is required"},
  };
  for (const auto& [words, sentence] : cases) {
    const Said said = isomer_emulate(words);
    EXPECT_EQ(said.exit, 2) << words << ": " << said.text;
    EXPECT_NE(said.text.find(sentence), std::string::npos) << words << ": " << said.text;
    EXPECT_EQ(std::count(said.text.begin(), said.text.end(), '\n'), 1) << words << ": " << said.text;
  }
}

TEST_F(Emulate, ALaunchTheDeviceRefusesIsAFinding) {
  const Said said = isomer_emulate(source() + " --kernel scale --grid 0 x=in:f32:1 y=out:f32:1 i32:1 f32:1");
  EXPECT_EQ(said.exit, 1);
  EXPECT_NE(said.text.find("launched with grid (0,1,1), expected at least one block"), std::string::npos)
      << said.text;
}

TEST_F(Emulate, SeveralSourcesMakeOneProgramWithItsOwnWordsAndStandard) {
  const std::string folder = std::filesystem::path(source()).parent_path().string();
  std::ofstream(folder + "/main.cu")
      << "#include <cstdio>\n#include <cstdlib>\n"
         "__global__ void fill(int* p, int n);\n"
         "int main(int count, char** words) {\n"
         "  int* p;\n  cudaMalloc(&p, 40);\n"
         "  fill<<<1, 16>>>(p, atoi(words[1]));\n"
         "  printf(\"%d words, the last is %s\\n\", count, words[count - 1]);\n"
         "  exit(0);\n}\n";
  std::ofstream(folder + "/fill.cu")
      << "static_assert(__cplusplus > 201703L && WIDTH == 4);\n"
         "__global__ void fill(int* p, int n) { if (threadIdx.x < n) p[threadIdx.x] = n; }\n";
  const std::string sources = folder + "/main.cu " + folder + "/fill.cu -std=c++20 -DWIDTH=4";
  const Said good = isomer_emulate(sources + " -- 10 --steps fill.cu");
  EXPECT_EQ(good.exit, 0) << good.text;
  EXPECT_NE(good.text.find("4 words, the last is fill.cu"), std::string::npos) << good.text;
  const Said bad = isomer_emulate(sources + " 11");
  EXPECT_EQ(bad.exit, 1);
  EXPECT_NE(bad.text.find("fill.cu:2: out-of-bounds-write"), std::string::npos) << bad.text;
}

TEST(WrittenArgument, IsReadWithItsTypeCountAndFill) {
  const WrittenArgument ramp = parse_argument("x=inout:f16:5:ramp", 1);
  EXPECT_EQ(ramp.argument.name, "x");
  EXPECT_EQ(ramp.argument.role, Argument::Role::in_out);
  EXPECT_EQ(ramp.argument.bytes, 10u);
  EXPECT_EQ(leading_values(ramp, 8), (std::vector<double>{0, 1, 2, 3, 4}));
  const WrittenArgument big = parse_argument("u64:18446744073709551615", 1);
  EXPECT_EQ(big.argument.bits, std::vector<std::byte>(8, std::byte{0xff}));
  EXPECT_EQ(leading_values(parse_argument("in:f32:9", 4), 9),
            leading_values(parse_argument("in:f32:9:randn", 4), 9));
  EXPECT_NE(leading_values(parse_argument("in:f32:9", 4), 9),
            leading_values(parse_argument("in:f32:9", 5), 9));
}

TEST(WrittenArgument, IsRefusedWithWhatWasExpected) {
  for (const char* bad : {"", "x=", "in", "in:f32", "in:f32:-1", "in:f32:4:purple", "in:i8:4:nan", "f32",
                          "f32:", "f32:zero", "f32:1:2", "out:f32:4:ramp:x", "in:f32:99999999999999"}) {
    EXPECT_THROW(parse_argument(bad, 1), Error) << bad;
  }
}

}  // namespace
}  // namespace isomer::emulator
