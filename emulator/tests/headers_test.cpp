// Headers that many sources begin with are compiled once, and nothing else changes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "isomer/emulator/module.hpp"
#include "source/beginning.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

namespace fs = std::filesystem;

TEST(Headers, ASourceBeginsWithThemUntilItsOwnFirstLine) {
  const std::vector<std::string> folders = {"/usr", "/opt/torch"};
  const auto split = [&](const std::string& text) { return source::beginning_of_headers(text, folders); };
  const std::string first = "# 0 \"/me/a.cu\"\n# 1 \"<built-in>\"\n# 1 \"/me/a.cu\"\n";
  const std::string large = "# 1 \"/opt/torch/t.h\" 1 3\n" + std::string(400, 't') + ";\n";
  const std::string small = "# 1 \"/usr/include/y.h\" 1 3\nint y;\n";
  const std::string own = "# 3 \"/me/a.cu\" 2\nint mine;\n# 1 \"/usr/include/z.h\" 1 3\nint z;\n";
  const std::string own_entered = "# 3 \"/me/a.cu\"" + own.substr(own.find(" 2\n") + 2);
  EXPECT_EQ(split(first + large + own).headers, large);
  EXPECT_EQ(split(first + large + own).rest, own_entered);
  // A small header behind a large one is left to the source: others have other small ones.
  EXPECT_EQ(split(first + large + "# 2 \"/me/a.cu\" 2\n" + small + own).headers, large);
  EXPECT_EQ(split(first + large + "# 2 \"/me/a.cu\" 2\n" + small + own).rest,
            "# 2 \"/me/a.cu\"\n" + small + own);
  EXPECT_EQ(split(first + small + "# 2 \"/me/a.cu\" 2\n" + large + own).headers, small + large);
  EXPECT_EQ(split(first + "int mine;\n" + large + own).headers, "");
  // Where none of its own is large, those of every source.
  const std::string common = "# 1 \"/usr/include/all.h\" 1 3\nint all;\n";
  const std::string early = "# 0 \"/me/a.cu\"\n" + common + "# 1 \"/me/a.cu\"\n";
  EXPECT_EQ(source::beginning_of_headers(early + small + own, folders, 400).headers, common);
  EXPECT_EQ(source::beginning_of_headers(early + small + own, folders, 400).rest,
            "# 1 \"/me/a.cu\"\n" + small + own);
  EXPECT_EQ(source::beginning_of_headers(early + large + own, folders, 400).headers, common + large);
  // A header of the source's own folder is its own, whatever it includes, and so is one whose folder merely
  // begins alike.
  const std::string within_own = "# 1 \"/me/own.h\" 1\n" + large + "# 2 \"/me/own.h\" 2\nint h;\n";
  EXPECT_EQ(split(first + within_own + own).headers, "");
  EXPECT_EQ(split(first + "# 1 \"/opt/torch2/own.h\" 1\nint h;\n" + own).headers, "");
  EXPECT_EQ(split("").headers, "");
  EXPECT_EQ(split("# 1 \"/usr/include/y.h\" 1 3").headers, "");
}

class PrecompiledHeaders : public testing::Test {
 protected:
  PrecompiledHeaders() {
    setenv("ISOMER_CACHE", cache().c_str(), 1);
    fs::create_directories(folder_.directory() / "large");
    // Five megabytes that a compiler reads quickly.
    std::ofstream header(folder_.directory() / "large/large.h");
    for (int i = 0; i < 100; ++i)
      header << "inline const char* text_" << i << "() { return \"" << std::string(50000, 'x') << "\"; }\n";
    header << "inline int seven() { return 7; }\n";
  }
  ~PrecompiledHeaders() override {
    before_.empty() ? unsetenv("ISOMER_CACHE") : setenv("ISOMER_CACHE", before_.c_str(), 1);
  }
  fs::path cache() const { return folder_.directory() / "cache"; }
  Module built(int number, const std::string& rest = "") {
    const fs::path source = folder_.directory() / ("source" + std::to_string(number) + ".cu");
    std::ofstream(source) << "// " << number << "\n#include <large.h>\n#include <cstdio>\n"
                          << "__global__ void fill(int* p) { p[threadIdx.x] = seven() + " << number << "; }\n"
                          << rest;
    BuildOptions options;
    options.sources = {source};
    options.system_directories = {(folder_.directory() / "large").string()};
    options.watch = true;
    return Module::build(options);
  }
  /// None is made where the disk has less than 4 GiB left.
  static bool has_room() {
    return fs::space(fs::temp_directory_path()).available >= (std::uintmax_t{4} << 30);
  }
  std::size_t made() const {
    std::size_t count = 0;
    if (fs::exists(cache()))
      for (const auto& each : fs::recursive_directory_iterator(cache()))
        count += each.path().extension() == ".gch";
    return count;
  }

 private:
  const WrittenSource folder_{""};
  const std::string before_ = std::getenv("ISOMER_CACHE") ? std::getenv("ISOMER_CACHE") : "";
};

TEST_F(PrecompiledHeaders, AreMadeForTheFourthSourceAndNoAnswerOrLineChanges) {
  for (int number = 1; number <= 6; ++number) {
    const Module module = built(number);
    EXPECT_EQ(made(), number < 4 || !has_room() ? 0u : 1u) << number;
    std::vector<int> p(32);
    const RunResult fits = module.launch("fill", {{1, 1, 1}, {32, 1, 1}}, {Argument::in_out("p", p)});
    EXPECT_TRUE(fits.ok()) << fits.failure;
    EXPECT_EQ(p[31], 7 + number);
    const RunResult beyond = module.launch("fill", {{1, 1, 1}, {33, 1, 1}}, {Argument::in_out("p", p)});
    ASSERT_FALSE(beyond.reports.empty());
    EXPECT_EQ(beyond.reports[0].place.line, 4u);
    EXPECT_EQ(fs::path(beyond.reports[0].place.file).filename(), "source" + std::to_string(number) + ".cu");
  }
  try {
    built(7, "int broken = no_such_name;\n");
    ADD_FAILURE() << "it compiled";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("source7.cu:5"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("no_such_name"), std::string::npos) << error.what();
  }
}

TEST_F(PrecompiledHeaders, OfTheRuntimeServeSourcesWhateverTheyIncludeAndDefine) {
  const char* own[] = {"climits", "array", "bitset", "string", "vector", "map"};
  for (int number = 0; number < 6; ++number) {
    const WrittenSource source("#include <" + std::string(own[number]) +
                               ">\n__global__ void fill(int* p) { p[threadIdx.x] = NUMBER; }\n");
    BuildOptions options;
    options.sources = {source.path()};
    options.definitions = {"NUMBER=" + std::to_string(number)};
    const Module module = Module::build(options);
    EXPECT_EQ(made(), number < 3 || !has_room() ? 0u : 1u) << number;
    std::vector<int> p(32);
    EXPECT_TRUE(module.launch("fill", {{1, 1, 1}, {32, 1, 1}}, {Argument::in_out("p", p)}).ok());
    EXPECT_EQ(p[31], number);
  }
}

// Boost writes the specifiers where it sees a compiler for devices.
TEST(SystemHeaders, MayHoldTheSpecifiersOfCuda) {
  const WrittenSource source(
      "#include <boost/half.hpp>\n__global__ void fill(int* p) { p[threadIdx.x] = half_of(14); }\n");
  fs::create_directories(source.directory() / "boost");
  std::ofstream(source.directory() / "boost/half.hpp")
      << "#ifdef __CUDACC__\n#define BOTH __host__ __device__\n#else\n#define BOTH\n#endif\n"
         "BOTH inline int half_of(int x) { return x / 2; }\n";
  BuildOptions options;
  options.sources = {source.path()};
  options.system_directories = {source.directory().string()};
  std::vector<int> p(4);
  EXPECT_TRUE(Module::build(options).launch("fill", {{1, 1, 1}, {4, 1, 1}}, {Argument::in_out("p", p)}).ok());
  EXPECT_EQ(p[3], 7);
}

// Makefiles name the folder of the toolkit: what the emulator has is not taken from there, the rest is.
TEST(SystemHeaders, OfAnInstalledToolkitStandBehindTheEmulators) {
  const WrittenSource source(
      "#include <cuda_runtime_api.h>\n#include <of_the_toolkit.h>\n"
      "__global__ void fill(int* p) { p[threadIdx.x] = kSeven; }\n");
  const fs::path folder = source.directory() / "toolkit";
  fs::create_directories(folder / "crt");
  std::ofstream(folder / "cuda_runtime_api.h") << "#error the toolkit's own\n";
  std::ofstream(folder / "of_the_toolkit.h") << "constexpr int kSeven = 7;\n";
  BuildOptions options;
  options.sources = {source.path()};
  options.include_directories = {folder.string()};
  std::vector<int> p(4);
  EXPECT_TRUE(Module::build(options).launch("fill", {{1, 1, 1}, {4, 1, 1}}, {Argument::in_out("p", p)}).ok());
  EXPECT_EQ(p[3], 7);
}

TEST_F(PrecompiledHeaders, ThatAreDamagedAreNotUsed) {
  for (int number = 1; number <= 4; ++number) built(number);
  ASSERT_EQ(made(), has_room() ? 1u : 0u);
  for (const auto& each : fs::recursive_directory_iterator(cache()))
    if (each.path().extension() == ".gch") std::ofstream(each.path()) << "nothing that a compiler reads";
  std::vector<int> p(32);
  EXPECT_TRUE(built(5).launch("fill", {{1, 1, 1}, {32, 1, 1}}, {Argument::in_out("p", p)}).ok());
  EXPECT_EQ(p[0], 12);
}

}  // namespace
}  // namespace isomer::emulator::tests
