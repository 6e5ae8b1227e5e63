// What can go wrong with the emulator's own compiler, folders and threads is one sentence that says what to
// do.
#ifdef ISOMER_HAS_EMULATOR
#include "child.hpp"
#include "vendor_calls.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

namespace isomer {
namespace {

namespace fs = std::filesystem;

constexpr StandIn kEmulated{DeviceType::emulated, "emulated", "emulated-32", "", ""};

std::string sin_in_child(Environment environment, const std::string& cache) {
  environment.emplace_back("ISOMER_CACHE", cache);
  return in_child(environment, [] { return SinOnDevice(kEmulated).run(); });
}

TEST(EmulatedFault, NoHostCompilerIsSaid) {
  const Folder cache;
  EXPECT_EQ(
      sin_in_child({{"ISOMER_CXX", ""}, {"PATH", "/nowhere"}}, cache.path()),
      "device: queue: emulated:0: no C++ compiler found to build kernels with: install g++ or clang++, or "
      "name one in ISOMER_CXX");
}

TEST(EmulatedFault, AChosenHostCompilerThatIsNotThereIsSaid) {
  const Folder cache;
  EXPECT_EQ(sin_in_child({{"ISOMER_CXX", "/nowhere/g++"}}, cache.path()),
            "device: queue: emulated:0: ISOMER_CXX names /nowhere/g++, which is not there, or is no program");
}

TEST(EmulatedFault, ASettingThatIsNoneIsSaid) {
  const Folder cache;
  EXPECT_EQ(sin_in_child({{"ISOMER_EMULATED_WATCH", "perhaps"}}, cache.path()),
            "device: queue: emulated:0: ISOMER_EMULATED_WATCH expects 0 or 1, got 'perhaps'");
  EXPECT_EQ(sin_in_child({{"ISOMER_JIT", "sometimes"}}, cache.path()),
            "bad_argument: ISOMER_JIT expects auto, never or always, got 'sometimes'");
  EXPECT_EQ(sin_in_child({{"ISOMER_BUNDLE", "/nowhere/kernels"}}, cache.path()),
            "bad_argument: ISOMER_BUNDLE names '/nowhere/kernels', which is no folder");
}

TEST(EmulatedFault, ACacheWhereThereIsNoHomeIsThisUsersAlone) {
  const Folder temporary;
  const std::string folder = temporary.path() + "/isomer-" + std::to_string(geteuid());
  const Environment homeless = {{"XDG_CACHE_HOME", ""}, {"HOME", ""}, {"TMPDIR", temporary.path()}};
  const std::string refusal =
      "internal: emulated: compiling ops/sin/kernels/sin.cu: there is no cache directory: HOME is "
      "not set, and " +
      folder +
      " is no folder of this user's alone; set ISOMER_CACHE to one that "
      "can be written";
  EXPECT_EQ(sin_in_child(homeless, ""), "done from compiled");
  EXPECT_EQ(std::filesystem::status(folder).permissions(), std::filesystem::perms::owner_all);
  std::filesystem::permissions(folder, std::filesystem::perms::all);
  EXPECT_EQ(sin_in_child(homeless, ""), refusal);
  std::filesystem::remove_all(folder);
  // Somebody else's folder under that name, and a way to it.
  std::filesystem::create_directory(temporary.path() + "/other");
  std::filesystem::permissions(temporary.path() + "/other", std::filesystem::perms::owner_all);
  std::filesystem::create_directory_symlink(temporary.path() + "/other", folder);
  EXPECT_EQ(sin_in_child(homeless, ""), refusal);
}

TEST(EmulatedFault, AHostCompilerThatFailsIsSaidAndLeavesNothing) {
  const Folder cache;
  const std::string said = sin_in_child({{"ISOMER_CXX", "/bin/false"}}, cache.path());
  EXPECT_EQ(said, "internal: emulated: compiling ops/sin/kernels/sin.cu: the compiler failed without a word");
  EXPECT_EQ(sin_in_child({}, cache.path()), "done from compiled");
}

TEST(EmulatedFault, ACacheThatCannotBeWrittenIsSaid) {
  const Folder folder;
  const std::string path = folder.path() + "/kernels";
  std::ofstream(path) << "a file where the folder should be";
  EXPECT_EQ(sin_in_child({}, path),
            "internal: emulated: compiling ops/sin/kernels/sin.cu: the cache directory " + path +
                "/emulator cannot be written; set ISOMER_CACHE to one that can");
}

TEST(EmulatedFault, NoFolderForFilesIsSaid) {
  const Folder folder;
  const std::string path = folder.path() + "/kernels";
  EXPECT_EQ(sin_in_child({{"TMPDIR", "/nowhere"}}, path), "done from compiled") << "the cache serves";
  std::ofstream(folder.path() + "/file") << "a file where the folder should be";
  const std::string said = sin_in_child({{"TMPDIR", "/nowhere"}}, folder.path() + "/file");
  EXPECT_EQ(said.find("io: emulated: no folder for temporary files can be made: "), 0u) << said;
  EXPECT_NE(said.find("; set TMPDIR to a folder that can be written"), said.npos) << said;
}

TEST(EmulatedFault, TheNextProcessCompilesNothing) {
  const Folder cache;
  const auto files = [&](const char* folder) {
    std::map<fs::path, fs::file_time_type> list;
    for (const auto& file : fs::recursive_directory_iterator(fs::path(cache.path()) / folder))
      list[file.path()] = file.last_write_time();
    return list;
  };
  EXPECT_EQ(sin_in_child({}, cache.path()), "done from compiled");
  const auto modules = files("emulator"), sources = files("emulator-sources");
  EXPECT_GE(modules.size(), 3u) << "a folder with the module and what it is made of";
  EXPECT_EQ(sin_in_child({}, cache.path()), "done from compiled");
  EXPECT_EQ(files("emulator"), modules);
  EXPECT_EQ(files("emulator-sources"), sources);
}

TEST(EmulatedFault, ProcessesThatBeginAtOnceOnAnEmptyCacheHarmNobody) {
  for (int round = 0; round < 4; ++round) {
    const Folder cache;
    std::vector<std::string> said(6);
    std::vector<std::thread> threads;
    for (std::string& text : said) threads.emplace_back([&] { text = sin_in_child({}, cache.path()); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(said, std::vector<std::string>(6, "done from compiled"));
    int trees = 0;
    for (const auto& tree : fs::directory_iterator(fs::path(cache.path()) / "emulator-sources")) {
      ++trees;
      EXPECT_FALSE(tree.path().has_extension()) << "a part is left: " << tree.path();
    }
    EXPECT_EQ(trees, 1);
  }
}

TEST(EmulatedFault, ADamagedSourceIsReplaced) {
  const Folder cache;
  EXPECT_EQ(sin_in_child({}, cache.path()), "done from compiled");
  fs::path source;
  for (const auto& file : fs::recursive_directory_iterator(fs::path(cache.path()) / "emulator-sources"))
    if (file.path().filename() == "sin.cu") source = file.path();
  ASSERT_FALSE(source.empty());
  const auto bytes = fs::file_size(source);
  std::ofstream(source) << "cut";
  EXPECT_EQ(sin_in_child({}, cache.path()), "done from compiled");
  EXPECT_EQ(fs::file_size(source), bytes);
}

TEST(EmulatedFault, AForkAfterTheFirstCallHarmsNobody) {
  const Folder cache;
  EXPECT_EQ(in_child({{"ISOMER_CACHE", cache.path()}},
                     [] {
                       SinOnDevice call(kEmulated, 0, 5000);
                       std::string all = call.run();
                       all += " | " + in_child({}, [&] {
                                ::alarm(60);  // a child that waits for threads it does not have
                                return call.run();
                              });
                       all += " | " + in_child({}, [] {
                                ::alarm(60);
                                return SinOnDevice(kEmulated, 1, 5000).run();
                              });
                       return all + " | " + call.run();
                     }),
            "done from compiled | done from compiled | done from compiled | done from compiled");
}

}  // namespace
}  // namespace isomer
#endif
