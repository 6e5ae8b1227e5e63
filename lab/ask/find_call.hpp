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
  /// Recorded calls, by role of a port, with the port that they fit; what callers really pass.
  std::vector<std::shared_ptr<const Given>> recorded;
  const Port* recorded_port = nullptr;
  bool answered = false;  ///< what the recorded calls give is recorded as well
  /// Roles whose 8-bit floats callers pass as bytes of that dtype.
  std::map<int, DType> in_bytes;
  CallSettings settings;
  bool stranger = false;  ///< nobody says that the candidate is a port of the original
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

/// The form with one thing changed, and the finding that it is if it helps.
struct Change {
  Form form;
  Finding finding;
};
/// Casts, ranks, orders and axes that differ in one thing from the form, the likeliest by `message` first. Of
/// an op that is not known the roles are the arguments of a recorded call.
std::vector<Change> changes(const Form& form, const std::vector<Port::Role>& roles,
                            const std::vector<Value>& values, const std::string& message);
std::vector<Change> changes(const Form& form, const Port& port, const Given& given,
                            const std::string& message);

/// Calls, and adapts one thing after the other for as long as the call is refused; whether it came to an
/// answer. What was adapted is in `called`, steps that led nowhere are not.
bool adapt_to_refusals(const Candidate& candidate, const CallRequest& request, Called& called);

/// Parameters (`unsure`, whole numbers) of which the names say nothing, found by trial: what gives most of
/// the right answer, writes most of it, and strays nowhere. Two at once: one that is wrong hides the other.
void try_numbers(const Candidate& candidate, const CallRequest& request, const std::vector<int>& unsure,
                 Called& called);

/// What speaks for a way of calling: the share of right answers, 0.4 for writing all of them, -0.9 for
/// straying.
double worth(const Given& given, const Trial& trial);

/// A stranger's function that is wrong on the plain problem: whether it is right where it is asked for less:
/// for no more than its parameters can say (as many heads of k as of q, one length), for tensors without
/// leading axes, or for sizes for which alone many kernels are written. What it is asked later is as simple.
void try_simpler(const Candidate& candidate, const CallRequest& request, Called& called);

/// Whether a function takes tensors, whose shapes say what it is asked.
bool takes_tensors(const Entry& entry);
/// Whether a call went past the ends of its buffers.
bool strays(const Trial& trial);

/// The sentence for a kernel of which nobody says how it is launched.
std::string launch_is_unknown(const std::string& kernel);
/// Of a kernel of which nobody says how it is launched: the geometry that the problem suggests and that fits.
void find_launch(const Candidate& candidate, const CallRequest& request, Called& called);

/// Where one element alone is passed of a tensor, what that answers is not the whole: with one element it is.
void judge_kinds(const Candidate& candidate, const CallRequest& request, Called& called);
/// A tensor that is read beyond its end, and rightly where it has a dimension more than it has.
void adapt_to_rank(const Candidate& candidate, const CallRequest& request, Called& called);

/// What a refusal is about, by its words.
bool is_about_rank(const std::string& message);
bool is_about_dtype(const std::string& message);

/// Share of the elements on which the original is not open that are right.
double share_right(const Given& given, const Trial& trial);
/// Whether elements that are to be written hold what they held before.
bool leaves_out(const Given& given, const Trial& trial);
/// The correlation of the answer with the right one: a fault leaves much of it, another order of axes
/// nothing.
double correlation(const Given& given, const Trial& trial);

}  // namespace isomer::lab
