#pragma once

#include "lab/ask/recorded/replayed.hpp"
#include "lab/findings/finding.hpp"

#include <isomer/tensor.hpp>

#include <string>
#include <vector>

namespace isomer::lab {

/// One output of a recorded call and what a candidate gives for it.
struct Compared {
  std::string name;
  Tensor want;
  std::vector<double> got;    ///< row-major, as many as the reference has
  Tensor before;              ///< of an argument that is written, as it was given; otherwise undefined
  double rtol = 0, atol = 0;  ///< 0: by the dtype, and by the size of the row
  bool smooth = false;        ///< it changes evenly with its inputs: nothing is rounded on the way
};

/// The way in which an answer of an unknown op is wrong: permuted axes, a wrong end, elements as they were, a
/// constant ratio, f16 instead of f32, a step beside; `unexplained`, with where and how much, where it is
/// none of these. Empty code where nothing is wrong.
Finding pattern_of(const Compared& compared);
/// The reference's elements one place beside, along one or both of the last two dimensions; `want` and
/// `bounds` are the reference's elements and how far each may be off. Empty code where they are not.
Finding shifted_answer(const Compared& compared, const std::vector<double>& want,
                       const std::vector<double>& bounds);

/// Wrong in a band along the diagonal of two dimensions, and nowhere else; one number in all that are wrong,
/// as if that bounded them; or wrong by one factor of few. `at`: the elements that are wrong.
Finding band_of_wrong(const Compared& compared, const std::vector<std::size_t>& at);
Finding bound_of_wrong(const Compared& compared, const std::vector<double>& want,
                       const std::vector<std::size_t>& at);
Finding factors_of_wrong(const Compared& compared, const std::vector<double>& want,
                         const std::vector<std::size_t>& at);

/// An argument that is mixed with something new, as a running mean, where the new has another weight or
/// another factor; and slices along one dimension that hold what other slices of the reference hold.
Finding mixed_otherwise(const Compared& compared, const std::vector<double>& want);
Finding slices_elsewhere(const Compared& compared, const std::vector<double>& want,
                         const std::vector<double>& bounds);

/// An answer that is a known function of the reference: its root, its square, its magnitude.
Finding function_of_reference(const Compared& compared, const std::vector<double>& want,
                              const std::vector<double>& bounds);

/// Whole numbers that are the reference's modulo one number; columns times a factor of their own; and what is
/// wrong at the first, or last, index of one dimension alone, in all but the first, or last, of one before
/// it.
Finding remainder_of_reference(const Compared& compared, const std::vector<double>& want);
Finding factors_of_columns(const Compared& compared, const std::vector<double>& want,
                           const std::vector<double>& bounds);
Finding wrong_at_beginnings(const Compared& compared, const std::vector<std::size_t>& at);

/// Wrong just where an input is below 0, or at just one index, which an argument has: one that is to be left
/// out.
Finding wrong_by_sign(const Replayed& replayed, std::size_t output, const std::vector<bool>& wrong);
Finding wrong_at_named_index(const Replayed& replayed, std::size_t output, const std::vector<bool>& wrong);

/// Rows of an input plus a number of each row, bounded below at 0, where the original adds another number.
Finding bounded_rows(const Replayed& replayed, std::size_t output, const std::vector<double>& got);

/// Whether a wrong answer to real numbers changes evenly with them, where rounding on the way would make
/// steps as large as its errors.
bool changes_evenly(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                    std::size_t output);

/// Whether whole numbers say where rows begin, the first at 0: by their name. Such are no counts.
bool begins_at_zero(const std::string& name, const std::vector<double>& numbers);
/// Where an output is wrong in just the rows of which some count, a length, is 0, or no multiple of a tile:
/// the finding that this is; empty code where there is no such count. `wrong`: per element, row-major.
Finding rows_by_count(const Replayed& replayed, const Tensor& want, const std::vector<std::uint8_t>& wrong);
/// Places of equal values that are others than the reference's: a finding, or none (no code).
Finding other_of_equals(const Replayed& replayed, std::size_t output, const std::vector<double>& got);

/// Rows that are taken from where an index points instead of put there, or the reverse: a finding, or none.
Finding other_side_of_index(const Replayed& replayed, std::size_t output, const std::vector<double>& got,
                            const Facts* facts);

/// Wrong in just the elements of which an input's is NaN, or infinite: the finding that this is, or none.
Finding wrong_where_not_finite(const Replayed& replayed, std::size_t output, const std::vector<bool>& wrong);
/// What the inputs say of an output that is wrong for a reason unknown: wrong where an input has one value,
/// or off by a function of an input.
Finding pattern_of_inputs(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                          std::size_t output);
/// An answer that is the reference and a multiple of something more: of one, of an input, of a product of
/// two.
Finding missing_term(const Replayed& replayed, std::size_t output, const std::vector<double>& got);

}  // namespace isomer::lab
