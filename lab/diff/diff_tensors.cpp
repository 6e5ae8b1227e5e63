#include "lab/diff/diff_tensors.hpp"

#include "core/codec.hpp"
#include "core/sentence.hpp"
#include "core/tensor_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace isomer::lab {
namespace {

double usual_tolerance(DType type) {
  if (is_fp8(type) || type == DType::bf16) return 1e-2;
  switch (type) {
    case DType::f16:
      return 1e-3;
    case DType::f32:
      return 1e-5;
    case DType::f64:
      return 1e-12;
    default:
      return 0;
  }
}

/// Floats in order as integers: neighbours are one apart. Sign and magnitude in all types.
std::int64_t ordered(DType type, const std::byte* element) {
  const int bytes = size_of(type);
  std::uint64_t bits = 0;
  std::memcpy(&bits, element, static_cast<std::size_t>(bytes));
  const std::uint64_t sign = std::uint64_t{1} << (bytes * 8 - 1);
  const auto magnitude = static_cast<std::int64_t>(bits & (sign - 1));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

using TensorIndex = std::array<std::int64_t, Tensor::kMaxRank>;

std::string index_text(const Tensor& tensor, const TensorIndex& index) {
  std::string text = "[";
  for (int d = 0; d < tensor.rank; ++d)
    text += core::say(d > 0 ? ", " : "", index[static_cast<std::size_t>(d)]);
  return text + "]";
}

const std::byte* element(const Tensor& tensor, const TensorIndex& index) {
  std::int64_t offset = 0;
  for (int d = 0; d < tensor.rank; ++d) offset += index[static_cast<std::size_t>(d)] * tensor.stride(d);
  return static_cast<const std::byte*>(tensor.data) + offset * size_of(tensor.dtype);
}

bool same_shape(const Tensor& a, const Tensor& b) {
  if (a.rank != b.rank) return false;
  for (int d = 0; d < a.rank; ++d)
    if (a.size(d) != b.size(d)) return false;
  return true;
}

class TensorComparison {
 public:
  TensorComparison(const Tensor& a, const Tensor& b, TensorDifference& result)
      : a_(a), b_(b), result_(result) {}

  void run() {
    if (a_.empty()) return;
    TensorIndex index{};
    for (;;) {
      compare(index);
      int d = a_.rank - 1;
      while (d >= 0 && ++index[static_cast<std::size_t>(d)] == a_.size(d))
        index[static_cast<std::size_t>(d--)] = 0;
      if (d < 0) return;
    }
  }

 private:
  void compare(const TensorIndex& index) {
    ++result_.elements;
    const std::byte* left = element(a_, index);
    const std::byte* right = element(b_, index);
    const double a = core::decode(a_.dtype, left), b = core::decode(b_.dtype, right);
    if (a == b || (std::isnan(a) && std::isnan(b))) return;
    ++result_.unequal;
    const double apart = std::abs(a - b), larger = std::max(std::abs(a), std::abs(b));
    const bool finite = std::isfinite(apart);
    const bool beyond = !finite || apart > result_.tolerance * std::max(1.0, larger);
    if (finite) {
      result_.max_rel = std::max(result_.max_rel, apart / larger);
      if (is_float(a_.dtype) && a_.dtype == b_.dtype) {
        const std::int64_t x = ordered(a_.dtype, left), y = ordered(b_.dtype, right);
        result_.max_ulp = std::max(result_.max_ulp, static_cast<std::uint64_t>(x > y ? x - y : y - x));
      }
    }
    const double distance = finite ? apart : HUGE_VAL;
    const bool first_beyond = beyond && result_.beyond == 0;
    if (beyond) ++result_.beyond;
    if (first_beyond || (result_.beyond == 0 && distance > result_.max_abs)) {
      result_.where = index_text(a_, index);
      result_.a = a;
      result_.b = b;
    }
    result_.max_abs = std::max(result_.max_abs, distance);
  }

  const Tensor& a_;
  const Tensor& b_;
  TensorDifference& result_;
};

}  // namespace

bool TensorDiff::same() const {
  return only_a.empty() && only_b.empty() &&
         std::all_of(tensors.begin(), tensors.end(),
                     [](const TensorDifference& each) { return each.same(); });
}

TensorDiff diff_tensors(const Bundle& a, const Bundle& b, std::optional<double> tolerance) {
  TensorDiff diff;
  for (const NamedTensor& named : a.tensors()) {
    const Tensor* other = b.find(named.name);
    if (other == nullptr) {
      diff.only_a.push_back(named.name);
      continue;
    }
    TensorDifference result;
    result.name = named.name;
    result.dtype_a = name_of(named.tensor.dtype);
    result.dtype_b = name_of(other->dtype);
    result.shape_a = core::shape_text(named.tensor);
    result.shape_b = core::shape_text(*other);
    result.tolerance =
        tolerance.value_or(std::max(usual_tolerance(named.tensor.dtype), usual_tolerance(other->dtype)));
    result.comparable = same_shape(named.tensor, *other);
    if (result.comparable) TensorComparison(named.tensor, *other, result).run();
    diff.tensors.push_back(std::move(result));
  }
  for (const NamedTensor& named : b.tensors())
    if (a.find(named.name) == nullptr) diff.only_b.push_back(named.name);
  return diff;
}

}  // namespace isomer::lab
