// A cache folder that cannot keep what is compiled is told by `isomer doctor`, and by `isomer explain` with
// the kernel that it has not kept.
#include "child.hpp"
#include "vendor_calls.hpp"

#include "lab/plan/explain.hpp"
#include "lab/report/doctor.hpp"
#include "lab/report/plan_report.hpp"

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace isomer {
namespace {

namespace fs = std::filesystem;

std::string doctor_on_the_cache() {
  for (const lab::Examined& finding : lab::examine())
    if (finding.group == "compiled kernels" && finding.name == "cache")
      return (finding.present ? "good: " : "bad: ") + finding.detail + " → " + finding.remedy;
  return "no finding";
}

class CacheTold : public testing::TestWithParam<StandIn> {
 protected:
  /// What is said where ISOMER_CACHE names the path, after `prepare` has been run there.
  std::string said(const std::function<std::string()>& ask, const std::string& path,
                   const std::function<bool()>& prepare) const {
    return in_child({{"ISOMER_STAND_IN_EXECUTE", "0"}, {"ISOMER_CACHE", path}},
                    [&] { return prepare() ? ask() : std::string("not allowed"); });
  }
  std::string explained() const {
    return lab::explain_text(lab::explain({.line = "sin n=100",
                                           .backend = std::string(GetParam().vendor) + ":0",
                                           .implementation = "",
                                           .compile = true}));
  }
  /// Both sentences name the folder and `why`; the first use of another folder has neither.
  void expect_told(const std::string& path, const std::string& why, const std::function<bool()>& prepare) {
    const std::string doctor = said(doctor_on_the_cache, path, prepare);
    if (doctor == "not allowed") GTEST_SKIP() << "not allowed to prepare the folder";
    EXPECT_EQ(doctor, "bad: " + path + ", 0 programs, 0.0 MB, but compiled kernels cannot be stored there: " +
                          why + " → make room there, or set ISOMER_CACHE to a folder that can be written");
    const std::string explain = said([&] { return explained(); }, path, prepare);
    const std::size_t at = explain.find("\n  not kept  cannot ");
    ASSERT_NE(at, explain.npos) << explain;
    const std::string sentence = explain.substr(at + 13, explain.find('\n', at + 1) - at - 13);
    EXPECT_NE(sentence.find("'" + path), sentence.npos) << sentence;
    EXPECT_NE(sentence.find(": " + why + "; make room"), sentence.npos) << sentence;
    EXPECT_NE(explain.find("\n  code      compiled "), explain.npos) << explain;
  }
  Folder folder_;
};

INSTANTIATE_TEST_SUITE_P(Of, CacheTold, testing::ValuesIn(kStandIns),
                         [](const auto& info) { return std::string(info.param.vendor); });

TEST_P(CacheTold, NothingWhereItKeeps) {
  const std::string path = folder_.path() + "/made/at/first/use";
  const auto nothing = [] { return true; };
  EXPECT_EQ(said(doctor_on_the_cache, path, nothing), "good: " + path + ", 0 programs, 0.0 MB → ");
  EXPECT_FALSE(fs::exists(path));
  const std::string first = said([&] { return explained(); }, path, nothing);
  EXPECT_NE(first.find("\n  code      compiled "), first.npos) << first;
  EXPECT_EQ(first.find("not kept"), first.npos) << first;
  const std::string second = said([&] { return explained(); }, path, nothing);
  EXPECT_NE(second.find("\n  code      cache "), second.npos) << second;
  EXPECT_EQ(said(doctor_on_the_cache, path, nothing).find("good: " + path + ", 1 programs"), 0u);
}

TEST_P(CacheTold, WhereAFileIsInItsPlace) {
  const std::string path = folder_.path() + "/kernels";
  std::ofstream(path) << "no folder";
  expect_told(path, "Not a directory", [] { return true; });
}

TEST_P(CacheTold, WhereItMayNotBeWritten) {
  const std::string path = folder_.path() + "/kernels";
  fs::create_directories(path);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(path.c_str(), 0555), 0);
  // Root may write everywhere.
  expect_told(path, "Permission denied",
              [] { return ::geteuid() != 0 || (::setegid(65534) == 0 && ::seteuid(65534) == 0); });
}

TEST_P(CacheTold, WhereTheDiskIsReadOnlyOrFull) {
  const std::string path = folder_.path() + "/kernels";
  fs::create_directories(path);
  const auto mounted = [&](unsigned long flags, const char* options) {
    return ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           ::mount("none", path.c_str(), "tmpfs", flags, options) == 0;
  };
  expect_told(path, "Read-only file system", [&] { return mounted(MS_RDONLY, "size=8m"); });
  expect_told(path, "No space left on device", [&] { return mounted(0, "size=4k,nr_inodes=16"); });
}

TEST_P(CacheTold, WhereNoneIsNamed) {
  const auto unnamed = [] {
    for (const char* name : {"ISOMER_CACHE", "XDG_CACHE_HOME", "HOME"}) ::unsetenv(name);
    return true;
  };
  EXPECT_EQ(said(doctor_on_the_cache, "", unnamed), "bad: not set → set ISOMER_CACHE or HOME");
  const std::string explain = said([&] { return explained(); }, "", unnamed);
  EXPECT_NE(
      explain.find("\n  not kept  there is no cache folder; set ISOMER_CACHE to one that can be written\n"),
      explain.npos)
      << explain;
}

}  // namespace
}  // namespace isomer
