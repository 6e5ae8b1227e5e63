#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace isomer::lab {

/// One parameter's bytes at a launch.
struct ArgumentBytes {
  std::uint32_t offset = 0;  ///< in the parameter buffer
  std::vector<std::uint8_t> bytes;
  /// Which 8-byte words are addresses: offset in `bytes` → "allocation ordinal+offset" or "null".
  std::map<std::uint32_t, std::string> pointers;
};

/// One kernel launch of a program, from whatever source. What the source does not know is absent.
struct Launch {
  std::string name;  ///< mangled where known
  std::string demangled;
  std::optional<std::array<std::uint32_t, 3>> grid, block, cluster;
  std::optional<std::uint64_t> shared_dynamic, shared_static, local_bytes;
  std::optional<std::uint32_t> registers;         ///< of a thread; AMD: vector registers
  std::optional<std::uint32_t> scalar_registers;  ///< of a wave, which AMD counts apart
  std::optional<std::uint64_t> stream, correlation, graph_node;
  std::optional<std::uint64_t> device, process, thread;
  std::optional<double> start_ns, duration_ns;
  std::string code_hash;  ///< of the kernel's machine code; empty: unknown
  std::string module;     ///< where the code comes from: a file, "jit", an image's hash
  bool cooperative = false, programmatic = false, captured = false;
  std::vector<ArgumentBytes> arguments;
  bool arguments_known = false;
  std::map<std::string, std::string> variant;     ///< compile-time parameters, named (Isomer's own records)
  std::map<std::string, std::string> parameters;  ///< run-time parameters, named
  std::map<std::string, double> metrics;          ///< ncu's
  std::string operation;  ///< the framework's operator that made it, with its shapes where they are told
};

/// What a source can tell, so that a difference is never read into what is absent.
struct Capture {
  std::string source;  ///< the file
  std::string kind;    ///< "isomer", "nsys", "kineto", "ncu", "rocprofv3", "explain"
  std::string command;
  /// Versions, overhead; "device", its "multiprocessors" and "arch" ("sm_90").
  std::map<std::string, std::string> facts;
  std::vector<Launch> launches;  ///< in order of start, else of recording
  bool complete = true;
  std::string incomplete;  ///< why not
  std::uint64_t dropped = 0;
};

/// "132x1x1"; empty where it is not known.
std::string triple_text(const std::optional<std::array<std::uint32_t, 3>>& values);

}  // namespace isomer::lab
