// What is no op: views, executors, queues. Each refusal is one exact sentence.
#include <isomer/isomer.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace isomer {
namespace {

std::string refusal(const std::function<void()>& call, ErrorCode code = ErrorCode::bad_argument) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "accepted";
}

TEST(Views, RefuseArgumentsOutOfRange) {
  float memory[24] = {};
  const Tensor x(memory, DType::f32, {2, 3, 4});
  const Tensor eight(memory, DType::f32, {1, 1, 1, 1, 1, 1, 1, 1});
  const std::vector<std::int64_t> nine(9, 1), two(2, 1);
  const struct {
    std::function<void()> call;
    const char* sentence;
  } table[] = {
      {[&] { Tensor(memory, DType::f32, nine); }, "tensor: at most 8 dimensions expected, got 9"},
      {[&] { Tensor::strided(memory, DType::f32, nine, nine); },
       "tensor: at most 8 dimensions expected, got 9"},
      {[&] {
         Tensor::strided(memory, DType::f32, {2, 3}, {1});
       },
       "tensor: as many strides as dimensions expected, got 1 strides for 2 dimensions"},
      {[&] { x.slice(3, 0, 1); }, "tensor: slice expects a dimension in [0, 3), got 3 for f32[2, 3, 4]"},
      {[&] { x.slice(-1, 0, 1); }, "tensor: slice expects a dimension in [0, 3), got -1 for f32[2, 3, 4]"},
      {[&] { x.slice(1, -1, 2); },
       "tensor: slice expects 0 <= begin <= end <= 3, got [-1, 2) of f32[2, 3, 4]"},
      {[&] { x.slice(1, 2, 1); }, "tensor: slice expects 0 <= begin <= end <= 3, got [2, 1) of f32[2, 3, 4]"},
      {[&] { x.slice(1, 0, 4); }, "tensor: slice expects 0 <= begin <= end <= 3, got [0, 4) of f32[2, 3, 4]"},
      {[&] { x.select(0, 2); }, "tensor: select expects an index in [0, 2), got 2 for f32[2, 3, 4]"},
      {[&] { x.select(0, INT64_MAX); },
       "tensor: select expects an index in [0, 2), got 9223372036854775807 for f32[2, 3, 4]"},
      {[&] { x.select(5, 0); }, "tensor: select expects a dimension in [0, 3), got 5 for f32[2, 3, 4]"},
      {[&] { x.transpose(0, 3); }, "tensor: transpose expects a dimension in [0, 3), got 3 for f32[2, 3, 4]"},
      {[&] { x.transpose(-1, 0); },
       "tensor: transpose expects a dimension in [0, 3), got -1 for f32[2, 3, 4]"},
      {[&] { x.unsqueeze(4); }, "tensor: unsqueeze expects a dimension in [0, 4), got 4 for f32[2, 3, 4]"},
      {[&] { eight.unsqueeze(0); }, "tensor: at most 8 dimensions expected, got 9"},
      {[&] {
         x.expand({2, 3});
       },
       "tensor: expand expects 3 sizes, got 2"},
      {[&] {
         x.expand({2, 3, 5});
       },
       "tensor: expand expects size 4 in dimension 2, got 5"},
      {[&] {
         eight.expand({1, 1, 1, 1, 1, 1, 1, -1});
       },
       "tensor: expand expects size 1 in dimension 7, got -1"},
  };
  for (const auto& row : table) EXPECT_EQ(refusal(row.call), row.sentence);
}

TEST(Executors, RefuseMoreThreadsThanASystemHas) {
  EXPECT_EQ(refusal([] { Executor::with_threads(4097); }),
            "executor: at most 4096 threads expected, got 4097");
  EXPECT_EQ(refusal([] { Executor::with_threads(INT32_MAX); }),
            "executor: at most 4096 threads expected, got 2147483647");
}

TEST(Queues, RefuseExecutorsThatHaveNoThreadsOrTooMany) {
  class Odd : public Executor {
   public:
    explicit Odd(int threads) : threads_(threads) {}
    int concurrency() const override { return threads_; }
    void parallel_for(std::int64_t, Task, void*) override {}

   private:
    int threads_;
  };
  for (const int threads : {0, -1, INT32_MIN, 4097, INT32_MAX}) {
    const QueueOptions options{
        .checked = false, .implementation = "", .executor = std::make_shared<Odd>(threads)};
    const std::string sentence =
        "queue: executor has a concurrency of " + std::to_string(threads) + ", expected 1 to 4096";
    EXPECT_EQ(refusal([&] { Queue::cpu(options); }), sentence);
    EXPECT_EQ(refusal([&] { Queue::best(options); }), sentence);
  }
}

TEST(Queues, RefuseImplementationsThatDoNotExist) {
  const std::string said =
      refusal([&] { Queue::cpu({.checked = false, .implementation = "cpu/abacus", .executor = nullptr}); });
  EXPECT_TRUE(said.starts_with("queue: an implementation expected (")) << said;
  EXPECT_TRUE(said.ends_with("), got 'cpu/abacus'")) << said;
}

}  // namespace
}  // namespace isomer
