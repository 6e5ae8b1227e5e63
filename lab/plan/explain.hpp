#pragma once

#include "core/registry.hpp"
#include "gpu/tuned.hpp"
#include "lab/plan/backend.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace isomer::lab {

/// What `isomer explain` was asked for.
struct ExplainSelection {
  std::string line;
  std::string backend = "cpu";  ///< as parse_backend() takes it
  std::string implementation;   ///< forces one; empty lets the registry choose
  bool compile = false;         ///< kernels that are stored nowhere too; the cache keeps them
  std::string like;             ///< "fa3": what that library would choose, too
};

/// What only the image tells of a launch's code, as `isomer trace` tells it of a kernel that ran.
struct LaunchCode {
  std::string hash;                 ///< of the kernel's machine code alone; empty: unknown
  std::int64_t shared_static = -1;  ///< of launch.shared_bytes; −1 unknown
};

/// What another library would choose for the case, beside the plan.
struct Beside {
  struct Row {
    std::string name, theirs, ours;  ///< the last empty where the plan does not say
  };
  std::string library;    ///< "FlashAttention-3"; empty where nobody asked
  std::string reason;     ///< why it does not take the case
  std::vector<Row> rows;  ///< none in that event
};

/// The plan for one case, nothing run.
struct CaseExplanation {
  std::string line;
  std::string backend;       ///< "cpu", "cuda:0", "emulated-32", "sm_90a"
  std::string architecture;  ///< empty on the CPU
  Explanation plan;
  std::vector<LaunchCode> code = {};            ///< on a GPU, of each launch
  std::vector<gpu::Candidate> candidates = {};  ///< on a GPU, where the plan could have been another
  Beside beside = {};
};

/// Plans a case line for a backend, whether its device is here or not. On a GPU each launch says what is
/// known of its code: from the bundle or the cache, or once it is compiled. Throws Error bad_argument for a
/// malformed line, an unknown implementation or backend; unsupported where a kernel cannot be compiled.
CaseExplanation explain(const ExplainSelection& selection);

}  // namespace isomer::lab
