#include "calls.hpp"

#include "gpu/vendors.hpp"
#include "ops/attention/kernels/attention.h"
#include "ops/attention/kernels/attention_sm90.h"
#include "ops/flash_decode/kernels/stage1.h"
#include "ops/sin/kernels/sin.h"

namespace isomer::call_cost {
namespace {

constexpr Device kDevice{DeviceType::cuda, 0};

/// Of zeros: lengths and page numbers are read.
Tensor tensor(DType type, std::initializer_list<std::int64_t> shape) {
  std::int64_t elements = 1;
  for (const std::int64_t size : shape) elements *= size;
  const auto bytes = static_cast<std::size_t>(elements * size_of(type));
  gpu::Vendor* vendor = gpu::find_vendor(DeviceType::cuda);
  void* data = vendor->allocate(0, bytes);
  vendor->fill(0, nullptr, data, 0, bytes);
  return Tensor(data, type, shape, kDevice);
}

template <class Args>
Call call_of(Args args, int launches, std::size_t bytes, void (*run)(const Queue&, const Args&)) {
  return {[=](const Queue& queue) { run(queue, args); },
          [=](const Queue& queue) -> std::function<void()> {
            const Plan<Args> made = plan(queue, args, {});
            made.prepare();
            return [made, args] { made.run(args); };
          },
          launches, bytes};
}

}  // namespace

Call call_named(const std::string& name) {
  if (name == "sin") {
    const SinArgs args{.x = tensor(DType::f32, {1000}), .y = tensor(DType::f32, {1000})};
    return {[=](const Queue& queue) { sin(queue, args); },
            [=](const Queue& queue) -> std::function<void()> {
              const Plan<SinArgs> made = plan(queue, args);
              made.prepare();
              return [made, args] { made.run(args); };
            },
            1, sizeof(device::SinParameters)};
  }
  if (name == "flash_decode") {
    const FlashDecodeArgs args{.q = tensor(DType::bf16, {16, 32, 128}),
                               .k = tensor(DType::bf16, {4096, 8, 128}),
                               .v = tensor(DType::bf16, {4096, 8, 128}),
                               .req_to_tokens = tensor(DType::i32, {16, 4096}),
                               .b_req_idx = tensor(DType::i32, {16}),
                               .b_seqlen = tensor(DType::i32, {16}),
                               .out = tensor(DType::bf16, {16, 32, 128})};
    return call_of<FlashDecodeArgs>(
        args, 2, sizeof(device::FlashDecodeStage1Parameters),
        [](const Queue& queue, const FlashDecodeArgs& of) { flash_decode(queue, of); });
  }
  const std::int64_t queries = name == "attention_split" ? 1 : 512;
  const AttentionArgs args{.q = tensor(DType::bf16, {1, queries, 32, 128}),
                           .k = tensor(DType::bf16, {1, 4096, 8, 128}),
                           .v = tensor(DType::bf16, {1, 4096, 8, 128}),
                           .out = tensor(DType::bf16, {1, queries, 32, 128})};
  return call_of<AttentionArgs>(
      args, queries == 1 ? 2 : 1,
      queries == 1 ? sizeof(device::AttentionParameters) : sizeof(device::AttentionSm90Parameters),
      [](const Queue& queue, const AttentionArgs& of) { attention(queue, of); });
}

}  // namespace isomer::call_cost
