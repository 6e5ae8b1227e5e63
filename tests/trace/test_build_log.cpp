// The options of a build, from what the build itself wrote down.
#include "lab/diff/build_log.hpp"

#include <isomer/error.hpp>

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace isomer::lab {
namespace {

using Options = std::map<std::string, std::string>;

TEST(BuildLog, WordsAreSplitAsTheShellDoes) {
  EXPECT_EQ(shell_words(R"(nvcc -DA="b c" 'd "e"' f\ g  -I"/x y"/z)"),
            (std::vector<std::string>{"nvcc", "-DA=b c", "d \"e\"", "f g", "-I/x y/z"}));
  EXPECT_EQ(shell_words(R"(a "" b)"), (std::vector<std::string>{"a", "", "b"}));
}

TEST(BuildLog, OptionsHaveOneNameHoweverTheyAreWritten) {
  const Options wanted = {{"--maxrregcount", "32"},
                          {"--use_fast_math", "on"},
                          {"--optimize", "3"},
                          {"--generate-code", "arch=compute_90a,code=sm_90a"},
                          {"-DNDEBUG", "on"},
                          {"-DTILE", "64"},
                          {"--ptxas-options", "-O2"},
                          {"--std", "c++17"},
                          {"--generate-line-info", "on"}};
  for (const char* line :
       {"-maxrregcount=32 -use_fast_math -O3 -gencode arch=compute_90a,code=sm_90a -DNDEBUG -DTILE=64 "
        "-Xptxas -O2 "
        "-std=c++17 -lineinfo -Xptxas -v -c k.cu -o k.o -I/usr/include -Xcompiler -fPIC -MD -MF k.d",
        "--maxrregcount 32 --use_fast_math -O 3 --generate-code=arch=compute_90a,code=sm_90a -D NDEBUG -D "
        "TILE=64 "
        "--ptxas-options=-O2 --std c++17 --generate-line-info -isystem /opt/include --threads 4 -x cu"})
    EXPECT_EQ(compiler_options(shell_words(line)), wanted) << line;
}

TEST(BuildLog, CompileCommandsAndVerboseLogsTellTheSame) {
  const auto make = parse_build_log(
      "[ 33%] Building CUDA object k.cu.o\n"
      "cd /build && /usr/local/cuda/bin/nvcc -forward-unknown-to-host-compiler -O3 --use_fast_math \\\n"
      "  -c /src/k.cu -o k.cu.o\n"
      "/usr/bin/c++ -O3 -c main.cpp\n",
      "make.log");
  const auto ninja = parse_build_log(
      "[1/2] /usr/local/cuda/bin/nvcc -O3 --use_fast_math -c /src/k.cu -o k.cu.o\n", "ninja.log");
  const auto json = parse_build_log(
      R"([{"directory":"/build","command":"/usr/local/cuda/bin/nvcc -O3 --use_fast_math -c /src/k.cu -o k.cu.o","file":"/src/k.cu"},
          {"directory":"/build","arguments":["c++","-c","main.cpp"],"file":"main.cpp"}])",
      "compile_commands.json");
  for (const auto& units : {make, ninja, json}) {
    ASSERT_EQ(units.size(), 1u);
    EXPECT_EQ(units[0].source, "/src/k.cu");
    EXPECT_EQ(units[0].compiler, "nvcc");
    EXPECT_EQ(units[0].options, (Options{{"--optimize", "3"}, {"--use_fast_math", "on"}}));
  }
}

TEST(BuildLog, DifferencesNameTheOptionAndWhere) {
  const auto a = parse_build_log("nvcc -O3 -c x/k.cu\nnvcc -O3 -c x/m.cu\n", "a");
  const auto all =
      option_differences(a, parse_build_log("nvcc -O3 -DN -c k.cu\nnvcc -O3 -DN -c m.cu\n", "b"));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].name, "option -DN");
  EXPECT_EQ(all[0].a, "");
  EXPECT_EQ(all[0].b, "on");
  const auto some = option_differences(a, parse_build_log("nvcc -O3 -DN -c k.cu\nnvcc -O3 -c m.cu\n", "b"));
  ASSERT_EQ(some.size(), 1u);
  EXPECT_EQ(some[0].b, "on (k.cu)");
  EXPECT_TRUE(option_differences(a, a).empty());
}

TEST(BuildLog, WithoutACompilersCommandIsRefused) {
  for (const char* text :
       {"", "hello\n", "[]", "{}", "[1,2]", "[{\"command\":5}]", "gcc -c a.c\n", "nvcc --version\n", "["}) {
    try {
      parse_build_log(text, "file");
      ADD_FAILURE() << "accepted: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::io);
      EXPECT_NE(std::string(error.what()).find("file: has no nvcc or hipcc command"), std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
}  // namespace isomer::lab
