#pragma once

#include "lab/ask/trial.hpp"
#include "lab/evidence/variations/numbers.hpp"
#include "lab/findings/finding.hpp"

#include <memory>
#include <string>
#include <vector>

namespace isomer::lab {

/// A candidate that can be called, for experiments on what it does to memory.
struct Subjected {
  const Candidate& candidate;
  const Form& form;
  const Port& port;
  const Dtypes& dtypes;
  std::shared_ptr<const Given> given;  ///< the plain problem
  CallSettings settings;
  std::vector<std::string> set;                       ///< variations that explain its numbers
  std::vector<std::vector<std::string>> rivals = {};  ///< others that no problem told from these
  bool explained = true;                              ///< nothing is left over beside them
  bool memory_safe = true;  ///< the plain calls stayed in their buffers and raced for none
  std::string source = {};  ///< of the candidate, where it is known
  bool stranger = false;    ///< nobody says that it is a port: what it has no room for is a limit
};

/// What probes found. A call that comes to no answer (a crash, a refusal) is a finding too.
struct Probed {
  std::vector<Finding> findings;
  std::vector<std::string> notes;
  std::vector<std::string> inner_only;  ///< arguments whose strides are followed but for the innermost, or
                                        ///< for rows that begin between what is touched at once
  std::vector<std::string> borrowed;    ///< inputs whose strides another input is addressed by
  int calls = 0;
};

/// Strided, offset and padded views of every tensor that the original reads by its strides.
void probe_strides(const Subjected& s, Probed& found);
/// Views whose last rows lie more than 2^31 elements behind the first: an offset that is computed in 32 bits
/// wraps. Their storages have gigabytes, of which only the pages with elements are touched.
void probe_wide_strides(const Subjected& s, Probed& found);
/// Outputs poisoned with two patterns, fresh memory likewise; inputs compared before and after.
void probe_poison(const Subjected& s, Probed& found);
/// Wrong elements of answers that hold what was there before the call: outputs that are left out. Of a tensor
/// that is returned the NaN of fresh memory may be one that threads without an order have made.
void unwritten_elements(const Form& form, const Port& port, const Numbers& numbers,
                        std::vector<Finding>& findings);
/// Sizes round the edges of blocks.
void probe_sizes(const Subjected& s, Probed& found);
/// Sizes that models have, beside small ones.
void probe_larger_sizes(const Subjected& s, Probed& found);
/// Of code with integers of 16 bits a call of more elements than those tell apart, where all else is right.
void probe_narrow_indices(const Subjected& s, Probed& found);
void probe_empty(const Subjected& s, Probed& found);
/// Another order of index tensors must give another answer where the reference's is another.
void probe_indices(const Subjected& s, Probed& found);
/// Other schedules, a second call in one process, and warps of another size (`wide`: built for 64 lanes; null
/// where that is not asked).
void probe_schedule(const Subjected& s, const Candidate* wide, Probed& found);

/// On a real device: more calls with the same arguments, whose answers must have the same bytes, and whose
/// time is held against the original's where that was recorded on the same device.
void probe_measured(const Subjected& s, const std::vector<std::shared_ptr<const Given>>& recorded,
                    Probed& found);

/// The index of the passing by which a role is given as a tensor that keeps its strides; -1: none is.
int passing_of(const Form& form, int role);
/// What people call the parameter that a passing fills.
std::string argument_name(const Subjected& s, int passing);
/// Elements that differ, among those that the op writes and the original does not leave open.
std::size_t different(const Given& given, const std::vector<std::vector<double>>& a,
                      const std::vector<std::vector<double>>& b);
/// Of one output.
std::size_t different(const Given& given, const std::vector<std::vector<double>>& a,
                      const std::vector<std::vector<double>>& b, std::size_t output);

}  // namespace isomer::lab
