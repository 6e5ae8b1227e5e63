#pragma once

#include "lab/ask/trial.hpp"
#include "lab/evidence/variations/numbers.hpp"
#include "lab/findings/finding.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace isomer::lab {

struct Called;

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
};

/// What probes found. A call that comes to no answer (a crash, a refusal) is a finding too.
struct Probed {
  std::vector<Finding> findings;
  std::vector<std::string> notes;
  std::vector<std::string> inner_only;  ///< arguments of which the innermost stride alone is ignored
  std::vector<std::string> borrowed;    ///< inputs whose strides another input is addressed by
  int calls = 0;
};

/// The other fill of fresh memory: large in every type, where the first, all ones, is NaN, or −1, beside
/// which a maximum is as right as beside 0.
constexpr std::uint8_t kLargePoison = 0x7b;
/// Far below zero in every float: what a maximum is begun with.
constexpr std::uint8_t kNegativePoison = 0xfb;

/// Strided, offset and padded views of every tensor that the original reads by its strides.
void probe_strides(const Subjected& s, Probed& found);
/// Views whose last rows lie more than 2^31 elements behind the first: an offset that is computed in 32 bits
/// wraps. Their storages have gigabytes, of which only the pages with elements are touched.
void probe_wide_strides(const Subjected& s, Probed& found);
/// Outputs poisoned with two patterns, fresh memory likewise; inputs compared before and after.
void probe_poison(const Subjected& s, Probed& found);
/// Wrong elements of answers that hold what was there before the call: outputs that are left out.
void unwritten_elements(const Port& port, const Numbers& numbers, std::vector<Finding>& findings);
/// Sizes round the edges of blocks.
void probe_sizes(const Subjected& s, Probed& found);
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

/// What the emulator saw in a call, and the launches that a device would refuse. `empty`: of a call with
/// nothing to do. `shared`: of one in which several threads are asked to write one element.
void findings_of_device(const Answer& answer, const std::string& line, bool empty, bool shared,
                        std::vector<Finding>& list);
void findings_of_device(const Answer& answer, const Given& given, std::vector<Finding>& list);
/// Of a source whose right answers came without a launch, or come as well where no thread of its kernels runs
/// (`idle`, which is asked where it launches any): that no kernel of its own computes them. Nothing of a
/// prebuilt library, and of a source that is for no device.
void tell_no_kernel(const Candidate& candidate, const Entry& entry, const std::vector<Answer>& answers,
                    const std::function<bool()>& idle, std::vector<Finding>& list);
/// Whether a call gives the same answer, one that could not be told by chance, where no thread of its kernels
/// runs.
bool is_same_without_kernels(const Candidate& candidate, const Called& called, CallSettings settings);
/// Whether the answer has the same bytes in other orders of threads. NaN is no answer.
bool is_same_in_every_order(const Candidate& candidate, const Called& called, CallSettings settings);
/// Whether what a device refuses for an empty tensor is refused in the same words for others.
bool refused_anyway(const Finding& of_empty, const std::vector<Finding>& findings);
/// How many calls in one process show that a call leaves nothing behind for later ones: ten and the one that
/// is looked at, since what counts calls or fills something up has done so by then; two of one that takes
/// long.
int calls_for_state(const Answer& first, const CallSettings& settings);
std::string calls_before(
    const CallSettings& settings);  ///< "10 calls": those before the one that is looked at
/// Of repeated calls, of which the earlier ones are of zeros: only that one writes what another returned.
void results_of_device(const Answer& answer, const std::string& line, std::vector<Finding>& list);
/// Work on the default stream where PyTorch's current one may be another: a finding where the instruction
/// demands the current one, otherwise a note.
void streams_of_device(const Answer& answer, const std::string& line, bool demanded, Probed& found);
/// Why a call came to no answer: a crash, a timeout, a limit, a refusal.
Finding finding_of_end(const Answer& answer, const std::string& line);

/// The text with the folder of a place's file taken out: a line of a report is read by people.
std::string without_folders(std::string text, const SourcePlace& place);

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

/// Keeps one finding of each code, argument and place, the first.
void add_once(std::vector<Finding>& list, Finding finding);

}  // namespace isomer::lab
