#pragma once

#include "lab/ask/names/named_sizes.hpp"

#include <functional>
#include <string>
#include <vector>

namespace isomer::lab {

/// What the comments of a C++ source call the sizes of its tensors: `// x: [batch, dim], w and v: (n, dim)`.
/// Names of the source's own parameters, which are not always the label's. Of a shape that no tensor's name
/// stands before, as of "a [batch, dim] tensor", the tensor is empty.
NamedSizes sizes_in_comments(const std::string& source);
/// The same with a tensor for those shapes, of which every name is a parameter's: the one that `tensor_of`
/// says for their rank. They are left out where it says none.
NamedSizes with_tensors_of_shapes(const NamedSizes& sizes, const std::vector<std::string>& parameters,
                                  const std::function<std::string(int rank)>& tensor_of);
/// The same of a label, a text in Python.
NamedSizes sizes_in_documents(const std::string& label);

/// What a test calls the sizes of what it makes: `x = torch.randn(batch, dim, device=…)`.
NamedSizes sizes_of_made_tensors(const std::string& test);

}  // namespace isomer::lab
