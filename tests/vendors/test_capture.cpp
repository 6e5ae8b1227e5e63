// While a graph is captured nothing compiles, loads, allocates, frees or waits; and the capture stays whole.
#include "child.hpp"
#include "vendor_calls.hpp"

#include "core/queue_state.hpp"

#include <gtest/gtest.h>

namespace isomer {
namespace {

class Capture : public testing::TestWithParam<StandIn> {
 protected:
  std::string said(const std::function<std::string(SinOnDevice&)>& body) const {
    return in_child({{"ISOMER_STAND_IN_EXECUTE", "0"}, {"ISOMER_CACHE", cache_.path()}}, [&] {
      SinOnDevice call(GetParam());
      return body(call);
    });
  }
  std::string vendor() const { return GetParam().vendor; }
  Folder cache_;
};

INSTANTIATE_TEST_SUITE_P(Of, Capture, testing::ValuesIn(kStandIns),
                         [](const auto& info) { return std::string(info.param.vendor); });

TEST_P(Capture, OfAKernelThatIsNotLoadedIsRefusedAndStaysWhole) {
  EXPECT_EQ(said([](SinOnDevice& call) {
              call.begin_capture();
              const std::string refusal = said_by([&] {
                call.enqueue();
                return "launched";
              });
              const int launches = call.end_capture();
              return refusal + " | " + std::to_string(launches) + " launches | " + call.run();
            }),
            "device: " + vendor() +
                ": isomer_sin element=f32 vector=4 unroll=4 ragged=0 dims=1 index=u32 threads=128 is not "
                "loaded yet, and nothing can be "
                "loaded while a graph is being captured; prepare the call before the capture | 0 launches | "
                "done from compiled");
}

TEST_P(Capture, OfAPreparedCallIsItsLaunch) {
  EXPECT_EQ(said([](SinOnDevice& call) {
              call.prepare();
              call.begin_capture();
              call.enqueue();
              call.enqueue();
              return std::to_string(call.end_capture()) + " launches";
            }),
            "2 launches");
}

TEST_P(Capture, DoesNotLetTheWorkspaceGrow) {
  EXPECT_EQ(said([](SinOnDevice& call) {
              call.queue().lease(8192);
              call.begin_capture();
              std::string all = std::to_string(call.queue().lease(5000).bytes());
              all += " | " + said_by([&] {
                       call.queue().lease(1 << 20);
                       return "leased";
                     });
              return all + " | " + std::to_string(call.end_capture());
            }),
            "8192 | device: " + vendor() +
                ": a workspace of 1048576 bytes cannot be allocated while a graph is being captured; prepare "
                "the call before the capture | 0");
}

TEST_P(Capture, KeepsTheWorkspaceThatItHasSeen) {
  EXPECT_EQ(said([](SinOnDevice& call) {
              const void* seen = nullptr;
              call.queue().lease(8192);
              call.begin_capture();
              seen = call.queue().lease(8192).data();
              call.end_capture();
              // A larger one would take the place of it.
              const void* larger = call.queue().lease(1 << 20).data();
              const void* still = call.queue().lease(8192).data();
              return std::string(seen == still ? "kept" : "gone") + (larger == seen ? ", reused" : "");
            }),
            "kept");
}

TEST_P(Capture, DoesNotReadDeviceDataForValidation) {
  EXPECT_EQ(said([](SinOnDevice& call) {
              call.begin_capture();
              int host = 0;
              const std::string refusal = said_by([&] {
                core::QueueAccess::state(call.queue()).fetch(&host, &host, sizeof host);
                return "fetched";
              });
              return refusal + " | " + std::to_string(call.end_capture());
            }),
            "device: " + vendor() +
                ": device data cannot be read and validated while a graph is being captured; capture from a "
                "queue that is not checked | 0");
}

}  // namespace
}  // namespace isomer
