// The layers of a model call attention with the same shapes and other tensors: planned once, run for each
// layer.
#include <isomer/attention.hpp>

#include <cstdio>
#include <vector>

int main() {
  const std::int64_t layers = 3, keys = 4, heads = 2, dim = 16;
  std::vector<std::vector<float>> k(layers), v(layers);
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    k[layer].assign(keys * heads * dim, 1.0f);
    v[layer].assign(keys * heads * dim, static_cast<float>(layer));
  }
  std::vector<float> q(heads * dim, 1.0f), out(heads * dim);

  using isomer::DType, isomer::Tensor;
  isomer::AttentionArgs args = {.q = Tensor(q.data(), DType::f32, {1, 1, heads, dim}),
                                .k = Tensor(k[0].data(), DType::f32, {1, keys, heads, dim}),
                                .v = Tensor(v[0].data(), DType::f32, {1, keys, heads, dim}),
                                .out = Tensor(out.data(), DType::f32, {1, 1, heads, dim})};
  const isomer::Plan plan = isomer::plan(isomer::Queue::cpu(), args, {.causal = true});
  plan.prepare();  // on a GPU: nothing compiles, loads or allocates from here on, and runs may be captured

  for (std::int64_t layer = 0; layer < layers; ++layer) {
    args.k.data = k[layer].data();
    args.v.data = v[layer].data();
    plan.run(args);
    plan.queue().synchronize();
    std::printf("layer %d: %.3f\n", static_cast<int>(layer), out[0]);
  }
  try {
    plan.run({.q = args.q, .k = args.k, .v = args.v, .out = args.q});
  } catch (const isomer::Error& error) {
    std::printf("%s\n", error.what());
  }
}
