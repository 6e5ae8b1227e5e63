#pragma once

#include <set>
#include <string>
#include <vector>

namespace isomer::lab {

/// A line of an instruction in the words that the audit reads: Chinese punctuation and the few Chinese words
/// that state a type or a rank in English, numbers as digits ("two-dimensional" is "2-dimensional").
std::string plain_wording(std::string line);

/// What code in an instruction demands of arguments, each with the words that say it.
struct CodeDemand {
  std::string name, text;
  int rank = -1;  ///< −1: the text names dtypes
};
/// "const float* K", "K.scalar_type() == at::kFloat", "K.dim() == 2", and in prose "must accept float32 K",
/// "K=float32".
std::vector<CodeDemand> demands_of(const std::string& line, const std::set<std::string>& arguments);

}  // namespace isomer::lab
