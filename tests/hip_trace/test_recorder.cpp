// The profiler's records, as plain structs, become the lines of a capture.
#include "lab/capture/read_capture.hpp"
#include "lab/launches/inject/allocations.hpp"
#include "lab/launches/inject/hip/image.hpp"
#include "lab/launches/inject/hip/recorder.hpp"
#include "lab/launches/inject/output.hpp"
#include "lab/launches/inject/recording.hpp"
#include "tests/captures/launches.hpp"
#include "tests/hip_trace/code_object.hpp"

#include <gtest/gtest.h>

namespace isomer::inject {
namespace {

using lab::Capture;
using lab::Launch;
using Triple = std::array<std::uint32_t, 3>;

constexpr std::uint64_t kShift = 41, kOther = 42;

class Recorder : public testing::Test {
 protected:
  Recorder() : name(lab::shift_kernel().name) {
    EXPECT_TRUE(output().open(folder.path / "hip.jsonl"));
    write_header("a test", {});
    recorder.loaded(5, lab::shift_code_object());
    recorder.registered({kShift, 5, name + ".kd", 128, 0, 8, 4, 16});
    recorder.registered({kOther, 6, "other.kd", 0, 32, 8, 4, 16});
  }

  static HipDispatch dispatch(std::uint64_t id, std::uint64_t kernel = kShift) {
    HipDispatch made;
    made.id = id;
    made.kernel = kernel;
    made.group_bytes = 128;
    made.block[0] = 128;
    made.work_items[0] = 384;
    return made;
  }

  HipCall call(int n) {
    value = n;
    HipCall made;
    made.grid[0] = 3;
    made.block[0] = 128;
    made.stream = 0x7000;
    made.parameters = parameters;
    return made;
  }

  /// A launch as HIP makes it, with its times.
  void launch(const HipCall& by, const HipDispatch& of) {
    recorder.entered(by);
    recorder.enqueued(of, 77);
    recorder.left();
    recorder.completed(of, 1000, 1500);
  }

  std::vector<Launch> launches() {
    write_end({recorder.recorded(), 0, recorder.hashed_bytes()});
    Capture capture = lab::collected(
        [&](const lab::LaunchSink& sink) { return lab::read_capture(folder.path / "hip.jsonl", sink); });
    EXPECT_TRUE(capture.complete) << capture.incomplete;
    EXPECT_EQ(capture.dropped, 0u);
    return std::move(capture.launches);
  }

  lab::Folder folder;
  HipRecorder recorder;
  std::string name;
  std::uint64_t address = 0x7e0000001040;
  int value = 0;
  char flag = 3;
  void* parameters[3]{&address, &value, &flag};
};

TEST_F(Recorder, TellsALaunchWithItsCodeAndArguments) {
  allocations().add(0x7e0000001000, 4096);
  HipDispatch of = dispatch(1);
  of.group_bytes = 128 + 640;
  of.private_bytes = 24;
  of.device = 1;
  launch(call(12), of);
  const std::vector<Launch> all = launches();
  allocations().remove(0x7e0000001000);
  ASSERT_EQ(all.size(), 1u);
  const Launch& made = all[0];
  const lab::BinaryKernel binary = lab::shift_kernel();
  EXPECT_EQ(made.name, binary.name);
  EXPECT_EQ(made.code_hash, binary.code_hash) << "of the same code as isomer kernels tells";
  EXPECT_EQ(made.registers, binary.registers);
  EXPECT_GT(made.scalar_registers, 0u);
  EXPECT_EQ(made.grid, (Triple{3, 1, 1})) << "in blocks";
  EXPECT_EQ(made.block, (Triple{128, 1, 1}));
  EXPECT_EQ(made.shared_static, 128u);
  EXPECT_EQ(made.shared_dynamic, 640u);
  EXPECT_EQ(made.local_bytes, 24u);
  EXPECT_EQ(made.device, 1u);
  EXPECT_EQ(made.thread, 77u);
  EXPECT_EQ(made.stream, 1u);
  EXPECT_EQ(made.start_ns, 1000.0);
  EXPECT_EQ(made.duration_ns, 500.0);
  EXPECT_FALSE(made.graph_node);
  ASSERT_TRUE(made.arguments_known);
  ASSERT_EQ(made.arguments.size(), 3u);
  EXPECT_EQ(made.arguments[0].bytes, lab::argument(address).bytes);
  EXPECT_EQ(made.arguments[0].pointers.at(0).substr(made.arguments[0].pointers.at(0).find('+')), "+64");
  EXPECT_EQ(made.arguments[1].bytes, lab::argument(12).bytes);
  EXPECT_EQ(made.arguments[1].offset, 8u);
  EXPECT_EQ(made.arguments[2].bytes, (std::vector<std::uint8_t>{3}));
}

TEST_F(Recorder, CountsABlockInPartAsOne) {
  HipDispatch of = dispatch(1);
  of.work_items[0] = 300;
  of.block[1] = 2;
  of.work_items[1] = 2;
  HipCall by = call(1);
  by.grid_in_work_items = true;
  by.grid[0] = 300;
  by.grid[1] = by.block[1] = 2;
  launch(by, of);
  const std::vector<Launch> all = launches();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].grid, (Triple{3, 1, 1}));
  EXPECT_TRUE(all[0].arguments_known);
}

TEST_F(Recorder, ReadsNoArgumentsOfAnotherKernelThanTheCalls) {
  const HipDispatch fill = dispatch(1, kOther), own = dispatch(2), again = dispatch(3);
  recorder.registered({kOther, 6, "__amd_rocclr_fillBufferAligned.kd", 0, 0, 8, 4, 16});
  recorder.entered(call(1));
  recorder.enqueued(fill, 77);
  recorder.enqueued(own, 77);
  // A call launches one kernel.
  recorder.enqueued(again, 77);
  recorder.left();
  // And outside of any call there is none to read.
  recorder.enqueued(dispatch(4), 77);
  // Of other geometry than the call's it is not the call's.
  recorder.entered(call(2));
  HipDispatch other = dispatch(5);
  other.work_items[0] = 256;
  recorder.enqueued(other, 77);
  recorder.left();
  // Nor where the call names another function.
  recorder.named(this, "other.kd");
  HipCall by_name = call(3);
  by_name.function = this;
  recorder.entered(by_name);
  recorder.enqueued(dispatch(6), 77);
  recorder.left();
  const std::vector<Launch> all = launches();
  ASSERT_EQ(all.size(), 6u);
  std::string known;
  for (const Launch& each : all) known += each.arguments_known ? 'y' : 'n';
  EXPECT_EQ(known, "nynnnn");
  EXPECT_EQ(all[0].name, "__amd_rocclr_fillBufferAligned");
  EXPECT_EQ(all[3].name, name);
  EXPECT_FALSE(all[3].stream);
}

TEST_F(Recorder, TellsAGraphsKernelsApart) {
  HipCall by = call(1);
  by.graph = true;
  recorder.entered(by);
  recorder.enqueued(dispatch(1), 77);
  recorder.enqueued(dispatch(2, kOther), 77);
  recorder.left();
  recorder.completed(dispatch(2, kOther), 2000, 2100);
  recorder.completed(dispatch(1), 1000, 1100);
  const std::vector<Launch> all = launches();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].graph_node, 1u);
  EXPECT_EQ(all[1].graph_node, 2u);
  EXPECT_EQ(all[0].start_ns, 1000.0);
  EXPECT_EQ(all[1].start_ns, 2000.0);
  EXPECT_FALSE(all[0].arguments_known);
}

TEST_F(Recorder, NumbersStreamsByTheirFirstLaunch) {
  for (const std::uint64_t stream : {0x9000, 0x8000, 0x9000, 0}) {
    HipCall by = call(1);
    by.stream = stream;
    launch(by, dispatch(stream + 1));
  }
  const std::vector<Launch> all = launches();
  ASSERT_EQ(all.size(), 4u);
  std::string streams;
  for (const Launch& each : all) streams += std::to_string(each.stream.value());
  EXPECT_EQ(streams, "1210");
}

TEST_F(Recorder, GoesOnWithoutWhatACodeObjectDoesNotTell) {
  const std::vector<std::uint8_t> whole = lab::shift_code_object();
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{63}, whole.size() / 2, whole.size() - 1})
    recorder.loaded(bytes + 100, std::span(whole).first(bytes));
  recorder.registered({43, 100, name, 128, 0, 8, 4, 16});
  launch(call(1), dispatch(1, 43));
  // A kernel that nobody registered.
  launch(call(1), dispatch(2, 999));
  const std::vector<Launch> all = launches();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, name);
  EXPECT_EQ(all[0].registers, 12u) << "the descriptor's, with those of accumulation";
  EXPECT_EQ(all[0].scalar_registers, 16u);
  EXPECT_EQ(all[0].code_hash, "");
  EXPECT_FALSE(all[0].arguments_known);
  EXPECT_EQ(all[1].name, "");
  EXPECT_EQ(all[1].grid, (Triple{3, 1, 1}));
}

TEST(CodeObjectFile, IsReadByItsAddress) {
  const lab::Folder folder;
  const std::string path = folder.file("an object", "0123456789");
  const std::string address = "file://" + (folder.path / "an%20object").string();
  const auto text = [](const std::vector<std::uint8_t>& bytes) {
    return std::string(bytes.begin(), bytes.end());
  };
  EXPECT_EQ(text(image_at(address)), "0123456789");
  EXPECT_EQ(text(image_at(address + "#offset=2&size=3")), "234");
  EXPECT_EQ(text(image_at(address + "?offset=0x8&size=2")), "89");
  EXPECT_EQ(text(image_at(address + "#offset=7")), "789");
  EXPECT_EQ(text(image_at(address + "#offset=7&size=4")), "");
  EXPECT_EQ(text(image_at(address + "#offset=11")), "");
  EXPECT_EQ(text(image_at("memory://77#offset=0x7000&size=5")), "");
  EXPECT_EQ(text(image_at(address + "s")), "");
}

}  // namespace
}  // namespace isomer::inject
