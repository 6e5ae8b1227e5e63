#pragma once

#include <isomer/tensor.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace isomer::oracle {

/// A small counter-based generator (splitmix64): the same seed and stream give the same values everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed, std::string_view stream = {});
  std::uint64_t bits();
  void skip(std::uint64_t count);                             ///< so many of `bits`
  double uniform();                                           ///< [0, 1)
  double normal();                                            ///< mean 0, variance 1
  std::int64_t below(std::int64_t count);                     ///< [0, count)
  std::vector<std::int64_t> permutation(std::int64_t count);  ///< of 0 … count−1

 private:
  std::uint64_t state_;
};

/// Value regimes of floating inputs, beyond the normal distribution that hides most faults.
enum class Regime {
  normal,     ///< N(0, 1)
  ties,       ///< whole numbers and halves k + 0.5 of either sign, up to 127.5
  tiny,       ///< N(0, 1) times 2^-16, so that products underflow in f16; of FP8, times 4 smallest subnormals
  subnormal,  ///< up to 15 smallest subnormals, either sign
  huge,       ///< a quarter of the largest finite value up to all of it, either sign
  zero_rows,  ///< normal, but every third row (a run along the last dimension) is zero
  outlier,    ///< normal, with one element of every row 1000 times larger
  inf,        ///< normal, with some ±inf; the largest finite value in types without inf
  nan,        ///< normal, with some NaN
  zero,       ///< all zero, either sign
  mixed,      ///< every row from another of normal, ties, tiny, huge, zero_rows and outlier
  ends,   ///< normal, with one element of every 128 of a row 1000 times larger: the last, the first, others
  level,  ///< 1 + N(0, 1) / 64
};
/// Those that every op is tried with.
const std::vector<std::string>& regime_names();
/// And those that single ops ask for.
const std::vector<std::string>& all_regime_names();
Regime regime_of(std::string_view name);

/// Fills every element of a CPU tensor; `scale` multiplies the values before rounding.
void fill(const Tensor& tensor, Regime regime, Random& random, double scale = 1.0);

/// Fills the compact [rows, length] with rows whose largest magnitudes step evenly through the decades from
/// 10^lowest to 10^highest: what is put under a maximum shows where it begins. Both signs; one element of a
/// row is its largest.
void fill_decades(const Tensor& rows, double lowest, double highest, Random& random);

}  // namespace isomer::oracle
