#pragma once

#include "lab/capture/joiner.hpp"

#include <filesystem>
#include <string>

namespace isomer::lab {

/// What a file is, by what stands in it; its name decides only for the two formats that NVIDIA's own programs
/// alone can read.
enum class FileKind {
  capture,       ///< Isomer's
  nsys_sqlite,   ///< nsys export --type sqlite
  kineto,        ///< a Chrome or PyTorch trace, .json or .json.gz
  ncu_csv,       ///< ncu --csv
  rocprof_json,  ///< rocprofv3 --output-format json
  rocprof_csv,   ///< rocprofv3 --output-format csv
  rocpd,         ///< rocprofv3's database
  explain,       ///< isomer explain --json
  tensors,       ///< safetensors
  binary,        ///< shared library, executable, cubin, fatbin, AMD code object
  nsys_report,   ///< .nsys-rep
  ncu_report,    ///< .ncu-rep
};

/// Throws Error io for a file that cannot be read or is none of them.
FileKind kind_of_file(const std::filesystem::path& path);

/// Reads any of them that holds launches and gives these on one by one; the result has everything else.
/// Reports of nsys and ncu are exported by these programs where they are on the path. Throws Error io with a
/// sentence for what is broken, and for a report whose program is absent, with the command to run.
Capture read_capture(const std::filesystem::path& path, const LaunchSink& sink);

}  // namespace isomer::lab
