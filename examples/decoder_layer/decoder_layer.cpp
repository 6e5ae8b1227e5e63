// A decoder layer: FP8 weights, a paged FP8 cache, an FP8 MLP; prefill, then one token at a time, beside the
// same layer in double with the weights as weight_dequant gives them back.
#include <isomer/isomer.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

namespace {

using isomer::DType, isomer::Tensor;
using Doubles = std::vector<double>;

constexpr std::int64_t kHidden = 256, kHeads = 8, kHeadsKv = 2, kDim = 64, kMlp = 384, kPage = 8, kPages = 4;
constexpr std::int64_t kPrompt = 21, kTokens = 25, kParts = kHeads + 2 * kHeadsKv, kPairs = kDim / 2;

const isomer::Queue queue = isomer::Queue::cpu();

/// Memory and what it is.
struct Array {
  std::vector<std::byte> bytes;
  Tensor tensor;

  Array(DType type, const std::vector<std::int64_t>& shape) {
    std::int64_t count = isomer::size_of(type);
    for (const std::int64_t size : shape) count *= size;
    bytes.resize(static_cast<std::size_t>(count));
    tensor = Tensor(bytes.data(), type, shape);
  }
  float* f32() { return reinterpret_cast<float*>(bytes.data()); }
  std::int32_t* i32() { return reinterpret_cast<std::int32_t*>(bytes.data()); }
};

/// A matrix [n, k] of random numbers in FP8, a scale for each 128 × 128 block, and what it is in f32.
struct Weight {
  std::int64_t n, k;
  Array values, scales, wide;

  Weight(std::int64_t rows, std::int64_t columns, std::mt19937& random)
      : n(rows),
        k(columns),
        values(DType::e4m3fn, {n, k}),
        scales(DType::f32, {(n + 127) / 128, (k + 127) / 128}),
        wide(DType::f32, {n, k}) {
    std::normal_distribution<float> normal(0.0f, 1.0f / std::sqrt(static_cast<float>(k)));
    std::generate_n(wide.f32(), n * k, [&] { return normal(random); });
    isomer::weight_quant(queue, {.x = wide.tensor, .y = values.tensor, .s = scales.tensor});
    isomer::weight_dequant(queue, {.x = values.tensor, .s = scales.tensor, .y = wide.tensor});
  }

  /// x·wᵀ in double.
  Doubles times(const Doubles& x) {
    const std::int64_t rows = static_cast<std::int64_t>(x.size()) / k;
    Doubles y(static_cast<std::size_t>(rows * n));
    for (std::int64_t i = 0; i < rows * n; ++i)
      for (std::int64_t c = 0; c < k; ++c)
        y[static_cast<std::size_t>(i)] +=
            x[static_cast<std::size_t>(i / n * k + c)] * static_cast<double>(wide.f32()[i % n * k + c]);
    return y;
  }
};

struct Layer {
  std::mt19937 random{7};
  Weight qkv{kParts * kDim, kHidden, random}, o{kHidden, kHeads*kDim, random};
  Weight gate_up{2 * kMlp, kHidden, random}, down{kHidden, kMlp, random};
  Array k{DType::e4m3fn, {kPages, kPage, kHeadsKv, kDim}}, v{DType::e4m3fn, {kPages, kPage, kHeadsKv, kDim}};
  Array cos{DType::f32, {kPages * kPage, kPairs}}, sin{DType::f32, {kPages * kPage, kPairs}};
  Array pages{DType::i32, {1, kPages}}, length{DType::i32, {1}};
  Array k_descale{DType::f32, {1, kHeadsKv}}, v_descale{DType::f32, {1, kHeadsKv}};

  Layer() {
    for (std::int64_t i = 0; i < kPages * kPage * kPairs; ++i) {
      const double frequency = std::pow(10000.0, -static_cast<double>(i % kPairs) / kPairs);
      cos.f32()[i] = static_cast<float>(std::cos(static_cast<double>(i / kPairs) * frequency));
      sin.f32()[i] = static_cast<float>(std::sin(static_cast<double>(i / kPairs) * frequency));
    }
    for (std::int32_t page = 0; page < kPages; ++page) pages.i32()[page] = (3 * page + 1) % kPages;
    std::fill_n(k_descale.f32(), kHeadsKv, 0.02f);
    std::fill_n(v_descale.f32(), kHeadsKv, 0.01f);
  }

  /// c = x·wᵀ, x quantised in blocks of 128, plus `addend`.
  void linear(const Tensor& x, const Weight& w, const Tensor& c, const Tensor& addend = {}) const {
    Array y(DType::e4m3fn, {x.size(0), w.k}), s(DType::f32, {x.size(0), w.k / 128});
    isomer::act_quant(queue, {.x = x, .y = y.tensor, .s = s.tensor});
    isomer::fp8_gemm(queue, {.a = y.tensor,
                             .a_s = s.tensor,
                             .b = w.values.tensor,
                             .b_s = w.scales.tensor,
                             .c = c,
                             .addend = addend});
  }

  /// x [tokens, kHidden] becomes the layer's result for the next tokens, which join the cache.
  void forward(Array& x) {
    const std::int64_t tokens = x.tensor.size(0);
    Array normed(DType::f32, {tokens, kHidden}), parts(DType::f16, {tokens, kParts * kDim});
    Array attended(DType::f16, {tokens, kHeads * kDim});
    norm(x, normed);
    linear(normed.tensor, qkv, parts.tensor);
    const Tensor heads(parts.bytes.data(), DType::f16, {1, tokens, kParts, kDim});
    isomer::attention(queue,
                      {.q = heads.slice(2, 0, kHeads),
                       .k = k.tensor,
                       .v = v.tensor,
                       .out = Tensor(attended.bytes.data(), DType::f16, {1, tokens, kHeads, kDim}),
                       .page_table = pages.tensor,
                       .k_new = heads.slice(2, kHeads, kHeads + kHeadsKv),
                       .v_new = heads.slice(2, kHeads + kHeadsKv, kParts),
                       .cache_seqlens = length.tensor,
                       .rotary_cos = cos.tensor,
                       .rotary_sin = sin.tensor,
                       .k_descale = k_descale.tensor,
                       .v_descale = v_descale.tensor},
                      {.causal = true});
    length.i32()[0] += static_cast<std::int32_t>(tokens);
    linear(attended.tensor, o, x.tensor, x.tensor);

    Array both(DType::f32, {tokens, 2 * kMlp}), y(DType::e4m3fn, {tokens, kMlp});
    Array s(DType::f32, {tokens, kMlp / 128});
    norm(x, normed);
    linear(normed.tensor, gate_up, both.tensor);
    isomer::silu_mul_quant(queue, {.x = both.tensor, .y = y.tensor, .s = s.tensor});
    isomer::fp8_gemm(queue, {.a = y.tensor,
                             .a_s = s.tensor,
                             .b = down.values.tensor,
                             .b_s = down.scales.tensor,
                             .c = x.tensor,
                             .addend = x.tensor});
  }

  static void norm(Array& x, Array& to) {
    const Doubles normed = norm(Doubles(x.f32(), x.f32() + x.tensor.size(0) * kHidden));
    std::transform(normed.begin(), normed.end(), to.f32(), [](double d) { return static_cast<float>(d); });
  }
  static Doubles norm(Doubles x) {
    for (auto row = x.begin(); row != x.end(); row += kHidden) {
      double squares = 0;
      for (std::int64_t c = 0; c < kHidden; ++c) squares += row[c] * row[c];
      for (std::int64_t c = 0; c < kHidden; ++c) row[c] /= std::sqrt(squares / kHidden + 1e-6);
    }
    return x;
  }

  /// All tokens at once in double, nothing rounded.
  Doubles in_double(Doubles x) {
    Doubles parts = qkv.times(norm(x)), attended(static_cast<std::size_t>(kTokens * kHeads * kDim));
    const auto row = [&](std::int64_t token, std::int64_t head) {
      return parts.data() + (token * kParts + head) * kDim;
    };
    for (std::int64_t i = 0; i < kTokens * (kHeads + kHeadsKv); ++i) {
      const std::int64_t token = i / (kHeads + kHeadsKv);
      double* at = row(token, i % (kHeads + kHeadsKv));
      for (std::int64_t pair = 0; pair < kPairs; ++pair) {
        const auto c = static_cast<double>(cos.f32()[token * kPairs + pair]),
                   s = static_cast<double>(sin.f32()[token * kPairs + pair]);
        const double a = at[pair], b = at[pair + kPairs];
        at[pair] = a * c - b * s;
        at[pair + kPairs] = b * c + a * s;
      }
    }
    for (std::int64_t i = 0; i < kTokens * kHeads; ++i) {
      const std::int64_t token = i / kHeads, head = i % kHeads, kv = head / (kHeads / kHeadsKv);
      Doubles weight;
      double sum = 0;
      for (std::int64_t j = 0; j <= token; ++j) {
        double dot = 0;
        for (std::int64_t d = 0; d < kDim; ++d) dot += row(token, head)[d] * row(j, kHeads + kv)[d];
        sum += weight.emplace_back(std::exp(dot / std::sqrt(static_cast<double>(kDim))));
      }
      for (std::int64_t j = 0; j <= token; ++j)
        for (std::int64_t d = 0; d < kDim; ++d)
          attended[static_cast<std::size_t>(i * kDim + d)] +=
              weight[static_cast<std::size_t>(j)] / sum * row(j, kHeads + kHeadsKv + kv)[d];
    }
    add(x, o.times(attended));
    const Doubles both = gate_up.times(norm(x));
    Doubles hidden;
    for (std::int64_t i = 0; i < kTokens * kMlp; ++i) {
      const double gate = both[static_cast<std::size_t>(i / kMlp * 2 * kMlp + i % kMlp)];
      hidden.push_back(gate / (1 + std::exp(-gate)) *
                       both[static_cast<std::size_t>(i / kMlp * 2 * kMlp + kMlp + i % kMlp)]);
    }
    add(x, down.times(hidden));
    return x;
  }

  static void add(Doubles& x, const Doubles& y) {
    std::transform(x.begin(), x.end(), y.begin(), x.begin(), std::plus<>());
  }
};

}  // namespace

int main() {
  Layer layer;
  std::normal_distribution<float> normal;
  std::vector<float> x(static_cast<std::size_t>(kTokens * kHidden));
  std::generate(x.begin(), x.end(), [&] { return normal(layer.random); });
  const Doubles want = layer.in_double(Doubles(x.begin(), x.end()));

  double off = 0, size = 0;
  for (std::int64_t first = 0; first < kTokens;) {
    const std::int64_t tokens = first == 0 ? kPrompt : 1;  // prefill, then decode
    Array next(DType::f32, {tokens, kHidden});
    std::copy_n(x.begin() + first * kHidden, tokens * kHidden, next.f32());
    layer.forward(next);
    for (std::int64_t i = 0; i < tokens * kHidden; ++i) {
      const double expected = want[static_cast<std::size_t>(first * kHidden + i)];
      off += std::pow(static_cast<double>(next.f32()[i]) - expected, 2);
      size += expected * expected;
    }
    first += tokens;
  }
  const double error = std::sqrt(off / size);
  std::printf("%.2f %% off the layer in double\n", 100 * error);
  return error < 0.05 ? 0 : 1;  // e4m3 rounds by up to 6 %
}
