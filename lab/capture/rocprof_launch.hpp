#pragma once

#include "lab/capture/capture.hpp"

namespace isomer::lab {

/// rocprofv3 counts a grid in work-items: from now on it is counted in blocks, as everywhere else.
inline void count_in_blocks(Launch& launch) {
  if (!launch.grid || !launch.block) return;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint64_t block = (*launch.block)[i] == 0 ? 1 : (*launch.block)[i];
    (*launch.grid)[i] = static_cast<std::uint32_t>(((*launch.grid)[i] + block - 1) / block);
  }
}

/// In ns; of a kernel that never ended both are 0.
inline void set_times(Launch& launch, std::optional<std::int64_t> begin, std::optional<std::int64_t> end) {
  if (begin) launch.start_ns = static_cast<double>(*begin);
  if (begin && end && *begin > 0 && *end >= *begin) launch.duration_ns = static_cast<double>(*end - *begin);
}

/// The code object's name of a kernel, as mangled as it is, without the mark of its descriptor.
inline void set_name(Launch& launch, std::string name) {
  for (const char* mark : {".kd", " [clone .kd]"})
    if (name.ends_with(mark)) name.resize(name.size() - std::string(mark).size());
  (name.starts_with("_Z") ? launch.name : launch.demangled) = std::move(name);
}

}  // namespace isomer::lab
