// Whatever lies in the cache folder, and whatever the folder allows: the kernel runs, and no bad entry stays
// where it can be replaced.
#include "child.hpp"
#include "vendor_calls.hpp"

#include "gpu/binary_folder.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace isomer {
namespace {

namespace fs = std::filesystem;

class Cache : public testing::TestWithParam<StandIn> {
 protected:
  std::string run(const std::string& fault = "") const {
    return in_child(environment(fault), [&] { return SinOnDevice(GetParam()).run(); });
  }
  /// The same, and why the cache has not taken the kernel.
  std::string run_and_tell() const {
    return in_child(environment(""), [&] { return SinOnDevice(GetParam()).run_and_tell(); });
  }
  Environment environment(const std::string& fault) const {
    return {{"ISOMER_STAND_IN_EXECUTE", "0"}, {"ISOMER_CACHE", path()}, {"ISOMER_STAND_IN_FAULT", fault}};
  }
  std::string path() const { return folder_.path() + "/kernels"; }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> list;
    std::error_code none;
    for (fs::directory_iterator at(path(), none), end; !none && at != end; at.increment(none))
      list.push_back(at->path());
    return list;
  }
  /// The one entry after one call.
  fs::path entry() const {
    EXPECT_EQ(run(), "done from compiled");
    const auto list = entries();
    EXPECT_EQ(list.size(), 1u);
    return list.empty() ? fs::path() : list.front();
  }
  static std::string text_of(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }
  static void write(const fs::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
  }
  Folder folder_;
};

INSTANTIATE_TEST_SUITE_P(Of, Cache, testing::ValuesIn(kStandIns),
                         [](const auto& info) { return std::string(info.param.vendor); });

TEST_P(Cache, ServesTheNextProcess) {
  const fs::path file = entry();
  const std::string text = text_of(file);
  EXPECT_EQ(run(), "done from cache");
  EXPECT_EQ(text_of(file), text);
}

TEST_P(Cache, ADamagedTruncatedOrForeignEntryIsReplaced) {
  const fs::path file = entry();
  const std::string good = text_of(file);
  const auto flipped = [&](std::size_t at) {
    std::string text = good;
    text[at] = static_cast<char>(text[at] ^ 1);
    return text;
  };
  std::string other_key = good;
  other_key.replace(other_key.find("\nkey ") + 5, 4, "0000");
  const std::size_t head = good.find("\n\n");
  const std::pair<const char*, std::string> bad[] = {
      {"empty", ""},
      {"one byte", good.substr(0, 1)},
      {"half of the head", good.substr(0, head / 2)},
      {"the head alone", good.substr(0, head + 2)},
      {"half of the image", good.substr(0, (head + good.size()) / 2)},
      {"all but the last byte", good.substr(0, good.size() - 1)},
      {"a byte too many", good + "x"},
      {"a bit of the magic", flipped(2)},
      {"a bit of the hash", flipped(good.find("\nsha256 ") + 10)},
      {"a bit of the image", flipped(head + 40)},
      {"the last bit", flipped(good.size() - 1)},
      {"another key", other_key},
      {"text", "this is not a kernel\n\nat all\n"},
      {"zeros", std::string(good.size(), '\0')},
  };
  for (const auto& [name, text] : bad) {
    write(file, text);
    EXPECT_EQ(run(), "done from compiled") << name;
    EXPECT_EQ(run(), "done from cache") << name;
  }
}

TEST_P(Cache, WhatIsNoFileIsReplacedOrLeftAlone) {
  const fs::path file = entry();
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(run(), "done from compiled") << "a pipe that nobody writes";
  EXPECT_EQ(run(), "done from cache");
  fs::remove(file);
  fs::create_symlink("/dev/zero", file);
  EXPECT_EQ(run(), "done from compiled") << "a device without an end";
  EXPECT_EQ(run(), "done from cache");
  fs::remove(file);
  fs::create_symlink(file, file);
  EXPECT_EQ(run(), "done from compiled") << "a link to itself";
  EXPECT_EQ(run(), "done from cache");
  fs::remove(file);
  fs::create_directories(file / "inside");
  EXPECT_EQ(run_and_tell().find("done from compiled: cannot rename '"), 0u)
      << "a folder with something in it";
  EXPECT_TRUE(fs::is_directory(file / "inside"));
  EXPECT_EQ(entries().size(), 1u) << "no part is left";
}

TEST_P(Cache, AnEntryTooLargeToBeAKernelIsReplacedUnread) {
  const fs::path file = entry();
  fs::resize_file(file, std::uintmax_t{1} << 40);  // sparse
  EXPECT_EQ(run(), "done from compiled");
  EXPECT_EQ(run(), "done from cache");
}

TEST_P(Cache, ThatCannotBeWrittenCostsTimeAlone) {
  // Root may write everywhere; another user may not.
  const auto as_nobody = [&](const std::function<std::string()>& body) {
    return in_child(environment(""), [&] {
      if (::geteuid() == 0 && (::setegid(65534) != 0 || ::seteuid(65534) != 0))
        return std::string("no nobody");
      return body();
    });
  };
  const auto call = [&] { return SinOnDevice(GetParam()).run_and_tell(); };
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  const fs::path file = entry();
  const std::string good = text_of(file);
  ASSERT_EQ(::chmod(path().c_str(), 0555), 0);
  EXPECT_EQ(as_nobody(call), "done from cache: ") << "it can still be read";
  write(file, "damaged");
  const std::string said = as_nobody(call);
  EXPECT_EQ(said.find("done from compiled: cannot create '" + path() + "/"), 0u) << said;
  EXPECT_NE(said.find(".part': Permission denied; "), said.npos) << said;
  EXPECT_EQ(text_of(file), "damaged");
  ASSERT_EQ(::chmod(path().c_str(), 0755), 0);
  EXPECT_EQ(run(), "done from compiled");
  EXPECT_EQ(text_of(file).substr(0, 60), good.substr(0, 60));
}

TEST_P(Cache, ThatCannotBeMadeCostsTimeAlone) {
  write(path(), "a file where the folder should be");
  const std::string said = run_and_tell();
  EXPECT_EQ(said.find("done from compiled: cannot create the folder '" + path() + "'"), 0u) << said;
}

TEST_P(Cache, OnAFullDiskIsLeftAsItWas) {
  fs::create_directories(path());
  const std::string said = in_child(environment(""), [&]() -> std::string {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("none", path().c_str(), "tmpfs", 0, "size=8k,nr_inodes=16") != 0)
      return "not allowed to mount";
    const std::string all = SinOnDevice(GetParam()).run_and_tell();
    return all + "; files left: " + std::to_string(entries().size());
  });
  if (said == "not allowed to mount") GTEST_SKIP() << said;
  EXPECT_EQ(said.find("done from compiled: cannot write '" + path() + "/"), 0u) << said;
  EXPECT_NE(said.find(": No space left on device; "), said.npos) << said;
  EXPECT_NE(said.find("; files left: 0"), said.npos) << said;
}

TEST_P(Cache, BeyondAQuotaIsLeftAsItWas) {
  const std::string said = in_child(environment(""), [&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    return SinOnDevice(GetParam()).run_and_tell();
  });
  EXPECT_EQ(said.find("done from compiled: cannot write '" + path() + "/"), 0u) << said;
  EXPECT_NE(said.find(": File too large; "), said.npos) << said;
  EXPECT_TRUE(entries().empty());
  EXPECT_EQ(run(), "done from compiled");
}

TEST_P(Cache, JitAlwaysCompilesAndStoresAnew) {
  const fs::path file = entry();
  Environment with = environment("");
  with.emplace_back("ISOMER_JIT", "always");
  EXPECT_EQ(in_child(with, [&] { return SinOnDevice(GetParam()).run(); }), "done from compiled");
  EXPECT_EQ(entries(), std::vector{file});
}

TEST_P(Cache, LeavesOfKilledWritersAreSweptAfterAnHour) {
  const fs::path file = entry();
  const fs::path old = fs::path(path()) / "0.1.2.3.part", fresh = fs::path(path()) / "0.1.2.4.part";
  write(old, "cut");
  write(fresh, "being written");
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  fs::remove(file);
  EXPECT_EQ(run(), "done from compiled");
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh));
}

}  // namespace
}  // namespace isomer
