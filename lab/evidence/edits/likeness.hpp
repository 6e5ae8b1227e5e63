#pragma once

#include <string_view>

namespace isomer::lab {

/// How easily one name is mistaken for another: 0, not at all, to 1. Names that begin or end alike are (`dH`,
/// `dW`), and those of two sides of one thing (`width`, `height`).
double likeness(std::string_view one, std::string_view other);

}  // namespace isomer::lab
