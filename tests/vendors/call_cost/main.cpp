// Calls whose plans are kept, over and over, on the stand-in's device, which does nothing: tools/call_cost
// counts the instructions of measured() that are not the driver's.
#include <isomer/isomer.hpp>

#include "gpu/vendors.hpp"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

namespace {

using namespace isomer;

constexpr Device kDevice{DeviceType::cuda, 0};

Tensor tensor(DType type, std::initializer_list<std::int64_t> shape) {
  std::int64_t elements = 1;
  for (const std::int64_t size : shape) elements *= size;
  void* data =
      gpu::find_vendor(DeviceType::cuda)->allocate(0, static_cast<std::size_t>(elements * size_of(type)));
  return Tensor(data, type, shape, kDevice);
}

std::function<void(const Queue&)> call_of(const std::string& name) {
  if (name == "sin")
    return [args = SinArgs{.x = tensor(DType::f32, {1000}), .y = tensor(DType::f32, {1000})}](
               const Queue& queue) { sin(queue, args); };
  if (name == "flash_decode") {
    FlashDecodeArgs args{.q = tensor(DType::bf16, {16, 32, 128}),
                         .k = tensor(DType::bf16, {4096, 8, 128}),
                         .v = tensor(DType::bf16, {4096, 8, 128}),
                         .req_to_tokens = tensor(DType::i32, {16, 4096}),
                         .b_req_idx = tensor(DType::i32, {16}),
                         .b_seqlen = tensor(DType::i32, {16}),
                         .out = tensor(DType::bf16, {16, 32, 128})};
    return [args](const Queue& queue) { flash_decode(queue, args); };
  }
  const std::int64_t queries = name == "attention_split" ? 1 : 512;
  AttentionArgs args{.q = tensor(DType::bf16, {1, queries, 32, 128}),
                     .k = tensor(DType::bf16, {1, 4096, 8, 128}),
                     .v = tensor(DType::bf16, {1, 4096, 8, 128}),
                     .out = tensor(DType::bf16, {1, queries, 32, 128})};
  return [args](const Queue& queue) { attention(queue, args); };
}

}  // namespace

/// What is counted: this function and what it calls.
extern "C" __attribute__((noinline)) void measured(const std::function<void(const isomer::Queue&)>* call,
                                                   const isomer::Queue* queue, int times) {
  for (int i = 0; i < times; ++i) (*call)(*queue);
}

int main(int count, char** words) {
  if (count != 3) return std::fprintf(stderr, "call_cost: a call and how often expected\n"), 2;
  const std::function<void(const isomer::Queue&)> call = call_of(words[1]);
  const isomer::Queue queue = isomer::Queue::on(kDevice);
  for (int i = 0; i < 3; ++i) call(queue);
  measured(&call, &queue, std::atoi(words[2]));
}
