#pragma once

#include "lab/ask/names/named_sizes.hpp"
#include "lab/ask/trial.hpp"
#include "lab/candidate/candidate.hpp"
#include "lab/candidate/recording.hpp"
#include "lab/evidence/recorded/patterns/patterns.hpp"
#include "lab/findings/finding.hpp"
#include "lab/record/facts.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

/// Calls of an op of which nothing is known but what the label was called with and gave.
namespace isomer::lab {

/// One recorded call, as a form passes it: its arguments and, behind them, what it returned.
struct Replayed {
  const RecordedCall* call = nullptr;
  std::string line;
  std::vector<Port::Role> roles;
  std::vector<Value> values;  ///< one per role; what is returned is zero
  struct Output {
    std::string name;
    int role = 0;
    int returned = -1;  ///< which of the returned tensors; −1: an argument that is written
    Tensor want;
    Tensor before;       ///< of an argument that is written, as it was given
    bool again = false;  ///< returned, and an argument as well: need not come back
    /// Elements that the reference left unset, which are zero in `want`, and no matter; empty: none.
    std::vector<std::uint8_t> open = {};
    double rtol =
        0;  ///< 0: of its dtype; more where inputs of fewer bits make the reference round on its way
  };
  std::vector<Output> outputs;
  std::vector<Value> kept;      ///< memory of what the outputs want
  std::vector<Value> left_out;  ///< defaults of the reference's that the call makes use of, by their names
  bool empty = false;           ///< an argument has no elements
  bool shared = false;          ///< several writers are asked for one row
};

/// Seconds of a call of which only its being accepted is looked at.
inline constexpr double kSecondsOfACall = 5;

/// Of the memory behind all its arguments.
std::size_t bytes_of(const Replayed& replayed);

/// Whether two elements are one value, NaN being NaN.
bool same_value(double a, double b);

/// The recorded calls that have an answer, and those with values of the recorder's; of a label that gave none
/// those that could be made. `facts` may be null.
std::vector<Replayed> replayed_calls(const Recording& recording, const Facts* facts);
std::vector<Replayed> unanswered_calls(const Recording& recording);

/// How an entry is called with a recorded call's arguments, by place, by name and by kind; what had to be
/// adapted for it; and the whole numbers of which the names say nothing.
struct Bound {
  Form form;
  std::vector<Finding> findings;
  std::vector<int> unsure;
};
Bound bind_call(const Entry& entry, const Replayed& replayed, const NamedSizes& sizes = {});

/// The form with what is passed by place brought to the parameters of the same names, and the finding that
/// says so: where those are the same names in another order.
std::optional<Bound> in_order_of_names(const Form& form, const Replayed& replayed);

/// Of several functions that are exported under the entry's name the first that takes the call as it is, as
/// pybind11 chooses; the entry itself where none does.
const Entry& overload_for(const Candidate& candidate, const Entry& entry, const Replayed& replayed,
                          const CallSettings& settings);

/// Something that is done to a call so that the candidate's answer is right: a fault, if it helps.
struct Adaptation {
  std::function<void(std::vector<Value>& values)> before;  ///< of copies; null: nothing
  std::function<std::vector<double>(const Replayed::Output&, std::vector<double>)> after;  ///< null: nothing
  Finding finding;
};

/// How the candidate is called by now.
struct Approach {
  const Candidate* candidate = nullptr;
  Form form;
  std::vector<Adaptation> adaptations;
  CallSettings settings;
  double rtol = 0, atol = 0;
};

/// What came of one call. Per output: its elements in row-major order of the reference's shape, or none.
struct CallOutcome {
  Answer answer;
  std::vector<Value> values;             ///< what came back, per output
  std::vector<std::vector<double>> got;  ///< empty where nothing, or another number of elements, came back
  std::vector<std::size_t> wrong;        ///< elements outside of the tolerance
  std::size_t elements = 0;
  std::size_t right_outputs() const;
  bool right() const { return answer.ok() && right_outputs() == wrong.size(); }
  double share() const;
};
CallOutcome replay_once(const Approach& approach, const Replayed& replayed);

/// What never ends, or takes all there is, is not asked again: each costs the whole limit.
bool lost(const CallOutcome& outcome);

/// Takes the calls of smaller sizes out of `asked`: those that the reference was asked beside large `calls`.
std::vector<Replayed> take_smaller(std::vector<Replayed>& asked, const std::vector<Replayed>& calls);
/// Puts those in the place of the calls that they stand for, and gives these.
std::vector<Replayed> stood_for(std::vector<Replayed>& calls, const std::vector<Replayed>& smaller);

/// Whole numbers that no caller passes (`unsure`) are sizes: those with which nothing is accessed outside,
/// most is written, and most of that is right. Two at once: one that is wrong hides the other.
void find_sizes(Approach& approach, const std::vector<Replayed>& calls, const std::vector<int>& unsure);

/// The user's relative tolerance, or that of the output where the user states none.
double rtol_for(const Approach& approach, const Replayed::Output& output);

/// How far every element of an answer may be off: `rtol` of itself and of the size of its row, since what a
/// sum cancels to is no more exact than what was added. A given `atol` takes the row's place.
std::vector<double> bounds_of(const Tensor& want, const std::vector<double>& elements, double rtol,
                              double atol);

/// The arguments after which `replay_once` goes wrong, one after the other: which of the experiments makes
/// them right. Adds to `approach` and to `findings`.
void experiment(Approach& approach, const std::vector<Replayed>& calls, std::vector<CallOutcome>& outcomes,
                std::vector<Finding>& findings);

/// Where an output is wrong in just the rows of which some count, a length, is 0, or no multiple of a tile:
/// the finding that this is; empty code where there is no such count. `wrong`: per element, row-major.
Finding rows_by_count(const Replayed& replayed, const Tensor& want, const std::vector<std::uint8_t>& wrong);
/// Places of equal values that are others than the reference's: a finding, or none (no code).
Finding other_of_equals(const Replayed& replayed, std::size_t output, const std::vector<double>& got);

/// Rows that are taken from where an index points instead of put there, or the reverse: a finding, or none.
Finding other_side_of_index(const Replayed& replayed, std::size_t output, const std::vector<double>& got,
                            const Facts* facts);

/// What an argument has no influence on although the answer is wrong, or although the label indexes by it.
/// Whether an element of an answer changes with a tensor, in reverse order or all alike.
bool depends_on(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                std::size_t role);
void probe_ignored(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                   const Facts* facts, std::vector<Finding>& findings);
/// What the inputs say of an output that is wrong for a reason unknown: wrong where an input has one value,
/// or off by a function of an input.
Finding pattern_of_inputs(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                          std::size_t output);
/// An answer that is the reference and a multiple of something more: of one, of an input, of a product of
/// two.
Finding missing_term(const Replayed& replayed, std::size_t output, const std::vector<double>& got);
/// What candidates that are right so far do with values that no recorded call has, of which the reference was
/// asked as well: exponentials that overflow, an epsilon that counts. Small differences are no matter there.
void ask_beyond(const Approach& approach, const std::vector<Replayed>& asked, std::vector<Finding>& findings);
/// What they do with sizes that no recorded call has, of which the reference was asked: ends that no whole
/// block covers, and sizes that are refused. `calls`: the recorded ones. `all_right`: each of them is;
/// otherwise only what is wrong for one size and right for another near it is told.
void ask_sizes(const Approach& approach, const std::vector<Replayed>& calls,
               const std::vector<Replayed>& asked, bool all_right, std::vector<Finding>& findings);
/// Exponentials that overflow for large inputs, of a label that takes a maximum before its own.
void probe_overflow(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                    const Facts* facts, std::vector<Finding>& findings);
/// Sums of exponentials that are not rescaled when a larger maximum comes, of a label that takes one: they
/// are right where the maximum of each row comes first. Whether that is so.
bool probe_rescale(const Approach& approach, const std::vector<Replayed>& calls,
                   const std::vector<CallOutcome>& outcomes, const Facts* facts,
                   std::vector<Finding>& findings);
/// Of an answer that nothing else explains: vectors that reach it along another dimension than the one that
/// is as long as they are, the ends of inputs that do not reach it at all, and of an original with a
/// `softmax` causal masks that begin with the first key where it begins later.
void probe_influence(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                     bool softmax, std::vector<Finding>& findings);
/// Whether a wrong answer is that of counts, as lengths of sequences, without their last, partial block.
void probe_short_blocks(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                        std::vector<Finding>& findings);
/// Whether the last bits of f32 inputs have no influence on an answer that is wrong: operands made narrower.
void probe_ignored_bits(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                        std::vector<Finding>& findings);
/// Strides that the label takes as they are, and the candidate does not: it is called with views of the
/// recorded values. What it refuses is left to it.
void probe_views(const Approach& approach, const std::vector<Replayed>& calls,
                 const std::vector<CallOutcome>& outcomes, std::vector<Finding>& findings);
/// Arguments that the line of a first overrun overruns as well: a thread ends with the first. Called again
/// with room around that argument it gets on to the next.
void probe_overruns(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                    std::vector<Finding>& findings);
/// Elements that nothing writes, and calls that depend on those before them.
void probe_memory(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                  std::vector<Finding>& findings);

}  // namespace isomer::lab
