#pragma once

#include "lab/ask/port.hpp"
#include "lab/candidate/candidate.hpp"
#include "lab/candidate/filled_locals.hpp"
#include "lab/candidate/folder.hpp"
#include "lab/candidate/recording.hpp"
#include "lab/findings/finding.hpp"
#include "lab/judge/exchanged.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace isomer::lab {

/// What a candidate is held against.
struct DiagnoseRequest {
  std::string op;        ///< empty: found by the names of functions
  std::string entry;     ///< asked for by the user or case.toml; empty: found out
  std::string function;  ///< that the label defines and the test calls; empty: unknown
  std::shared_ptr<const Recording> recording;
  double rtol = 0, atol = 0;       ///< for an op that is not known; 0: 1e-3 of a 16-bit type, 1e-5 of f32
  std::vector<std::string> texts;  ///< of instruction, label and test: what they call the axes
  /// Nobody says that it is a port of the op's original: what well-known kernels do otherwise is a
  /// convention.
  bool stranger = false;
  std::string source;  ///< of the candidate, for places only
  std::string source_file;
  bool current_stream = false;  ///< the instruction demands PyTorch's current stream
  bool narrow_warps = false;    ///< the instruction asks for warps of 32 lanes
  CallSettings settings;
  /// The same candidate built for warps of 64 lanes; null where that makes no difference.
  std::function<std::shared_ptr<const Candidate>()> wide;
  /// The same candidate built so that a shuffle downwards gives each lane the whole of a reduction; null
  /// where it has no such shuffle.
  std::function<std::shared_ptr<const Candidate>()> whole_shuffles;
  /// The same candidate built so that its local variables begin in one way; null where the source adds to
  /// none that has no first value.
  FilledLocals with_locals;
  /// The same candidate with expressions that can be exchanged; null where none can.
  Exchanging exchanging;
  bool every_edit = false;  ///< edits are looked for beside a cause that is known

  /// Whether the instruction names that function; without one it is a wrapper's matter what it is called by.
  bool asks_for(const std::string& name) const {
    return texts.size() == 3 && texts[0].find(name) != std::string::npos;
  }
};

/// The stages call and exec of a candidate that compiles: what it is, what is wrong with it, and why.
Diagnosis diagnose(const Candidate& candidate, const DiagnoseRequest& request);

/// Every candidate of a folder, in order, from source to findings; and, with the first, what is wrong with
/// test and instruction. Compiled with the includes and definitions of case.toml, for that backend.
/// `jobs`: how many cores the folder has to itself, for candidates and builds at once.
std::vector<Diagnosis> diagnose_folder(const CaseFolder& folder, Backend backend = Backend::emulated,
                                       int jobs = 1);

/// The op whose original has one of those functions; empty where none has.
std::string op_of_functions(const std::vector<std::string>& functions);

/// Top-level functions that a Python source defines, in order.
std::vector<std::string> python_functions(const std::string& source);

}  // namespace isomer::lab
