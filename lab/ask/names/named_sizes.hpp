#pragma once

#include <string>
#include <vector>

namespace isomer::lab {

/// What a label calls a size of a tensor: `m, k = x.shape`, `n = x.shape[0]`, `count = x.numel()`; or a
/// stride, by the name that its kernel has for it.
struct NamedSize {
  std::string name, tensor;
  int dim = 0;             ///< negative ones count from the last
  int rank = -1;           ///< of the tensor, where the label takes all of its sizes at once
  bool all = false;        ///< all elements
  bool flattened = false;  ///< of a tensor whose leading dimensions the label has made one: x.view(-1, n)
  bool stride = false;     ///< the stride of that dimension
};
using NamedSizes = std::vector<NamedSize>;

NamedSizes named_sizes(const std::vector<std::string>& texts);

}  // namespace isomer::lab
