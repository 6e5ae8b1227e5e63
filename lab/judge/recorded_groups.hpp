#pragma once

#include "lab/ask/names/named_sizes.hpp"
#include "lab/ask/recorded/replayed.hpp"
#include "lab/record/facts.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

/// What the recorded calls of one function, and its label, say beside the answers.
namespace isomer::lab {

/// Calls that are made alike: as many arguments, the same of them by keyword. `by_dtype`: and of the same
/// types, as a function for each type takes them.
std::vector<std::vector<Replayed>> by_signature(std::vector<Replayed> calls, bool by_dtype = false);

/// The strides that the label's kernel has names for, behind the sizes that the label names.
NamedSizes with_strides_of_label(NamedSizes sizes, const Facts* facts, const std::string& function);

/// The sizes of shapes that the candidate's comments say without a tensor, of the one whose rank they have.
NamedSizes with_tensors_of_calls(const NamedSizes& sizes, const Entry& entry, const Replayed& call);

/// How many results the recorded calls have, beside the numbers that they pass or leave to their defaults.
class ResultCounts {
 public:
  explicit ResultCounts(const std::vector<Replayed>& calls);
  /// What decides how many there are is looked at, whatever the others hold.
  bool depend_on(const std::string& name) const;

 private:
  std::vector<std::pair<std::map<std::string, double>, std::size_t>> list_;
};

}  // namespace isomer::lab
