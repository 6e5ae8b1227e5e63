// hipcc as a program: what can go wrong with starting it and with its files is one sentence, and it leaves
// nothing behind.
#include "core/temporary_folder.hpp"
#include "gpu/vendors/hip/hipcc.hpp"

#include <isomer/error.hpp>

#include <gtest/gtest.h>

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace isomer::gpu::hip {
namespace {

namespace fs = std::filesystem;

const Translation kSin = {"ops/sin/kernels/sin.cu",
                          "isomer_sin",
                          {"ISOMER_ELEMENT=f32", "ISOMER_VECTOR=4", "ISOMER_UNROLL=4", "ISOMER_RAGGED=0",
                           "ISOMER_DIMS=1", "ISOMER_INDEX=u32", "ISOMER_THREADS=128"},
                          "gfx90a"};
const std::string kWhat = "hip: compiling ops/sin/kernels/sin.cu for gfx90a with ISOMER_ELEMENT=f32 ";

/// hipcc is looked for once in a process, so each test must be the first to ask; ctest starts one for each.
class HipccFault : public testing::Test {
 protected:
  HipccFault() : folder_("test", "hipcc") { ::setenv("TMPDIR", folder_.path().c_str(), 1); }
  /// A program of these lines in the place of hipcc.
  void stand_in(const std::string& lines) {
    const fs::path file = folder_.path().string() + ".program";
    std::ofstream(file) << "#!/bin/sh\n" << lines << "\n";
    fs::permissions(file, fs::perms::owner_all);
    ::setenv("ISOMER_HIPCC", file.c_str(), 1);
  }
  ~HipccFault() override { fs::remove(folder_.path().string() + ".program"); }
  std::string said() const {
    try {
      Hipcc::get().compile(kSin);
      return "compiled";
    } catch (const Error& error) {
      return error.what();
    }
  }
  core::TemporaryFolder folder_;
};

TEST_F(HipccFault, ThatSaysNothingAndMakesNothing) {
  stand_in("exit 0");
  const std::string text = said();
  EXPECT_EQ(text.find(kWhat), 0u) << text;
  EXPECT_NE(text.find(" by hipcc: it made no code"), text.npos) << text;
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(HipccFault, ThatIsKilledAfterHalfOfItsCode) {
  stand_in("while [ \"$1\" != -o ]; do shift; done; echo half >\"$2\"; kill -9 $$");
  const std::string text = said();
  EXPECT_NE(text.find(" by hipcc: it made no code"), text.npos) << text;
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(HipccFault, ThatComplainsIsQuotedWithoutTheFolderOfItsFiles) {
  stand_in(
      "for last; do :; done; echo \"$TMPDIR/isomer-hipcc-x: noise\"; echo 'fatal error: planted' >&2; exit "
      "1");
  const std::string text = said();
  EXPECT_NE(text.find(" by hipcc: fatal error: planted"), text.npos) << text;
  EXPECT_EQ(text.find('\n'), text.npos) << text;
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(HipccFault, ThatIsGoneMeanwhile) {
  stand_in("exit 0");
  ASSERT_EQ(Hipcc::get().unavailable(), "");
  fs::remove(Hipcc::get().program());
  EXPECT_EQ(said(), "hip: cannot run '" + Hipcc::get().program() + "': No such file or directory");
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(HipccFault, NoFolderForItsFiles) {
  stand_in("exit 0");
  ::setenv("TMPDIR", "/nowhere", 1);
  const std::string text = said();
  EXPECT_EQ(text.find("hip: no folder for temporary files can be made: "), 0u) << text;
  EXPECT_NE(text.find("; set TMPDIR to a folder that can be written"), text.npos) << text;
}

TEST(TemporaryFolder, StaysWhereAForkedChildEnds) {
  const core::TemporaryFolder folder("test", "fork");
  const pid_t child = ::fork();
  if (child == 0) {
    folder.~TemporaryFolder();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(fs::is_directory(folder.path()));
}

}  // namespace
}  // namespace isomer::gpu::hip
