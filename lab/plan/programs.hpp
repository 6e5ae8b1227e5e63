#pragma once

#include "gpu/plan.hpp"
#include "lab/plan/backend.hpp"
#include "oracle/oracle.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// The op's implementations for that vendor's devices, in the order in which they are asked.
std::vector<const gpu::Implementation*> implementations_for(const std::string& op, const gpu::Vendor& vendor);

/// A program, and the first case that needs it.
struct Wanted {
  PlanDevice backend;
  gpu::Program program;
  std::string op, implementation, line;
};

/// A case that an implementation does not take.
struct Refused {
  std::string architecture, implementation, line, reason;
};

/// Which programs are looked for. Empty lists mean all, but for the backends.
struct ProgramSelection {
  std::vector<PlanDevice> backends;  ///< none of them the CPU
  std::vector<std::string> ops;
  std::vector<std::string> implementations;  ///< "cuda/portable", or "cuda" for all of a backend
  std::vector<oracle::Case> cases;           ///< they take the place of the ordinary lists
  int sample = 0;  ///< so many programs of each kernel for each architecture, spread over its list; 0: all
  int jobs = 0;    ///< cases at once; 0: one per CPU
};

struct Programs {
  std::vector<Wanted> wanted;  ///< each once for an architecture, by architecture, then in the order of cases
  std::vector<Refused> refused;
  int planned = 0;   ///< plans that were made
  int untaken = 0;   ///< cases that no implementation of a backend takes
  int left_out = 0;  ///< programs that a sample does not hold
};

/// Plans each case for each backend with every implementation that takes it: no device is asked for, nothing
/// runs. Throws Error bad_argument for an unknown op and for a case of `cases` that cannot be made.
Programs programs_of(const ProgramSelection& selection);

}  // namespace isomer::lab
