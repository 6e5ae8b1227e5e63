// A program with strict warnings compiles the public headers, in whatever order it includes them.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace isomer::house {
namespace {

namespace fs = std::filesystem;

const std::string kCxx = ISOMER_CXX " -std=c++20 -x c++", kCxx17 = ISOMER_CXX " -std=c++17 -x c++",
                  kC = ISOMER_CC " -std=c99 -x c";

/// What the compiler says to a program; empty where it is silent.
std::string warnings(const std::string& compiler, const std::string& program) {
  const fs::path file = fs::path(testing::TempDir()) / ("isomer_headers_" + std::to_string(getpid()));
  std::ofstream(file) << program;
  const std::string command =
      compiler +
      " -I" ISOMER_SOURCE_DIR
      "/include -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror "
      "-fsyntax-only " +
      file.string() + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "no compiler: " + compiler;
  std::string said;
  char part[4096];
  while (std::size_t read = fread(part, 1, sizeof part, pipe)) said.append(part, read);
  fs::remove(file);
  return pclose(pipe) == 0 ? "" : said + "(" + command + ")";
}

TEST(PublicHeaders, CompileWithEveryWarningInAnyOrder) {
  std::vector<std::string> lines;
  for (const auto& entry : fs::directory_iterator(ISOMER_SOURCE_DIR "/include/isomer"))
    lines.push_back("#include <isomer/" + entry.path().filename().string() + ">\n");
  ASSERT_GT(lines.size(), 10u);
  std::sort(lines.begin(), lines.end());
  std::string forwards, backwards;
  for (const std::string& line : lines) {
    forwards += line;
    backwards = line + backwards;
  }
  EXPECT_EQ(warnings(kCxx, forwards), "");
  EXPECT_EQ(warnings(kCxx, backwards), "");
  EXPECT_EQ(warnings(kCxx17, forwards), "");
  EXPECT_EQ(warnings(kCxx17, backwards), "");
  EXPECT_EQ(warnings(kC, "#include <isomer/isomer.h>\ntypedef int something;\n"), "");
}

TEST(PublicHeaders, AreHeldAgainstWarningsThatAreOn) {
  EXPECT_NE(warnings(kCxx, "int f(int a) { { int a = 1; (void)a; } return a; }\n"), "");
  EXPECT_NE(warnings(kCxx, "char f(long a) { return a; }\n"), "");
  EXPECT_NE(warnings(kCxx, "#include <isomer/nothing.hpp>\n"), "");
  EXPECT_EQ(warnings(kCxx, "int f(int a) { return a; }\n"), "");
}

}  // namespace
}  // namespace isomer::house
