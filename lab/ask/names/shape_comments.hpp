#pragma once

#include "lab/ask/names/named_sizes.hpp"

#include <string>

namespace isomer::lab {

/// What the comments of a C++ source call the sizes of its tensors: `// x: [batch, dim], w and v: (n, dim)`.
/// Names of the source's own parameters, which are not always the label's.
NamedSizes sizes_in_comments(const std::string& source);
/// The same of a label, a text in Python.
NamedSizes sizes_in_documents(const std::string& label);

/// What a test calls the sizes of what it makes: `x = torch.randn(batch, dim, device=…)`.
NamedSizes sizes_of_made_tensors(const std::string& test);

}  // namespace isomer::lab
