#pragma once

#include "lab/ask/names/named_sizes.hpp"
#include "lab/ask/port.hpp"
#include "lab/ask/recorded/replayed.hpp"

#include <optional>
#include <vector>

namespace isomer::lab {

/// A size, a count or a stride by a name that the label gives it, of a tensor of that name.
std::optional<Passing> size_of_label(const Parameter& parameter, const Replayed& replayed,
                                     const NamedSizes& sizes);

/// `fm_height`, of the tensor fm and of its size that the label calls height; `num_ids`, of the tensor ids.
std::optional<Passing> size_by_tensor(const Parameter& parameter, const Replayed& replayed,
                                      const NamedSizes& sizes);

/// A size of which the label's name is like the parameter's: of names that no parameter has, and only where
/// all that are like it say the same number.
std::optional<Passing> size_alike(const std::vector<Parameter>& parameters, std::size_t at,
                                  const Replayed& replayed, const NamedSizes& sizes);

/// Whether two names are usually given to one size: head_dim and dim, page_size and page.
bool name_one_size(const std::string& a, const std::string& b);

/// Whether it is usual for how many are chosen: k, topk.
bool counts_choices(const std::string& name);

/// Whether each is usual for a size, and no size is called both ways: batch and total_tokens.
bool name_other_sizes(const std::string& a, const std::string& b);

}  // namespace isomer::lab
