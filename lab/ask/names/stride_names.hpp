#pragma once

#include "lab/ask/port.hpp"
#include "lab/ask/trial.hpp"
#include "lab/candidate/candidate.hpp"

#include <optional>
#include <string>
#include <vector>

namespace isomer::lab {

/// In the place of a pointer's role: callers have no tensor for it.
constexpr int kAbsent = -2;

/// One stride of a tensor.
struct StrideOf {
  int role = -1;  ///< −1: of a tensor that callers do not have
  int dim = 0;    ///< negative ones count from the last
};

/// Which whole numbers of a function over raw memory are strides, and of what: runs of names that share their
/// beginning ("stride_kb, stride_kh", "cache_row, cache_head", "o_s0, o_s1", "ldx"), laid onto the pointers
/// as the source names them, in their order where the names leave it open. `role_at`: the tensor role of each
/// parameter, −1 for none, `kAbsent` for none of a pointer. `shapes`: the words of each role's dimensions, as
/// shape_words has them; of an op that is not known as many as it has dimensions. `taken`: numbers that have
/// another meaning by their whole name.
std::vector<std::optional<StrideOf>> strides_by_name(const Entry& entry, const Port& port,
                                                     const std::vector<std::vector<std::string>>& shapes,
                                                     const std::vector<int>& role_at,
                                                     const std::vector<bool>& taken);

/// An array of a tensor's sizes or strides, by a parameter's name: "q_strides", "strides_out", "shape".
struct ArrayName {
  Passing::What what = Passing::What::none;  ///< none: it is no such array
  std::string of;  ///< what the name says of the tensor; empty where it says nothing
};
ArrayName array_name(const Parameter& parameter);

/// The tensor role that an array is of: the pointer that its name says most of; where it says nothing, the
/// one before it. −1: none.
int role_of_array(const ArrayName& name, std::size_t parameter, const Entry& entry, const Port& port,
                  const std::vector<int>& role_at);

/// The words of the first shape that the contract has for a role: "S", "H", "D".
std::vector<std::string> shape_words(const Port& port, int role);

/// A dimension of the first role that has one of that word; `dim` counts from the last.
struct Dimension {
  int role, dim;
};
std::optional<Dimension> dimension_of(const Port& port, const std::string& word);

/// Words of a name in lower case: "stride_Mid_O_dmodel" is stride, mid, o, dmodel.
std::vector<std::string> words_of(std::string_view name);

}  // namespace isomer::lab
