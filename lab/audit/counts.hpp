#pragma once

#include "lab/candidate/recording.hpp"
#include "lab/record/facts.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// A number of an instruction that is another one: what its line says, what is so, what it should say.
struct Miscount {
  int line = 0;
  std::string said, is, fix;
};
/// More arguments than the label has, where a port takes what the label takes (an extension of PyTorch); more
/// or fewer tensors than the calls pass; more or fewer results than they gave. Fewer arguments than the label
/// cannot do without are told elsewhere.
std::vector<Miscount> miscounts(const std::vector<std::string>& lines, const LabelFunction& function,
                                const std::vector<const RecordedCall*>& calls);

}  // namespace isomer::lab
