#pragma once

#include "lab/diff/difference.hpp"
#include "lab/diff/launch_groups.hpp"
#include "lab/names/parameter_layouts.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// What differs between the argument bytes of two groups of launches.
struct ArgumentDifferences {
  std::vector<Difference> differences;
  std::size_t masked = 0;     ///< bytes that vary between the launches of one side, and were not compared
  bool struct_words = false;  ///< a struct's words differ, padding and all, and no table knows its fields
  bool once = false;          ///< one launch on a side: padding cannot be told from values
};

/// Word by word: addresses as null, or as one of the launch's allocations; other words as integers and, where
/// they look like one, as floats. With a layout, fields by name and type.
ArgumentDifferences compare_arguments(const LaunchGroup& a, const LaunchGroup& b,
                                      const ParameterLayouts& layouts);

}  // namespace isomer::lab
