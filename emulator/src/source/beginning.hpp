// Where the headers at the beginning of a preprocessed source end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::emulator::source {

/// A preprocessed source in two parts. Both are empty where it does not begin with headers.
struct Beginning {
  /// Lines that come from files of the folders, without the markers that name other files: equal for sources
  /// that include the same at their beginning.
  std::string headers;
  std::string rest;  ///< from the source's own line behind them, with its marker
};

/// The headers end before the first line of anybody else's, and without small ones at their end. Where those
/// that the source includes itself are shorter than `large`, which differ from source to source, they end in
/// front of it, behind those that every source has.
Beginning beginning_of_headers(std::string_view preprocessed, const std::vector<std::string>& folders,
                               std::size_t large = 0);

}  // namespace isomer::emulator::source
