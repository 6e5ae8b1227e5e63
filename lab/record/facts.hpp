#pragma once

#include "lab/candidate/recording.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What the recorder read in the texts of label and test (lab/record/python/isomer_record/facts.py).
namespace isomer::lab {

struct LabelParameter {
  std::string name;
  bool has_default = false;
};

/// `tensor` is addressed in dimension `dim` by the values of `index`; −1: not known which.
struct IndexUse {
  std::string index, tensor;
  int dim = -1;
  bool write = false;
};

/// A constant that the label's kernel is launched with.
struct LabelConstant {
  std::string name;
  std::vector<std::int64_t> values;
  int line = 0;
};

/// What the label's kernel calls a stride of an argument that it is launched with.
struct LabelStride {
  std::string name, tensor;
  int dim = 0;  ///< negative ones count from the last
};

struct LabelFunction {
  std::string name;
  int line = 0, returns = 0;
  std::vector<LabelParameter> parameters;
  std::vector<std::string> writes;
  std::vector<IndexUse> indexes;
  std::vector<LabelConstant> constants;
  std::vector<LabelStride> strides;
};

/// What of one dimension of an input the label's answer depends on, as the recorder asked it.
struct LabelInfluence {
  /// How many indices of each dimension of a result index 1 of the input reaches.
  struct Reach {
    int returned = -1;     ///< which result; −1: an argument that is written
    std::string argument;  ///< which one
    std::vector<std::int64_t> counts;
  };
  std::string function, argument;
  int dim = 0, rank = 0;           ///< −1: the argument as a whole
  bool first = true, last = true;  ///< whether the first and the last index matter; of a whole one, whether it does
  std::vector<Reach> reach;
};

/// A variable of the test, and whether anything is done with it once the call is over.
struct Observed {
  std::string name, text;
  bool observed = false;
};

struct TestCall {
  std::string function;
  int line = 0;
  bool open = false;  ///< passes *args: what becomes of them cannot be read
  std::vector<Observed> arguments;
  std::optional<std::vector<Observed>> returned;  ///< nothing: part of a larger expression
};

/// A check of the test that holds whatever its calls give, and why.
struct IdleCheck {
  std::string text, why;
  int line = 0;
};

struct Facts {
  std::string label_file, test_file;
  std::vector<LabelFunction> functions;
  std::vector<TestCall> calls;
  bool observes = true;
  std::vector<IdleCheck> idle;
  bool has_kernels = true;         ///< the label has kernels of its own, not PyTorch's operators alone
  bool subtracts_maximum = false;  ///< the label has exponentials and maxima, as a softmax has
  int draws = 0;                   ///< line of the first random input
  bool seeds = true;
  std::vector<LabelInfluence> influence;
  bool asks_influence = false;  ///< the recorder asked for it, where the label did not take too long

  const LabelFunction* function(const std::string& name) const;
};

/// Nothing where the recording has none, or none that can be read.
std::optional<Facts> facts_of(const Recording& recording);

}  // namespace isomer::lab
