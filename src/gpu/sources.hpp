#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::gpu {

/// A device source file, embedded in the library. Paths are relative to src/, as the sources include one
/// another.
struct Source {
  std::string_view path;
  std::string_view text;
};

/// Every embedded file, in the order of the paths. Made by the build from src/gpu/device and
/// src/ops/*/kernels.
std::span<const Source> sources();
const Source* find_source(std::string_view path);

/// The file and everything that it includes, each once, in the order of the paths. Throws Error internal for
/// an include that is not embedded.
std::vector<const Source*> included_by(std::string_view path);

}  // namespace isomer::gpu
