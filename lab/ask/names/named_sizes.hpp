#pragma once

#include <string>
#include <vector>

namespace isomer::lab {

/// What a label calls a size of a tensor: `m, k = x.shape`, `n = x.shape[0]`, `count = x.numel()`, a
/// quotient of two; or a stride, by the name that its kernel has for it.
struct NamedSize {
  std::string name, tensor;
  int dim = 0;             ///< negative ones count from the last
  int rank = -1;           ///< of the tensor, where the label takes all of its sizes at once
  bool all = false;        ///< all elements
  bool flattened = false;  ///< of a tensor whose leading dimensions the label has made one: x.view(-1, n)
  bool stride = false;     ///< the stride of that dimension
  std::string over = {};   ///< of a quotient of two sizes, `k // scales.shape[0]`: the other one's tensor
  int over_dim = 0;
  int less = 0;  ///< it is so much less than the dimension, as of offsets: [sequences + 1]
};
using NamedSizes = std::vector<NamedSize>;

NamedSizes named_sizes(const std::vector<std::string>& texts);

/// The same with the words for the letters of images: of `n, c, h, w = x.shape` h is the height.
NamedSizes with_words_of_images(NamedSizes sizes);

}  // namespace isomer::lab
