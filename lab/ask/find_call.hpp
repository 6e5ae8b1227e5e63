#pragma once

#include "lab/ask/form.hpp"
#include "lab/ask/trial.hpp"
#include "lab/findings/finding.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace isomer::lab {

/// What the call stage has to go by.
struct CallRequest {
  std::vector<const Port*> ports;  ///< of the op: its originals
  std::string entry;               ///< asked for by name; empty: found out
  std::string function;            ///< that a recording or a label calls; empty: unknown
  std::string source;              ///< of the candidate, where it is known
  /// Recorded calls, by role of a port, with the port that they fit; what callers really pass.
  std::vector<std::shared_ptr<const Given>> recorded;
  const Port* recorded_port = nullptr;
  bool answered = false;  ///< what the recorded calls give is recorded as well
  /// Roles whose 8-bit floats callers pass as bytes of that dtype.
  std::map<int, DType> in_bytes;
  CallSettings settings;
  bool stranger = false;  ///< nobody says that the candidate is a port of the original
  bool any_name = false;  ///< a wrapper calls it, whatever it is called by
};

/// How a candidate can be called, and what had to be adapted for it.
struct Called {
  bool callable = false;
  bool judgeable = true;  ///< false: what is passed is not the whole problem
  const Port* port = nullptr;
  std::shared_ptr<const Port> simpler;  ///< keeps `port`, where it is asked for less than the op's originals
  Form form;
  std::shared_ptr<const Given> given;  ///< the plain problem that it answered
  Dtypes dtypes;                       ///< in which probes are asked
  std::vector<Dtypes> native;          ///< the dtypes that it takes of itself, where those differ
  std::vector<Finding> findings;
  std::vector<std::string> notes;
  std::string launch_note;     ///< the one of them that says which launch was guessed
  std::vector<int> unsure;     ///< parameters whose meaning was found by trial alone
  std::string ambiguous;       ///< which functions could be meant; empty where one is
  std::string unknown_launch;  ///< why nothing can be said of a kernel that nobody launches; empty otherwise
  Trial trial;                 ///< the last call
};

/// Whether nobody says that the entry is called as the original is: neither a caller nor its own names do.
bool is_stranger(const CallRequest& request, const Entry& entry);

/// Whether a function without a name that callers use may be what is meant: what C++ callers alone can reach
/// is not, beside one with C linkage that launches kernels.
bool can_be_the_entry(const Candidate& candidate, const Entry& entry);

/// "two functions can be meant: a(x, y) at line 3 and b(x, z) at line 9: name one with --entry"
std::string several_entries(const std::vector<const Entry*>& entries);

/// Calls the candidate as the original is called; on a refusal adapts one thing at a time (a dtype, a rank,
/// the order, the kind), each of which is a finding with the refusal's own words.
Called find_call(const Candidate& candidate, const CallRequest& request);

}  // namespace isomer::lab
