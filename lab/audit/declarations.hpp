#pragma once

#include <isomer/tensor.hpp>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace isomer::lab {

/// Every dtype that a text names, in its order, with the word that names it.
std::vector<std::pair<DType, std::string>> dtypes_in(const std::string& text);
/// The rank that a text gives a tensor, and the words that say so; −1 where it gives none.
std::pair<int, std::string> rank_in(const std::string& text);

/// What one line says of arguments: "- q, k: float16 tensors [B, S, H, D]", "at::Tensor K,  // [S, H]
/// float32".
struct Declaration {
  std::vector<std::string> names;
  std::string text;
  int line = 0;
};
/// What the lines say of these arguments. A line may say something of several, or go on below, further in.
std::vector<Declaration> declarations(const std::vector<std::string>& lines,
                                      const std::set<std::string>& arguments);

}  // namespace isomer::lab
