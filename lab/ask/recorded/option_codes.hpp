#pragma once

#include "lab/ask/recorded/binding.hpp"
#include "lab/ask/recorded/replayed.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace isomer::lab {

/// A number by which a C function is told what the label's callers say with a word or a dtype:
/// `reduction="mean"` is 1, a tensor of f16 is `dtype` 2 or `is_half` true.
struct OptionCode {
  std::size_t parameter = 0;
  std::string name;                  ///< the parameter's, and that of the number in each call
  std::string option;                ///< the label's argument; empty: the dtype of the tensors
  std::map<std::string, int> codes;  ///< of each word, or dtype, that the calls have
  std::string left_out;              ///< the word of callers who pass none
  bool known = false;                ///< the source says all of them; else they are usual ones, or in order
};

/// Those of an entry over raw memory, as its source says them: in a comment, an enumeration, or where it
/// compares the parameter. None of an extension, which is passed the words themselves.
std::vector<OptionCode> option_codes(const Entry& entry, const std::vector<Replayed>& calls,
                                     const std::string& source);

/// Puts the numbers behind the values of every call, as numbers that the label computes are.
void put_codes(const std::vector<OptionCode>& options, std::vector<Replayed>& calls);

bool are_known(const std::vector<OptionCode>& options);

/// Of options that are not known the numbers with which all calls that have the word are `right`; whether
/// every word has one.
bool settle_codes(std::vector<OptionCode>& options, const std::vector<Replayed>& calls,
                  const std::function<bool(const Replayed&)>& right);

/// Puts other numbers in the place of those that were put there.
void change_codes(const std::vector<OptionCode>& options, std::vector<Replayed>& calls);

/// Passes them to their parameters.
void take_codes(const std::vector<OptionCode>& options, const Replayed& call, Bound& bound);

}  // namespace isomer::lab
