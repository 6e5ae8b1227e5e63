#include "oracle/values.hpp"

#include "core/codec.hpp"
#include "core/sentence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace isomer::oracle {

Random::Random(std::uint64_t seed, std::string_view stream) : state_(seed) {
  for (const char c : stream) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
}

std::uint64_t Random::bits() {
  std::uint64_t z = state_ += 0x9E3779B97F4A7C15ull;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return z ^ z >> 31;
}

void Random::skip(std::uint64_t count) { state_ += count * 0x9E3779B97F4A7C15ull; }

double Random::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(6.283185307179586 * uniform());
}

std::int64_t Random::below(std::int64_t count) {
  return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(std::max<std::int64_t>(count, 1)));
}

std::vector<std::int64_t> Random::permutation(std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::size_t>(below(static_cast<std::int64_t>(i)))]);
  return order;
}

const std::vector<std::string>& regime_names() {
  static const std::vector<std::string> names = {"normal",  "ties", "tiny", "subnormal", "huge", "zero_rows",
                                                 "outlier", "inf",  "nan",  "zero",      "mixed"};
  return names;
}

const std::vector<std::string>& all_regime_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = regime_names();
    all.insert(all.end(), {"ends", "level"});
    return all;
  }();
  return names;
}

Regime regime_of(std::string_view name) {
  const auto& names = all_regime_names();
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end())
    core::fail(ErrorCode::bad_argument, "regime expects ", core::either(names), ", got '", name, "'");
  return static_cast<Regime>(at - names.begin());
}

namespace {

double smallest_subnormal(DType type) {
  switch (type) {
    case DType::f64:
      return std::numeric_limits<double>::denorm_min();
    case DType::f32:
      return 0x1p-149;
    case DType::f16:
      return 0x1p-24;
    case DType::bf16:
      return 0x1p-133;
    case DType::e4m3fn:
      return 0x1p-9;
    case DType::e4m3fnuz:
      return 0x1p-10;
    case DType::e5m2:
      return 0x1p-16;
    case DType::e5m2fnuz:
      return 0x1p-17;
    default:
      return 1;
  }
}

double draw(Regime regime, DType type, std::int64_t row, std::int64_t column, std::int64_t length,
            Random& random) {
  // Who asks for no normal value draws its two numbers all the same: what comes behind them does not move.
  const bool normally = regime != Regime::ties && regime != Regime::subnormal && regime != Regime::huge &&
                        regime != Regime::zero && regime != Regime::mixed;
  if (!normally) random.skip(2);
  const double normal = normally ? random.normal() : 0;
  const std::uint64_t dice = random.bits();
  switch (regime) {
    case Regime::ties:
      return static_cast<double>(static_cast<std::int64_t>(dice % 511) - 255) * 0.5;
    case Regime::tiny:
      return normal * (is_fp8(type) ? 4 * smallest_subnormal(type) : 0x1p-16);
    case Regime::subnormal:
      return static_cast<double>(static_cast<std::int64_t>(dice % 31) - 15) * smallest_subnormal(type);
    case Regime::huge:
      return core::max_finite(type) * (dice & 1 ? 1.0 : -1.0) * (0.25 + 0.75 * random.uniform());
    case Regime::zero_rows:
      return row % 3 == 1 ? 0.0 : normal;
    case Regime::outlier:
      return column == (row * 7 + 3) % length ? normal * 1000.0 : normal;
    case Regime::inf:
      if (dice % 37 != 0) return normal;
      return is_fp8(type) && type != DType::e5m2
                 ? core::max_finite(type)
                 : (dice & 64 ? 1.0 : -1.0) * std::numeric_limits<double>::infinity();
    case Regime::nan:
      return dice % 37 == 0 ? std::numeric_limits<double>::quiet_NaN() : normal;
    case Regime::zero:
      return dice & 1 ? 0.0 : -0.0;
    case Regime::mixed: {
      constexpr Regime kinds[] = {Regime::normal, Regime::ties,      Regime::tiny,
                                  Regime::huge,   Regime::zero_rows, Regime::outlier};
      return draw(kinds[row % 6], type, row, column, length, random);
    }
    case Regime::ends: {
      constexpr std::int64_t kRun = 128, kPlaces[] = {127, 0, 63, 64, 31, 96};
      const bool large = column % kRun == std::min(kPlaces[(row * 2 + column / kRun) % 6], length - 1);
      return large ? (dice & 1 ? 1.0 : -1.0) * (500.0 + 500.0 * random.uniform()) : normal;
    }
    case Regime::level:
      return 1.0 + normal / 64.0;
    default:
      return normal;
  }
}

}  // namespace

void fill(const Tensor& tensor, Regime regime, Random& random, double scale) {
  const std::int64_t count = tensor.numel();
  const std::int64_t length = tensor.rank > 0 ? std::max<std::int64_t>(tensor.size(-1), 1) : 1;
  const std::int64_t step = tensor.rank > 0 ? tensor.stride(-1) : 0;
  for (std::int64_t row = 0; row * length < count; ++row) {
    std::int64_t offset = 0, index = row;
    for (int d = tensor.rank - 2; d >= 0; --d) {
      offset += index % tensor.size(d) * tensor.stride(d);
      index /= tensor.size(d);
    }
    for (std::int64_t column = 0; column < length; ++column, offset += step) {
      const double value = draw(regime, tensor.dtype, row, column, length, random) * scale;
      const core::Overflow overflow = std::isinf(value) ? core::Overflow::ieee : core::Overflow::saturate;
      core::encode(tensor.dtype, value, static_cast<std::byte*>(tensor.data) + offset * size_of(tensor.dtype),
                   overflow);
    }
  }
}

void fill_decades(const Tensor& rows, double lowest, double highest, Random& random) {
  const std::int64_t count = rows.size(0), length = rows.size(1);
  for (std::int64_t row = 0; row < count; ++row) {
    // Not half-way: no row's largest is a power of ten itself, where a guard may be meant either way.
    const double step = (static_cast<double>(row) + 0.37) / static_cast<double>(count);
    const double most = std::pow(10.0, lowest + (highest - lowest) * step);
    const std::int64_t largest = random.below(std::max<std::int64_t>(length, 1));
    for (std::int64_t i = 0; i < length; ++i) {
      const double value =
          i == largest ? (random.bits() & 1 ? most : -most) : most * 0.95 * (2 * random.uniform() - 1);
      core::encode(rows.dtype, value,
                   static_cast<std::byte*>(rows.data) + (row * length + i) * size_of(rows.dtype));
    }
  }
}

}  // namespace isomer::oracle
