#pragma once

#include "lab/ask/port.hpp"
#include "lab/ask/recorded/replayed.hpp"

#include <optional>
#include <vector>

namespace isomer::lab {

/// `N, C, H, W`, `out_h`, `KW`, `planes`: a size of images, of their filters or of what is made of them, where
/// a function over raw memory names several of these and the label names none: batches stand before channels,
/// and channels before depth, height and width, as in PyTorch's operators. None where the call has no tensors
/// of three dimensions and more.
std::optional<Passing> size_of_images(const std::vector<Parameter>& parameters, std::size_t at,
                                      const Replayed& replayed);

}  // namespace isomer::lab
