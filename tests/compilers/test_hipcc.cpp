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
#include <optional>
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

/// A variable of the environment, as it was again at the end.
class Variable {
 public:
  explicit Variable(const char* name) : name_(name) {
    if (const char* before = ::getenv(name)) before_ = before;
  }
  ~Variable() {
    if (before_)
      ::setenv(name_, before_->c_str(), 1);
    else
      ::unsetenv(name_);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  void set(const std::string& value) const { ::setenv(name_, value.c_str(), 1); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

/// A program in the place of hipcc, and a folder of its own for its files.
class HipccFault : public testing::Test {
 protected:
  HipccFault() : folder_("test", "hipcc"), program_(folder_.path().string() + ".program") {
    temporary_.set(folder_.path());
  }
  ~HipccFault() override { fs::remove(program_); }
  void stand_in(const std::string& lines) const {
    std::ofstream(program_) << "#!/bin/sh\n" << lines << "\n";
    fs::permissions(program_, fs::perms::owner_all);
  }
  std::string said() const {
    try {
      hipcc().compile(kSin);
      return "compiled";
    } catch (const Error& error) {
      return error.what();
    }
  }
  Hipcc hipcc() const { return Hipcc(program_.string()); }
  core::TemporaryFolder folder_;
  fs::path program_;
  Variable temporary_{"TMPDIR"};
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
  ASSERT_EQ(hipcc().unavailable(), "");
  fs::remove(program_);
  EXPECT_EQ(said(), "hip: cannot run '" + program_.string() + "': No such file or directory");
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(HipccFault, NoFolderForItsFiles) {
  stand_in("exit 0");
  temporary_.set("/nowhere");
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
