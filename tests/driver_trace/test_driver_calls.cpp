// `isomer trace --driver` of programs that find the driver's calls in each of their ways, with a stand-in
// driver.
#include "lab/capture/read_capture.hpp"
#include "tests/captures/launches.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

namespace isomer::lab {
namespace {

using Triple = std::array<std::uint32_t, 3>;

class DriverCalls : public testing::Test {
 protected:
  int isomer(const std::string& words, const std::string& variables = "") const {
    const std::string command = "cd " + folder.path.string() +
                                " && LD_LIBRARY_PATH=" ISOMER_DRIVER_FOLDER
                                " NO_COLOR=1 ISOMER_TRACE_DRIVER=" ISOMER_TRACE_DRIVER " " +
                                variables + " " ISOMER_CLI " " + words + " >out 2>err </dev/null";
    return WEXITSTATUS(std::system(command.c_str()));
  }
  std::string said() const { return content_of(folder.path / "err"); }
  Capture read(const std::string& name) const {
    return collected([&](const LaunchSink& sink) { return read_capture(folder.path / name, sink); });
  }

  Folder folder;
};

TEST_F(DriverCalls, OfALinkedProgramAreRecorded) {
  ASSERT_EQ(isomer("trace --driver -o a.jsonl -- " ISOMER_LINKED_PROGRAM), 0) << said();
  const Capture capture = read("a.jsonl");
  EXPECT_TRUE(capture.complete) << capture.incomplete;
  EXPECT_EQ(capture.facts.at("driver"), "13.0");
  ASSERT_EQ(capture.launches.size(), 2u);
  const Launch& plain = capture.launches[0];
  EXPECT_EQ(plain.name, "_Z5scalePfif");
  EXPECT_EQ(plain.grid, (Triple{4, 2, 1}));
  EXPECT_EQ(plain.block, (Triple{64, 1, 1}));
  EXPECT_EQ(plain.shared_dynamic, 256u);
  EXPECT_EQ(plain.registers, 24u);
  EXPECT_TRUE(plain.thread && plain.process);
  EXPECT_FALSE(plain.duration_ns);
  ASSERT_EQ(plain.arguments.size(), 3u);
  EXPECT_EQ(plain.arguments[0].pointers.at(0), "0+256");
  EXPECT_EQ(plain.arguments[1].bytes, argument(5).bytes);
  EXPECT_EQ(plain.arguments[2].bytes, argument(0.5f).bytes);
  EXPECT_TRUE(capture.launches[1].cooperative);
  EXPECT_EQ(capture.launches[1].name, "_Z5otherPfif") << "its module was unloaded, and the handle given anew";
  EXPECT_EQ(capture.launches[1].arguments[0].pointers.at(0), "0+256");
  std::string notes;
  for (const auto& [name, value] : capture.facts)
    if (name.starts_with("note")) notes += value + "\n";
  for (const char* part :
       {"times, machine code and kernels inside graphs are not known", "1 launches went into graphs",
        "1 graph launches whose kernels the device did not report"})
    EXPECT_NE(notes.find(part), std::string::npos) << part << " in " << notes;
}

TEST_F(DriverCalls, OfAProgramThatLooksThemUpAreRecordedAndItsOtherLookUpsStay) {
  ASSERT_EQ(isomer("trace --driver -o a.jsonl -- " ISOMER_LOOKING_PROGRAM), 0) << said();
  const Capture capture = read("a.jsonl");
  ASSERT_EQ(capture.launches.size(), 2u);
  EXPECT_EQ(capture.launches[0].block, (Triple{32, 1, 1}));
  EXPECT_EQ(capture.launches[1].grid, (Triple{8, 1, 1}));
  EXPECT_EQ(capture.launches[1].cluster, (Triple{2, 1, 1}));
  EXPECT_EQ(capture.launches[1].arguments.at(1).bytes, argument(7).bytes);
}

TEST_F(DriverCalls, AreNotThereWhereThereIsNoDriver) {
  EXPECT_EQ(isomer("trace --driver -o a.jsonl -- " ISOMER_LOOKING_PROGRAM " no-driver"), 2);
  EXPECT_NE(said().find("no launch was recorded"), std::string::npos) << said();
  EXPECT_EQ(said().find("the program ended with status"), std::string::npos) << said();
}

TEST_F(DriverCalls, KeepWhatElseIsPreloaded) {
  // A sanitizer of this build's own wants no library before it.
  const std::string wrapper = "ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=" ISOMER_DRIVER_FOLDER
                              "/libisomer_stand_in_wrapper.so";
  ASSERT_EQ(isomer("trace --driver -o a.jsonl -- " ISOMER_LOOKING_PROGRAM, wrapper), 0) << said();
  EXPECT_EQ(read("a.jsonl").launches.size(), 2u);
}

TEST_F(DriverCalls, AreRefusedWhereTheirLibraryIsNotBuilt) {
  EXPECT_EQ(isomer("trace --driver -- true", "ISOMER_TRACE_DRIVER=/no/such/library"), 2);
  EXPECT_NE(said().find("trace: --driver: this build has no library"), std::string::npos) << said();
}

}  // namespace
}  // namespace isomer::lab
