#include "lab/ask/recorded/image_sizes.hpp"

#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <algorithm>
#include <string>

namespace isomer::lab {
namespace {

using What = Passing::What;
using Kind = Parameter::Kind;

/// The dimension that a word or a letter is usual for.
std::optional<ImageSide::Dim> dimension_of_word(const std::string& word) {
  using Dim = ImageSide::Dim;
  static const Pattern batch("n|b|bs|batch(?:_?size)?"), channel("c|ch|channels?|num_channels|n_channels"),
      planes("planes|n_planes|num_planes|nc"), depth("d|depth"), height("h|height"), width("w|width"),
      length("l|len|length|t");
  return batch.is(word)     ? std::optional(Dim::batch)
         : channel.is(word) ? std::optional(Dim::channel)
         : planes.is(word)  ? std::optional(Dim::planes)
         : depth.is(word)   ? std::optional(Dim::depth)
         : height.is(word)  ? std::optional(Dim::height)
         : width.is(word)   ? std::optional(Dim::width)
         : length.is(word)  ? std::optional(Dim::length)
                            : std::nullopt;
}

}  // namespace

std::optional<ImageSide> image_side(const std::string& name) {
  static const Pattern before("(input|in|i|src|output|out|o|dst|kernel|k|filter|f)_?(\\w+)"),
      behind("(\\w+?)_?(input|in|i|output|out|o)");
  const std::string lower = lower_case(name);
  const auto of_word = [](const std::string& word) {
    return word.front() == 'i' || word.front() == 's'   ? ImageSide::Of::input
           : word.front() == 'o' || word.front() == 'd' ? ImageSide::Of::output
                                                        : ImageSide::Of::filter;
  };
  if (const auto dim = dimension_of_word(lower)) return ImageSide{ImageSide::Of::any, *dim};
  if (const std::optional<Match> match = before.whole(lower))
    if (const auto dim = dimension_of_word((*match)[2])) return ImageSide{of_word((*match)[1]), *dim};
  if (const std::optional<Match> match = behind.whole(lower))
    if (const auto dim = dimension_of_word((*match)[1])) return ImageSide{of_word((*match)[2]), *dim};
  return std::nullopt;
}

namespace {

/// Whether the numbers speak of images, or of rows with channels, and not of something else by one letter.
bool speak_of_images(const std::vector<Parameter>& parameters) {
  bool height = false, width = false, channels = false, length = false;
  for (const Parameter& each : parameters) {
    if (each.kind != Kind::integer) continue;
    const std::optional<ImageSide> side = image_side(each.name);
    if (!side) continue;
    height = height || side->dim == ImageSide::Dim::height;
    width = width || side->dim == ImageSide::Dim::width;
    channels = channels || side->dim == ImageSide::Dim::channel || side->dim == ImageSide::Dim::planes;
    length = length || side->dim == ImageSide::Dim::length;
  }
  return (height && width) || (channels && length && !height && !width);
}

bool has_side(const std::vector<Parameter>& parameters, ImageSide::Dim dim) {
  return std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& each) {
    const std::optional<ImageSide> side = image_side(each.name);
    return each.kind == Kind::integer && side && side->dim == dim;
  });
}

/// The first tensor of three dimensions and more that is an image, a filter, or made; −1: none.
int role_of_side(const Replayed& replayed, ImageSide::Of of) {
  static const Pattern filter("\\w*(?:weight|filter|kernel)\\w*|w|f");
  constexpr int kLeastRank = 3;
  for (std::size_t r = 0; r < replayed.roles.size(); ++r) {
    const bool output = r >= replayed.call->before.size();
    if (!replayed.values[r].is_tensor() || replayed.values[r].tensor.rank < kLeastRank ||
        output != (of == ImageSide::Of::output) ||
        filter.is(lower_case(replayed.roles[r].name)) != (of == ImageSide::Of::filter))
      continue;
    return static_cast<int>(r);
  }
  return -1;
}

/// `K, R, S` of a convolution, as cuDNN's descriptors call its filters, their rows and their columns, and `P,
/// Q`, the rows and columns that come out.
std::optional<Passing> size_of_filters(const std::vector<Parameter>& parameters, std::size_t at,
                                       const Replayed& replayed) {
  constexpr int kRank = 4;
  const auto has = [&](const char* letter) {
    return std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& each) {
      return each.kind == Kind::integer && lower_case(each.name) == letter;
    });
  };
  const std::string letter = lower_case(parameters[at].name);
  if (letter.size() != 1 || !has("k") || !has("r") || !has("s")) return std::nullopt;
  const bool out = letter == "p" || letter == "q";
  const bool known = out || letter == "k" || letter == "r" || letter == "s";
  static const Pattern filter("\\w*(?:weight|filter|kernel)\\w*|w|f");
  for (std::size_t r = 0; known && r < replayed.roles.size(); ++r) {
    const Value& value = replayed.values[r];
    const bool made = r >= replayed.call->before.size();
    if (!value.is_tensor() || value.tensor.rank != kRank || made != out ||
        filter.is(lower_case(replayed.roles[r].name)) == out)
      continue;
    Passing passing;
    passing.what = What::size;
    passing.role = static_cast<int>(r);
    passing.dim = letter == "k" ? 0 : letter == "r" || letter == "p" ? -2 : -1;
    return passing;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Passing> size_of_images(const std::vector<Parameter>& parameters, std::size_t at,
                                      const Replayed& replayed) {
  if (parameters[at].kind != Kind::integer || !speak_of_images(parameters)) return std::nullopt;
  if (const std::optional<Passing> of_filters = size_of_filters(parameters, at, replayed)) return of_filters;
  const std::optional<ImageSide> side = image_side(parameters[at].name);
  if (!side) return std::nullopt;
  using Dim = ImageSide::Dim;
  Passing passing;
  passing.what = What::size;
  // As many channels come out as there are filters.
  passing.role = role_of_side(replayed, side->of == ImageSide::Of::any ? ImageSide::Of::input : side->of);
  if (passing.role < 0) return std::nullopt;
  const bool rows = !has_side(parameters, Dim::height);  // of length alone
  const bool volumes = has_side(parameters, Dim::depth);
  switch (side->dim) {
    case Dim::width:
    case Dim::length:
      passing.dim = -1;
      break;
    case Dim::height:
      passing.dim = -2;
      break;
    case Dim::depth:
      passing.dim = -3;
      break;
    // Of volumes there are flat ones, which have no depth; of others there may be no batch.
    case Dim::channel:
      passing.dim = volumes ? 1 : rows ? -2 : -3;
      break;
    case Dim::batch:
      passing.dim = volumes ? 0 : rows ? -3 : -4;
      break;
    case Dim::planes:
      passing.dim = rows ? -2 : -3;
      passing.with = passing.dim - 1;
      break;
  }
  return passing;
}

}  // namespace isomer::lab
