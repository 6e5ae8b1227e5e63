#pragma once

#include "oracle/expected.hpp"
#include "oracle/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace isomer::lab {

/// The memory of one problem: knows which byte belongs to which element, puts everything back between runs,
/// poisons outputs and sees every byte that changed where none may.
class Arena {
 public:
  /// Fills guard zones and the gaps between strided elements: with NaN patterns round inputs, so that a stray
  /// read shows, with others round outputs, so that a stray write does, and remembers everything.
  explicit Arena(const oracle::Problem& problem);

  /// Everything as it was at first, and every pure output's elements filled with the poison of that pass (0
  /// or 1).
  void reset(int pass);

  /// A sentence for the first byte that changed outside the outputs' elements: an input, a gap or a guard
  /// zone; empty where none did.
  std::string trespass() const;

  /// A sentence for the first element that `expected` says is not written and that changed all the same.
  std::string overwritten(const oracle::ExpectedTensor& expected, const Tensor& tensor) const;

  /// Bytes of that buffer now, for comparing two passes.
  std::vector<std::byte> content(const Tensor& tensor) const;

 private:
  enum class Use { input, output, inout };
  struct Region {
    const oracle::Problem::Buffer* buffer;
    Use use;
    std::vector<std::uint8_t> element;  ///< per byte: 1 where it belongs to an element
    std::vector<std::byte> initial;     ///< as run() must find it
  };
  const Region* region_at(const std::byte* address) const;
  std::vector<Region> regions_;
};

}  // namespace isomer::lab
