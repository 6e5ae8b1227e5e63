// The installed tree serves a project of somebody else's, in C and in C++, through CMake and through
// pkg-config, wherever the tree lies.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

struct Outcome {
  int status;
  std::string text;
};

Outcome run(const std::string& command) {
  FILE* pipe = popen(("(" + command + ") 2>&1").c_str(), "r");
  Outcome outcome{-1, {}};
  char part[4096];
  while (const std::size_t read = fread(part, 1, sizeof part, pipe)) outcome.text.append(part, read);
  const int status = pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

std::string quote(const std::string& text) { return "'" + text + "'"; }

class InstalledTree : public testing::Test {
 protected:
  void SetUp() override {
    folder = fs::path(testing::TempDir()) / ("isomer_install_" + std::to_string(getpid()));
    fs::remove_all(folder);
    fs::create_directories(folder);
    const Outcome installed = run(quote(ISOMER_CMAKE) + " --install " + quote(ISOMER_BUILD) +
                                  " --component library --prefix " + quote(folder / "made"));
    ASSERT_EQ(installed.status, 0) << installed.text;
    // Nothing in the tree may hold the place where it was made.
    fs::rename(folder / "made", folder / "moved");
    prefix = folder / "moved";
  }
  void TearDown() override { fs::remove_all(folder); }

  /// Builds a project of tests/install with find_package and gives what its program prints.
  Outcome through_cmake(const std::string& project) const {
    const std::string build = folder / "build";
    Outcome outcome =
        run(quote(ISOMER_CMAKE) + " -S " + quote(ISOMER_TEST_DATA "/install/" + project) + " -B " +
            quote(build) + " --no-warn-unused-cli -G " + quote(ISOMER_GENERATOR) +
            " -DCMAKE_MAKE_PROGRAM=" ISOMER_MAKE_PROGRAM " -DCMAKE_C_COMPILER=" ISOMER_C_COMPILER
            " -DCMAKE_CXX_COMPILER=" ISOMER_CXX_COMPILER " -DCMAKE_PREFIX_PATH=" +
            quote(prefix) + " && " + quote(ISOMER_CMAKE) + " --build " + quote(build));
    return outcome.status == 0 ? run(quote(build + "/program")) : outcome;
  }

  Outcome through_pkg_config(const std::string& compiler, const std::string& source) const {
    const std::string program = folder / "program", library = library_folder();
    Outcome outcome = run("export PKG_CONFIG_PATH=" + quote(library + "/pkgconfig") + " && " + compiler +
                          " " + quote(ISOMER_TEST_DATA "/install/" + source) + " -o " + quote(program) +
                          " $(pkg-config --cflags --libs isomer)");
    return outcome.status == 0 ? run("LD_LIBRARY_PATH=" + quote(library) + " " + quote(program)) : outcome;
  }

  std::string library_folder() const {
    for (const auto& entry : fs::recursive_directory_iterator(prefix))
      if (entry.path().filename() == "libisomer.so.0") return entry.path().parent_path();
    ADD_FAILURE() << "no libisomer.so.0 under " << prefix;
    return {};
  }

  fs::path folder, prefix;
  const std::string sines = "isomer " ISOMER_VERSION ", sin 0.0000 0.4794 0.8415\n";
  const std::string refusal = "C++: sin: y has shape [2], expected [3] (...)\n";
};

TEST_F(InstalledTree, ServesACProjectThroughFindPackage) {
  const Outcome outcome = through_cmake("c_program");
  EXPECT_EQ(outcome.text, "C: " + sines);
  EXPECT_EQ(outcome.status, 0);
}

TEST_F(InstalledTree, ServesACxxProjectThroughFindPackage) {
  const Outcome outcome = through_cmake("cxx_program");
  EXPECT_EQ(outcome.text, refusal + "C++: " + sines);
  EXPECT_EQ(outcome.status, 0);
}

TEST_F(InstalledTree, ServesACxx17ProjectWithTheStaticLibrary) {
  const Outcome outcome = through_cmake("static_program");
  EXPECT_EQ(outcome.text, refusal + "C++: " + sines);
  const Outcome needed = run("ldd " + quote(folder / "build" / "program"));
  EXPECT_EQ(needed.text.find("libisomer"), std::string::npos) << needed.text;
}

TEST_F(InstalledTree, ServesACProgramThroughPkgConfig) {
  const Outcome outcome = through_pkg_config(ISOMER_C_COMPILER " -std=c99", "c_program/main.c");
  EXPECT_EQ(outcome.text, "C: " + sines);
  EXPECT_EQ(outcome.status, 0);
}

TEST_F(InstalledTree, ServesACxxProgramThroughPkgConfig) {
  const Outcome outcome = through_pkg_config(ISOMER_CXX_COMPILER " -std=c++20", "cxx_program/main.cpp");
  EXPECT_EQ(outcome.text, refusal + "C++: " + sines);
  EXPECT_EQ(outcome.status, 0);
}

TEST_F(InstalledTree, RefusesAnotherMinorVersion) {
  const fs::path project = folder / "later";
  fs::create_directories(project);
  std::ofstream(project / "CMakeLists.txt")
      << "cmake_minimum_required(VERSION 3.16)\nproject(later LANGUAGES NONE)\n"
         "find_package(isomer 0.99 REQUIRED)\n";
  const Outcome outcome =
      run(quote(ISOMER_CMAKE) + " -S " + quote(project) + " -B " + quote(folder / "build") + " -G " +
          quote(ISOMER_GENERATOR) +
          " -DCMAKE_MAKE_PROGRAM=" ISOMER_MAKE_PROGRAM " -DCMAKE_PREFIX_PATH=" + quote(prefix));
  EXPECT_NE(outcome.status, 0);
  EXPECT_NE(outcome.text.find("version: " ISOMER_VERSION), std::string::npos) << outcome.text;
}

TEST_F(InstalledTree, HoldsEveryPublicHeaderAndNoPathOfTheBuild) {
  std::size_t headers = 0, sources = 0;
  for (const auto& entry : fs::recursive_directory_iterator(prefix)) {
    if (!entry.is_regular_file()) continue;
    const std::string extension = entry.path().extension();
    headers += extension == ".h" || extension == ".hpp";
    if (extension != ".cmake" && extension != ".pc") continue;
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_EQ(text.str().find(ISOMER_BUILD), std::string::npos) << entry.path();
    EXPECT_EQ(text.str().find(folder.string()), std::string::npos) << entry.path();
  }
  for (const auto& entry : fs::directory_iterator(ISOMER_TEST_DATA "/../include/isomer"))
    sources += entry.is_regular_file();
  EXPECT_EQ(headers, sources);
}

}  // namespace
