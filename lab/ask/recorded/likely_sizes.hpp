#pragma once

#include "lab/ask/recorded/replayed.hpp"

#include <cstddef>
#include <vector>

namespace isomer::lab {

/// One way to read whole numbers that no caller passes as sizes of the tensors.
struct LikelySizes {
  Form form;
  int against = 0;   ///< numbers whose names speak against what they are
  int inverted = 0;  ///< pairs that stand in another order than the dimensions do
};

/// Whether that argument says in each call where the rows of each sequence begin, and where the last ends:
/// from 0 on, and never backwards.
bool are_offsets(const std::vector<Replayed>& calls, std::size_t role);

/// How often one size is another one, where it is so without a rest in each call: classes of a row that has
/// four numbers of each.
std::vector<Passing> ratios_of_sizes(const std::vector<Replayed>& calls);

/// The ways in which `unsure` can be sizes: no two the same, and no dimension left that nothing says. The
/// likeliest first, by what the letters of a product, an image or a table usually are and by the order of the
/// dimensions; none where there are too few numbers for that, or too many.
std::vector<LikelySizes> likely_sizes(const Form& form, const std::vector<Replayed>& calls,
                                      const std::vector<int>& unsure);

}  // namespace isomer::lab
