#include "lab/ask/adapting/adapting.hpp"

#include "lab/ask/adapting/changes.hpp"
#include "lab/ask/adapting/refusal.hpp"
#include "lab/ask/nearness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace isomer::lab {
namespace {

constexpr int kSteps = 10;     ///< things that are adapted one after the other
constexpr int kAttempts = 48;  ///< calls for one of them

std::string first_line(const std::string& text) {
  return fmt::format("{:.200}", std::string_view(text).substr(0, text.find('\n')));
}

/// The finding of a change that helped, with what the refusal said.
Finding with_refusal(Finding finding, const Answer& refusal, const Form& form, const Given& given) {
  const std::string said = first_line(refusal.message);
  std::string now;
  for (std::size_t i = 0; i < form.passings.size() && i < form.entry->parameters.size(); ++i)
    if (form.entry->parameters[i].name == finding.argument) now = describe(passed(form, given.values)[i]);
  finding.evidence += fmt::format(" and the call is refused: \"{}\"", said);
  if (!now.empty()) finding.evidence += fmt::format("; given as {}, it is accepted", now);
  finding.location = refusal.place;
  finding.unknown_element = refusal.unknown_element;
  return finding;
}

class Adapting {
 public:
  Adapting(const Candidate& candidate, const CallRequest& request, Called& called)
      : candidate_(candidate), request_(request), called_(called) {}

  bool run() {
    called_.trial = call(called_.form);
    const Trial first = called_.trial;
    for (int step = 0; step < kSteps && refused(called_.trial); ++step) {
      seen_.insert(refusal(called_.trial.answer));
      if (!improve()) break;
    }
    const bool answered = called_.trial.answer.ok();
    // Steps that lead nowhere are guesses, but for those that the refusals named.
    if (refused(called_.trial) && !guessed_.empty()) {
      for (std::size_t i = guessed_.size(); i-- > 0;)
        called_.findings.erase(called_.findings.begin() + static_cast<std::ptrdiff_t>(guessed_[i]));
      called_.trial = first;
    }
    return answered;
  }

 private:
  static bool refused(const Trial& trial) {
    return trial.answer.end == Answer::End::refused || trial.answer.end == Answer::End::not_callable;
  }
  Trial call(const Form& form) const {
    return try_call(candidate_, form, *called_.port, *called_.given, request_.settings);
  }
  void take(Change change, Trial trial) {
    const std::string& said = called_.trial.answer.message;
    if (!names_argument(said, change.finding.argument) && !tells_the_dtype(said))
      guessed_.push_back(called_.findings.size());
    called_.findings.push_back(
        with_refusal(std::move(change.finding), called_.trial.answer, change.form, *called_.given));
    called_.form = std::move(change.form);
    called_.trial = std::move(trial);
  }

  /// One change that makes the call return, or that is refused for another reason than those before.
  bool improve() {
    std::vector<Change> list =
        changes(called_.form, *called_.port, *called_.given, called_.trial.answer.message);
    std::size_t fallback = list.size();
    Trial fallback_trial;
    int attempts = 0;
    for (std::size_t i = 0; i < list.size() && attempts++ < kAttempts; ++i) {
      Trial trial = call(list[i].form);
      if (trial.answer.ok()) {
        take_better(list, i, std::move(trial));
        return true;
      }
      // Another refusal is a step on the way only after a step that a refusal can ask for.
      const Code code = list[i].finding.code;
      const bool asked_for =
          code == Code::dtype_refused || code == Code::rank_refused || code == Code::assumes_contiguous;
      const bool another = code == Code::argument_kind
                               ? refused(trial)
                               : asked_for && trial.answer.end == Answer::End::refused;
      // What the device refused to launch is no matter of types and ranks, unless the call returns then.
      if (another && called_.trial.answer.refused_launches.empty() &&
          seen_.count(refusal(trial.answer)) == 0 && fallback == list.size() &&
          !still_about(trial.answer.message, list[i].finding)) {
        fallback = i;
        fallback_trial = std::move(trial);
        // What the message itself asked for needs no look at everything else.
        if (attempts <= 4 && names_argument(called_.trial.answer.message, list[i].finding.argument)) break;
      }
    }
    if (fallback == list.size()) return false;
    take(std::move(list[fallback]), std::move(fallback_trial));
    return true;
  }

  /// Elements that were written at all: of numbers that are wrong for another reason too, the call with most
  /// of them is the likeliest.
  static std::size_t touched(const Trial& trial) {
    std::size_t count = 0;
    for (const std::vector<std::uint8_t>& untouched : trial.untouched)
      count += static_cast<std::size_t>(std::count(untouched.begin(), untouched.end(), 0));
    return count;
  }

  /// Of several ways to mend one thing (where a dimension is wanted) the one with more right answers.
  void take_better(std::vector<Change>& list, std::size_t first, Trial trial) {
    std::size_t best = first;
    double right = share_right(*called_.given, trial);
    const auto better = [&](const Trial& other) {
      const double share = share_right(*called_.given, other);
      return share > right || (share == right && touched(other) > touched(trial));
    };
    for (std::size_t i = first + 1; i < list.size() && right < 0.5; ++i) {
      if (list[i].finding.code != list[first].finding.code ||
          list[i].finding.argument != list[first].finding.argument)
        continue;
      Trial other = call(list[i].form);
      if (!other.answer.ok() || !better(other)) continue;
      right = share_right(*called_.given, other);
      best = i;
      trial = std::move(other);
    }
    take(std::move(list[best]), std::move(trial));
  }

  /// One refusal is told from another by its words and its line.
  static std::string refusal(const Answer& answer) {
    return fmt::format("{}:{}", answer.place.line, answer.message);
  }

  /// Whether a refusal is still about what was changed: another dtype refused of the same argument.
  static bool still_about(const std::string& message, const Finding& finding) {
    if (message.find(finding.argument) == std::string::npos) return false;
    return finding.code == Code::rank_refused ? is_about_rank(message)
                                              : is_about_dtype(message) && !is_about_rank(message);
  }

  const Candidate& candidate_;
  const CallRequest& request_;
  Called& called_;
  std::set<std::string> seen_;
  std::vector<std::size_t> guessed_;  ///< findings of steps that no refusal asked for by name
};

}  // namespace

bool adapt_to_refusals(const Candidate& candidate, const CallRequest& request, Called& called) {
  return Adapting(candidate, request, called).run();
}

}  // namespace isomer::lab
