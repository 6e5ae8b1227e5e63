#pragma once

#include "core/contract.hpp"
#include "oracle/expected.hpp"
#include "oracle/problem.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// How the kernel that an op comes from is called by the programs that have it: what a port of that kernel
/// must be callable as, and what a recorded call of it means.
namespace isomer::oracle {

struct Original {
  enum class Kind : std::uint8_t { tensor, integer, real, boolean };
  /// Which strides the original reads a tensor by.
  enum class Reads : std::uint8_t { every_stride, outer_strides, compact };

  struct Parameter {
    std::string name;      ///< as the original calls it: "Out_scale"
    std::string argument;  ///< as the contract calls it: "out_scale"; an option's name for a number
    Kind kind = Kind::tensor;
    bool output = false;
    bool optional = false;  ///< has a default; of a number, `fallback`
    bool returned = false;  ///< the original makes it and returns it
    bool index = false;     ///< holds rows, slots or lengths
    Reads reads = Reads::compact;
    std::string field = {};  ///< of the case line, that sets the dtype; empty where the op fixes it
    double fallback = 0;     ///< what the original takes where the argument is not given
    std::string also = {};   ///< other names that ports give it, separated by spaces
    /// Of a tensor whose axes the original has in another order than the contract: dimension i of it is the
    /// contract's axes[i]. Empty: the same order.
    std::vector<int> axes = {};
    /// A dimension of the contract's, always of size 1 in the cases, that the original's tensor does not
    /// have: its queries, of which there is one. −1: none.
    int without = -1;
    /// Of a tensor that is a half of the contract's: the first (0) or the second (1) along its last dimension.
    /// −1: all of it.
    int half = -1;
    /// The words of its sizes where it has not the first of the shapes that the contract lists.
    std::string shape = {};
    /// Of f32 memory that callers lend for what lies between two kernels, and that no argument of the
    /// contract is: its shape by the call. An output of which nothing is asked.
    std::function<std::vector<std::int64_t>(const core::Call&)> lent = {};
  };

  std::string op;
  std::vector<std::string> functions;  ///< names of its host function, the usual one first
  std::vector<Parameter> parameters;   ///< in its order; returned ones last
  /// What kernels like it often return besides, behind all others: `bind` takes it where it is given, and a
  /// case line has it by the flag of its name.
  std::optional<Parameter> further = {};

  /// Binds problem's call to these tensors and numbers, one of each per parameter. Undefined tensors of
  /// returned parameters are made; the dtype where the inputs leave it open is `made`. Throws Error where no
  /// call can be made of them.
  std::function<void(Problem& problem, const std::vector<Tensor>& tensors, const std::vector<double>& numbers,
                     DType made)>
      bind;
  /// The number that a call has for an option.
  std::function<double(const core::Call&, std::string_view option)> number;
  /// Case lines (after the op's name) for experiments: small, and between them they tell the op's variations
  /// apart. The first is the plain one.
  std::vector<std::string> probes;
  /// Fields that vary one size round the edges of blocks: "s=6 n=9 h=3 d=" to be followed by a number.
  std::vector<std::string> sizes;
  /// What kernels of the op need not have: a field of the case lines and whether a call uses it. Of a port
  /// whose recorded calls never do, probes are asked without it.
  struct Feature {
    std::string field;
    std::function<bool(const core::Call&)> used;
  };
  std::vector<Feature> features = {};
  /// What a function over pointers and numbers says by a parameter, or has fixed: a field of the case lines,
  /// and the names of such parameters as a regular expression over lower case. Who has none is asked without
  /// the field, or with one of the values, for which many kernels are written. With no names: tiles of a size
  /// that a parameter says, of which kernels may take whole ones alone.
  struct Sayable {
    std::string field, names;
    std::vector<std::string> values = {};
    /// And of what is named after that word, this one: kernels that decode take one query.
    std::string word = {}, value_of_word = {};
    bool of_who_says_none = false;  ///< the values are asked of those alone that have no such parameter
  };
  std::vector<Sayable> sayable = {};
  /// Fields that size the leading axes of every tensor: kernels of one batch, or of one head, have no such
  /// axes.
  std::vector<std::string> leading = {};
  /// Case lines with an empty tensor.
  std::vector<std::string> empties;
  /// Whether callers have such calls: no token, no element. An empty batch is not among them.
  bool called_empty = false;
  /// The dtypes in which it is used, by the field of the case line, the commonest first: a port that takes
  /// one of them is a port.
  std::vector<std::vector<std::pair<std::string, DType>>> usual;
  /// Where originals of an op differ in the order of their axes: what a text calls those of a first tensor
  /// that has this order, one regular expression (of lower case) for each axis.
  std::vector<std::string> axis_words = {};
  /// Told from another of the op's originals by the ranks of its tensors alone: memory is the same in both.
  bool of_tensors = false;
  /// Leading dimensions of size 1 of the case's tensors are not the original's.
  bool drops_leading_ones = false;
  /// Marks (1) the elements of `expected`, per output, on which the original's answer is left open; null
  /// where none is.
  std::function<std::vector<std::vector<std::uint8_t>>(const core::Call&, const Expected& plain)> open = {};
  /// Of an op that scales by a maximum: what a port puts under it has a constant of the port's own, which is
  /// measured, and the reference takes it from the variation's name. Ports put it under the maximum
  /// ("<under_maximum>1e-3"), under the scale ("zero_guard=scale-1e-5"), or give a constant scale to maxima
  /// below it ("zero_guard=below-1e-3-1": scale 1).
  struct Scaling {
    std::size_t output = 0;     ///< that holds the scales
    double largest = 1;         ///< a scale is its maximum divided by this
    std::string under_maximum;  ///< "zero_guard=amax-"
    /// The magnitudes of the elements behind each element of the scales, in their order; empty where none is.
    std::function<std::vector<std::vector<double>>(const core::Call&)> magnitudes;
  };
  Scaling scaling = {};
  /// Case lines of sizes that models have, beside small ones: head dimensions, lengths of rows, heads. A
  /// kernel that takes any size is asked for them; `seldom`: of which many kernels have no room.
  std::vector<std::string> larger = {}, seldom = {};
  /// Sizes without a ragged edge, where a wrong count of blocks shows nothing: "m=128 n=256". May be empty.
  std::string whole_blocks = {};

  std::array<std::vector<std::string>*, 5> all_lines() {
    return {&probes, &sizes, &empties, &larger, &seldom};
  }
};

}  // namespace isomer::oracle
