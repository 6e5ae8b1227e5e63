#pragma once

#include "lab/diff/difference.hpp"
#include "lab/diff/launch_groups.hpp"
#include "lab/names/parameter_layouts.hpp"

#include <string>
#include <utility>
#include <vector>

namespace isomer::lab {

/// What differs between the argument bytes of two groups of launches.
struct ArgumentDifferences {
  std::vector<Difference> differences;
  std::size_t masked = 0;  ///< bytes that vary between the launches of one side, and were not compared
  /// Words that differ in structs of which no table knows the fields: padding or values, nobody can tell.
  std::vector<Difference> unknown;
  bool once = false;  ///< one launch on a side: padding cannot be told from values
};

/// Word by word: addresses as null, or as one of the launch's allocations; other words as integers and, where
/// they look like one, as floats. With a layout, fields by name and type.
ArgumentDifferences compare_arguments(const LaunchGroup& a, const LaunchGroup& b,
                                      const ParameterLayouts& layouts);

/// The arguments of a group's first launch under their names: fields by their table, small ones by their
/// number, and of a struct that no table knows only its size.
std::vector<std::pair<std::string, std::string>> argument_values(const LaunchGroup& group,
                                                                 const ParameterLayouts& layouts);

}  // namespace isomer::lab
