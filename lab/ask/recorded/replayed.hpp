#pragma once

#include "lab/ask/trial.hpp"
#include "lab/candidate/candidate.hpp"
#include "lab/candidate/recording.hpp"
#include "lab/findings/finding.hpp"
#include "lab/record/facts.hpp"

#include <functional>
#include <memory>
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
  /// One per role; what is returned is zero. Behind them the numbers that the reference computes on its way
  /// in every call of the function, in the order of their names, and then the tensors that it computes in
  /// any, as none where a call has not.
  std::vector<Value> values;
  struct Output {
    std::string name;
    int role = 0;
    int returned = -1;  ///< which of the returned tensors; −1: an argument that is written
    Tensor want;
    Tensor before;              ///< of an argument that is written, as it was given
    bool again = false;         ///< returned, and an argument as well: need not come back
    std::string again_of = {};  ///< which argument that is
    /// Elements that the reference left unset, which are zero in `want`, and no matter; empty: none.
    std::vector<std::uint8_t> open = {};
    /// How far rounding alone moves the reference's elements; empty: by their last digits.
    std::vector<double> noise = {};
    double rtol =
        0;  ///< 0: of its dtype; more where inputs of fewer bits make the reference round on its way
  };
  std::vector<Output> outputs;
  std::vector<Value> kept;      ///< memory of what the outputs want
  std::vector<Value> left_out;  ///< defaults of the reference's that the call makes use of, by their names
  bool empty = false;           ///< an argument has no elements
  bool asks_idle = false;       ///< the recorder asked calls whether they depend on their arguments
  /// Arguments that were made large, and with which the reference gave numbers; none: it was asked nothing.
  std::optional<std::vector<std::string>> may_be_large = {};
  bool shared = false;  ///< several writers are asked for one row
};

/// Seconds of a call of which only its being accepted is looked at.
inline constexpr double kSecondsOfACall = 5;

/// Makes memory of one element of the numbers that the label returns, where an entry over raw memory has a
/// parameter for each beside those of its other results. What it returns otherwise is not compared.
void take_number_results(const Entry& entry, std::vector<Replayed>& calls);

/// Of the memory behind all its arguments.
std::size_t bytes_of(const Replayed& replayed);

/// Whether two elements are one value, NaN being NaN.
bool same_value(double a, double b);

/// The recorded calls that have an answer, and those with values of the recorder's; of a label that gave none
/// those that could be made. `facts` may be null.
std::vector<Replayed> replayed_calls(const Recording& recording, const Facts* facts);
std::vector<Replayed> unanswered_calls(const Recording& recording);

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
  /// Seconds of the clock that its calls may still take together; none: whatever they take. A call for which
  /// nothing is left comes back as one that was not in time.
  std::shared_ptr<double> left;
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

/// The call with memory for what the label returns that no answer is near to: NaN, or −1.
Replayed with_poison(const Replayed& replayed);

/// The calls of one signature, as they are asked, and what came of them.
struct AnsweredGroup {
  Approach approach;
  std::vector<Replayed> calls;
  std::vector<CallOutcome> outcomes;
  bool right() const;
};

/// What never ends, or takes all there is, is not asked again: each costs the whole limit.
bool lost(const CallOutcome& outcome);

/// How far an answer of that type may be off, relatively.
double rtol_of(DType dtype);

/// The user's relative tolerance, or that of the output where the user states none.
double rtol_for(const Approach& approach, const Replayed::Output& output);

/// Within `bound` of each other; NaN for NaN, infinity for the same infinity.
bool is_close(double want, double got, double bound);

/// How far every element of an answer may be off: `rtol` of itself and of the size of its row, since what a
/// sum cancels to is no more exact than what was added. A given `atol` takes the row's place.
std::vector<double> bounds_of(const Tensor& want, const std::vector<double>& elements, double rtol,
                              double atol);
/// The same of an output's elements, as it is approached; by what rounding moves the reference's where that
/// is more, unless the user states a tolerance.
std::vector<double> bounds_of(const Approach& approach, const Replayed::Output& output,
                              const std::vector<double>& elements);

}  // namespace isomer::lab
