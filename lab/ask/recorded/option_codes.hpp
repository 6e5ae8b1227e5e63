#pragma once

#include "lab/ask/names/named_sizes.hpp"
#include "lab/ask/recorded/binding.hpp"
#include "lab/ask/recorded/replayed.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace isomer::lab {

/// A number by which a C function is told what the label's callers say with a word or a dtype:
/// `reduction="mean"` is 1, a tensor of f16 is `dtype` 2 or `is_half` true.
struct OptionCode {
  static constexpr std::size_t kOfNone = std::size_t(-1);
  std::size_t parameter = 0;         ///< kOfNone: the number stands behind the values alone
  std::string name;                  ///< the parameter's, and that of the number in each call
  std::string option;                ///< the label's argument; empty: the dtype of the tensors
  std::map<std::string, int> codes;  ///< of each word, or dtype, that the calls have
  std::string left_out;              ///< the word of callers who pass none
  bool known = false;                ///< the source says all of them; else they are usual ones, or in order
  /// A number of the label's under another name, as each call has it; null: a word. Nothing: it has None.
  std::function<std::optional<double>(const Replayed&)> number = nullptr;
  bool real = false;                 ///< passed as a real number
  std::vector<std::string> of = {};  ///< the label's arguments that it says, which no other parameter is for
  bool by_order = false;             ///< nothing but the order of the parameters says which option it is
  bool left_alone = false;           ///< it is none: its parameter is something else
};

/// Those of an entry over raw memory, as its source says them: in a comment, an enumeration, or where it
/// compares the parameter. None of an extension, which is passed the words themselves.
std::vector<OptionCode> option_codes(const Entry& entry, const std::vector<Replayed>& calls,
                                     const std::string& source, const NamedSizes& sizes);

/// Puts the numbers behind the values of every call, as numbers that the label computes are.
void put_codes(const std::vector<OptionCode>& options, std::vector<Replayed>& calls);

bool are_known(const std::vector<OptionCode>& options);

/// Of options that are not known the numbers with which all calls that have the word are `right`; whether
/// every word has one.
bool settle_codes(std::vector<OptionCode>& options, const std::vector<Replayed>& calls,
                  const std::function<bool(const Replayed&)>& right);

/// Puts other numbers in the place of those that were put there.
void change_codes(const std::vector<OptionCode>& options, std::vector<Replayed>& calls);

/// Their parameters, and the label's arguments that they say.
std::vector<int> parameters_of(const std::vector<OptionCode>& options);
std::set<std::string> arguments_of(const std::vector<OptionCode>& options);

/// Passes them to their parameters.
void take_codes(const std::vector<OptionCode>& options, const Replayed& call, Bound& bound);

}  // namespace isomer::lab
