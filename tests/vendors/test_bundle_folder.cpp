// A bundle serves where nothing may be compiled; whatever is wrong with it, the call compiles or says so.
#include "child.hpp"
#include "vendor_calls.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace isomer {
namespace {

namespace fs = std::filesystem;

class BundleFolder : public testing::TestWithParam<StandIn> {
 protected:
  /// One call with that bundle and an empty cache, compiling allowed or not.
  std::string run(const std::string& bundle, const char* jit = "auto") const {
    const Folder cache;
    return in_child({{"ISOMER_STAND_IN_EXECUTE", "0"},
                     {"ISOMER_CACHE", cache.path()},
                     {"ISOMER_BUNDLE", bundle},
                     {"ISOMER_JIT", jit}},
                    [&] { return SinOnDevice(GetParam()).run(); });
  }
  /// A bundle with the call's one program: what the cache keeps.
  fs::path filled() const {
    in_child({{"ISOMER_STAND_IN_EXECUTE", "0"}, {"ISOMER_CACHE", folder_.path()}},
             [&] { return SinOnDevice(GetParam()).run(); });
    for (const auto& file : fs::directory_iterator(folder_.path())) return file.path();
    return {};
  }
  Folder folder_;
};

INSTANTIATE_TEST_SUITE_P(Of, BundleFolder, testing::ValuesIn(kStandIns),
                         [](const auto& info) { return std::string(info.param.vendor); });

TEST_P(BundleFolder, ServesWhereNothingMayBeCompiled) {
  ASSERT_FALSE(filled().empty());
  EXPECT_EQ(run(folder_.path()), "done from bundle");
  EXPECT_EQ(run(folder_.path(), "never"), "done from bundle");
  EXPECT_EQ(run(folder_.path(), "always"), "done from compiled");
}

TEST_P(BundleFolder, ThatIsNotThereIsSaid) {
  const auto refusal = [](const std::string& folder) {
    return "bad_argument: ISOMER_BUNDLE names '" + folder + "', which is no folder";
  };
  EXPECT_EQ(run(folder_.path() + "/nowhere"), refusal(folder_.path() + "/nowhere"));
  std::ofstream(folder_.path() + "/file") << "a file where the folder should be";
  EXPECT_EQ(run(folder_.path() + "/file"), refusal(folder_.path() + "/file"));
}

TEST_P(BundleFolder, WithADamagedEntryIsOneWithoutIt) {
  const fs::path file = filled();
  ASSERT_FALSE(file.empty());
  const auto damage = [&] { fs::resize_file(file, fs::file_size(file) - 1); };
  damage();
  EXPECT_EQ(run(folder_.path()), "done from compiled");
  ASSERT_EQ(filled(), file);
  damage();
  const std::string said = run(folder_.path(), "never");
  EXPECT_EQ(said.find("unsupported: " + std::string(GetParam().vendor) + ": isomer_sin "), 0u) << said;
  EXPECT_NE(said.find("ISOMER_JIT=never forbids compiling it; add it to a bundle with `isomer prebuild`"),
            said.npos)
      << said;
}

}  // namespace
}  // namespace isomer
