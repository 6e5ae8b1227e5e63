#pragma once

#include "lab/ask/port.hpp"
#include "lab/ask/recorded/replayed.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace isomer::lab {

/// What a name says of images: of which tensor, and which of its dimensions.
struct ImageSide {
  enum class Of : std::uint8_t { any, input, filter, output };
  enum class Dim : std::uint8_t { batch, channel, planes, depth, height, width, length };
  Of of = Of::any;
  Dim dim = Dim::batch;
};

/// `H`, `in_h`, `iH`, `KW`, `out_channels`; none where a name says nothing of the kind.
std::optional<ImageSide> image_side(const std::string& name);

/// `N, C, H, W`, `out_h`, `KW`, `planes`: a size of images, of their filters or of what is made of them,
/// where a function over raw memory names several of these and the label names none: batches stand before
/// channels, and channels before depth, height and width, as in PyTorch's operators. None where the call has
/// no tensors of three dimensions and more.
std::optional<Passing> size_of_images(const std::vector<Parameter>& parameters, std::size_t at,
                                      const Replayed& replayed);

}  // namespace isomer::lab
