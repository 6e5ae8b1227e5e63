// On which stream the work of a session's call is, and which of it nothing orders with the caller's.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "isomer/emulator/session.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

constexpr const char* kSource = R"(#include <hip/hip_runtime.h>
__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
void on_the_callers(const float* x, float* y, int n, hipStream_t stream) { twice<<<1, 64, 0, stream>>>(x, y, n); }
void on_the_default(const float* x, float* y, int n, hipStream_t stream) { twice<<<1, 64>>>(x, y, n); }
void on_the_default_alone(const float* x, float* y, int n) { twice<<<1, 64>>>(x, y, n); }
void set_on_the_default(const float* x, float* y, int n, hipStream_t stream) {
  hipMemset(y, 0, n * sizeof(float));
  twice<<<1, 64, 0, stream>>>(x, y, n);
}
void set_and_waited_for(const float* x, float* y, int n, hipStream_t stream) {
  hipStreamSynchronize(stream);
  hipMemset(y, 0, n * sizeof(float));
  hipDeviceSynchronize();
  twice<<<1, 64, 0, stream>>>(x, y, n);
}
void in_one_of_two(const float* x, float* y, int n, hipStream_t stream) {
  hipStream_t first, second;
  hipStreamCreateWithFlags(&first, hipStreamNonBlocking);
  hipStreamCreateWithFlags(&second, hipStreamNonBlocking);
  hipStreamSynchronize(stream);
  twice<<<1, 32, 0, first>>>(x, y, n);
  twice<<<1, 32, 0, second>>>(x, y, n);
  hipDeviceSynchronize();
}
void by_two_of_a_kind(const float* x, float* y, int n, hipStream_t stream) {
  hipStream_t first;
  hipStreamCreate(&first);  // waits for the default one, and the default one for it
  hipStreamSynchronize(stream);
  twice<<<1, 32, 0, first>>>(x, y, n);
  hipMemsetAsync(y, 0, n * sizeof(float), nullptr);
  twice<<<1, 32, 0, first>>>(x, y, n);
  hipStreamSynchronize(first);
}
)";

class Streams : public testing::Test {
 protected:
  static CallResult call(const std::string& name) {
    static const WrittenSource source(kSource, "streams.hip.cpp");
    static const Module module = Module::build({.sources = {source.path()}, .watch = true, .entries = true});
    static Session session(module);
    std::size_t entry = 0;
    while (session.entries().at(entry).name != name) ++entry;
    SessionValue x, y, n;
    n.kind = ValueKind::integer;
    n.integer = 32;
    for (SessionValue* tensor : {&x, &y}) {
      tensor->kind = ValueKind::tensor;
      tensor->name = tensor == &x ? "x" : "y";
      tensor->element = 2;
      tensor->shape = {32};
      tensor->strides = {1};
      tensor->storage_bytes = 32 * sizeof(float);
      tensor->storage = std::shared_ptr<void>(std::calloc(32, sizeof(float)), &std::free);
    }
    return session.call(entry, {x, y, n});
  }
  static std::vector<std::uint32_t> streams(const CallResult& result) {
    std::vector<std::uint32_t> list;
    for (const LaunchRecord& launch : result.launches) list.push_back(launch.stream);
    return list;
  }
  using Numbers = std::vector<std::uint32_t>;
};

TEST_F(Streams, TheCallersIsNotTheDefaultOneAndEachLaunchSaysItsOwn) {
  const CallResult callers = call("on_the_callers"), by_default = call("on_the_default");
  EXPECT_EQ(callers.end, CallResult::End::returned) << callers.message;
  EXPECT_EQ(streams(callers), Numbers{1});
  EXPECT_TRUE(callers.reports.empty());
  EXPECT_EQ(streams(by_default), Numbers{0});
  ASSERT_EQ(by_default.reports.size(), 1u);
  EXPECT_EQ(by_default.reports[0].kind, Kind::wrong_stream);
  EXPECT_EQ(by_default.reports[0].kernel, "twice");
  EXPECT_EQ(by_default.reports[0].place.line, 7u);
}

TEST_F(Streams, WhoIsGivenNoneMayUseTheDefaultOne) {
  EXPECT_TRUE(call("on_the_default_alone").reports.empty());
}

TEST_F(Streams, ACopyOrMemsetHasItsLineAndIsInOrderAfterSynchronisation) {
  const CallResult set = call("set_on_the_default");
  ASSERT_EQ(set.reports.size(), 1u);
  EXPECT_EQ(set.reports[0].kind, Kind::wrong_stream);
  EXPECT_EQ(set.reports[0].buffer, "y");
  EXPECT_EQ(set.reports[0].place.line, 10u) << set.reports[0].text;
  EXPECT_TRUE(call("set_and_waited_for").reports.empty());
}

TEST_F(Streams, TwoOfTheCallsOwnThatWriteOneBufferAreNotInOrder) {
  const CallResult two = call("in_one_of_two");
  EXPECT_EQ(streams(two), (Numbers{2, 3}));
  ASSERT_EQ(two.reports.size(), 1u);
  EXPECT_EQ(two.reports[0].place.line, 25u) << two.reports[0].text;
  // The default stream orders those that were made to wait for it.
  const CallResult ordered = call("by_two_of_a_kind");
  EXPECT_TRUE(ordered.reports.empty()) << ordered.reports[0].text;
}

}  // namespace
}  // namespace isomer::emulator::tests
