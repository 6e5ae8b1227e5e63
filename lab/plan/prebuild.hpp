#pragma once

#include "gpu/binary.hpp"
#include "lab/plan/programs.hpp"

#include <functional>
#include <string>
#include <vector>

namespace isomer::lab {

/// Compiles with the vendor's own compiler, or for hip with hipcc where there is no hipRTC. Throws Error
/// unsupported where there is neither, internal with the compiler's complaint.
gpu::Binary compile_for(const PlanDevice& backend, const gpu::Program& program);

/// A program that was compiled, or why it was not.
struct Built {
  Wanted wanted;
  gpu::Resources resources;
  std::size_t image_bytes = 0;
  std::string compiler, hash;
  double seconds = 0;
  std::string failure;  ///< one sentence; empty where it was compiled

  /// The vendor says that a thread's registers did not suffice.
  bool spills() const { return resources.spill_bytes > 0; }
  /// Or it says that products of a warpgroup, which should run beside the threads, wait for one another.
  bool falls_short() const { return spills() || resources.serialized; }
};

/// Called after each program with the number done and the number in all; from any thread, one at a time.
using BuildProgress = std::function<void(int done, int all, const std::string& program)>;

/// Compiles each program for its architecture and stores it in the folder, which a later process reads as
/// ISOMER_BUNDLE: no device is needed. hip's programs are compiled by hipRTC where it is installed, else by
/// hipcc. A program that does not compile is told and the others go on. Throws Error unsupported where there
/// is no compiler for one of the vendors, io where the folder cannot be written.
std::vector<Built> prebuild(const std::vector<Wanted>& programs, const std::string& folder, int jobs,
                            const BuildProgress& progress = {});

/// The cases of a file of case lines, one a line; # begins a comment. Throws Error io or bad_argument for a
/// file that cannot be read, is something else or has no case.
std::vector<oracle::Case> read_variants(const std::string& file);

}  // namespace isomer::lab
