// Device sources with one fault each, made of the library's own by replacing one piece of text.
#pragma once

#include "gpu/sources.hpp"

#include <span>
#include <string>
#include <string_view>

namespace isomer::planted {

/// The library's device sources and those of planted/: written by the build.
std::span<const gpu::Source> embedded();

struct Fault {
  std::string_view name, file;     ///< of the library: "ops/attention/kernels/attention_sm90.cu"
  std::string_view find, replace;  ///< the first occurs once in the file
  std::string_view says;           ///< what a check of the kernel has to say of it
};

/// Where the file with that fault lies among the sources.
std::string place_of(const Fault& fault);
/// Where the kernel that has the fault lies: the same file, or one that includes it.
std::string path_of(const Fault& fault);
/// How often the text that is replaced occurs.
int occurrences(const Fault& fault);

/// Of the Hopper kernel of attention.
std::span<const Fault> attention_faults();

}  // namespace isomer::planted
