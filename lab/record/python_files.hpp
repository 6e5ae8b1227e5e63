#pragma once

#include <span>
#include <string_view>

namespace isomer::lab {

/// A file of lab/record/python, by its path there.
struct PythonFile {
  std::string_view path, text;
};
std::span<const PythonFile> python_files();

}  // namespace isomer::lab
