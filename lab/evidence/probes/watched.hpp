#pragma once

#include "lab/ask/trial.hpp"
#include "lab/findings/finding.hpp"

#include <functional>
#include <string>
#include <vector>

/// What the emulator or a device says of a call beside its answer.
namespace isomer::lab {

struct Called;
struct Probed;

/// The other fill of fresh memory: large in every type, where the first, all ones, is NaN, or −1, beside
/// which a maximum is as right as beside 0.
constexpr std::uint8_t kLargePoison = 0x7b;
/// Far below zero in every float: what a maximum is begun with.
constexpr std::uint8_t kNegativePoison = 0xfb;

/// A call that was made, as far as what is seen in it depends on that.
struct CallMade {
  std::string line;
  bool empty = false;         ///< there is nothing to do
  bool many_writers = false;  ///< several threads are asked to write one element
  bool made = false;          ///< its inputs are no recorded ones
};

/// What the emulator saw in a call, and the launches that a device would refuse.
void findings_of_device(const Answer& answer, const CallMade& call, std::vector<Finding>& list);
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

}  // namespace isomer::lab
