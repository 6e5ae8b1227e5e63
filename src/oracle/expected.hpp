#pragma once

#include <isomer/tensor.hpp>

#include "core/contract.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace isomer::oracle {

/// What one output must hold, in row-major order of its shape whatever the tensor's strides.
struct ExpectedTensor {
  std::string name;
  DType dtype = DType::none;
  std::vector<std::int64_t> shape;
  std::vector<double> value;
  /// How far an element may be from value; 0 asks for equality (any NaN equals any NaN, +0 equals −0).
  std::vector<double> bound;
  /// 0 where the op leaves the element as it was.
  std::vector<std::uint8_t> written;
  /// Where not empty: the element may differ by exactly this much when the implementation divides
  /// approximately (the ±1 rule of quantize_copy_kv); such elements are counted and reported apart.
  std::vector<double> lenient;
  /// What an element may hold instead where its writers have no order, as on a GPU.
  std::unordered_map<std::size_t, std::vector<double>> others;
  /// What an element may hold instead by any implementation: it is rounded from a value with a bound of its
  /// own.
  std::unordered_map<std::size_t, std::vector<double>> nearby;
  /// Where not empty: 1 where any answer will do: a variation reads what is not there, or an infinite scale
  /// meets a sum whose sign the hardware leaves open.
  std::vector<std::uint8_t> unknown;

  /// Row-major index of an element.
  template <class... Index>
  std::size_t index(Index... at) const {
    std::size_t flat = 0;
    int dim = 0;
    ((flat = flat * static_cast<std::size_t>(shape[static_cast<std::size_t>(dim++)]) +
             static_cast<std::size_t>(at)),
     ...);
    return flat;
  }
  void set(std::size_t flat, double v, double b = 0) {
    value[flat] = v;
    bound[flat] = b;
    written[flat] = 1;
  }
  void set_unknown(std::size_t flat) {
    unknown.resize(value.size());
    unknown[flat] = 1;
  }
};

/// The outputs of one call as the reference has them: one entry for every defined out or inout argument, in
/// contract order, nothing written. An inout's value starts as its content.
class Expected {
 public:
  explicit Expected(const core::Call& call);
  ExpectedTensor& operator[](std::string_view name);
  bool has(std::string_view name) const;
  std::vector<ExpectedTensor> tensors;
};

/// Element of a CPU tensor as a double, by row-major index or by index tuple.
double element(const Tensor& tensor, std::size_t flat);
template <class... Index>
double read(const Tensor& tensor, Index... at);

/// All elements in row-major order.
std::vector<double> elements(const Tensor& tensor);

}  // namespace isomer::oracle

#include "core/codec.hpp"

namespace isomer::oracle {

template <class... Index>
double read(const Tensor& tensor, Index... at) {
  return core::decode(tensor.dtype, tensor.at<>(at...));
}

}  // namespace isomer::oracle
