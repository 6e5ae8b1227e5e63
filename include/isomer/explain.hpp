#pragma once

#include <isomer/export.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// What a call would run, decided before anything runs. Each op's header has an explain() beside the op
/// itself, with the same arguments; it validates them like the op, throws like it, and writes nothing.
namespace isomer {

/// Named values in a fixed order.
using Named = std::vector<std::pair<std::string, std::string>>;

/// Compiled code of a kernel.
struct Binary {
  std::string source = "built in";  ///< on a GPU: bundle, cache or compiled, and empty before it is loaded
  std::string hash = {};            ///< SHA-256 of the image
  int registers = -1;               ///< of one thread; −1 unknown
  std::int64_t spill_bytes = -1;    ///< of one thread; −1 unknown
  double seconds = 0;               ///< spent on finding, compiling and loading it
  std::string not_kept = {};        ///< why the cache has not taken what was compiled; else empty
};

/// One launch of a kernel.
struct Launch {
  std::string kernel;                            ///< its name
  std::array<std::int64_t, 3> grid{1, 1, 1};     ///< on the CPU: tasks
  std::array<std::int64_t, 3> block{1, 1, 1};    ///< threads
  std::array<std::int64_t, 3> cluster{1, 1, 1};  ///< blocks that run together
  std::int64_t shared_bytes = 0;                 ///< on the CPU: scratch of one thread
  Binary binary = {};                            ///< on a GPU, once the kernel is loaded
};

/// A plan in words. `isomer explain` and launch records have the same names.
struct Description {
  Named variant;                 ///< compile-time parameters
  Named parameters;              ///< run-time sizes and scalars
  Named constants;               ///< what was derived from them
  std::vector<Launch> launches;  ///< in their order
};

/// What a call would run, and why.
struct Explanation {
  /// Why an implementation does not take the call.
  struct Refusal {
    std::string implementation;  ///< "cuda/sm90"
    std::string reason;          ///< in words
  };
  std::string op;                   ///< "attention"
  std::string implementation;       ///< that would run: the first that takes the call; empty where none does
  std::vector<Refusal> refusals;    ///< of those that were asked before it
  Description description;          ///< of the plan; empty where no implementation takes the call
  std::size_t workspace_bytes = 0;  ///< that a run works in
};

/// One JSON object, on one line, with the names of `isomer explain --json`: version, op, implementation,
/// refusals, variant, parameters, constants, launches (registers null where unknown), workspace_bytes.
ISOMER_API std::string to_json(const Explanation& explanation);

}  // namespace isomer
