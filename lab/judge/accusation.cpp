#include "lab/judge/accusation.hpp"

#include "lab/ask/adapting/launch.hpp"
#include "lab/ask/nearness.hpp"
#include "lab/judge/other_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace isomer::lab {
namespace {

bool any(const std::vector<Finding>& findings, std::initializer_list<Code> codes) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& each) {
    return std::find(codes.begin(), codes.end(), each.code) != codes.end();
  });
}

/// What is done with memory that was lent by a guess says nothing, but for the order of threads, and for what
/// does not depend on it.
std::string of_lent_room(const Candidate& candidate, const CallSettings& settings, const Called& called,
                         const std::vector<Finding>& findings) {
  const std::string room = lent_room(called);
  if (room.empty() || correlation(*called.given, called.trial) > 0.3 ||
      any(findings, {Code::missing_barrier, Code::race}) || writes_what_is_lent(candidate, called, settings))
    return {};
  return fmt::format(
      "{} also takes {}, for which {} has no tensor; it was lent memory there, and nothing like an answer "
      "comes of it: it may be another operation, or expect something in that memory",
      called.form.entry->name, room, called.port->op);
}

/// A launch that nothing says, or that is told without the shared memory that it takes.
bool is_launch_guessed(const Called& called, const std::vector<Finding>& findings) {
  return called.form.launch != nullptr ||
         (called.form.entry->form == Entry::Form::kernel &&
          std::any_of(findings.begin(), findings.end(), [](const Finding& f) {
            return f.code == Code::out_of_bounds_write && f.argument == "dynamic shared memory";
          }));
}

/// That nothing is right where an input is read beyond its end: it lies otherwise, or is larger, for its author.
std::string of_other_inputs(const Called& called) {
  if (share_right(*called.given, called.trial) > 0) return {};
  for (const Seen& seen : called.trial.answer.seen) {
    if (seen.kind != "out-of-bounds-read" || seen.role < 0) continue;
    const Port::Role& role = called.port->roles[static_cast<std::size_t>(seen.role)];
    if (role.output) continue;
    return fmt::format(
        "{} reads {} ({}) beyond its end in '{}' and gives no right element there, so that it seems to take "
        "another one than {} does: it may be another operation, or be made for other sizes",
        called.form.entry->name, seen.buffer, called.given->values[static_cast<std::size_t>(seen.role)].tensor.describe(),
        called.given->line, called.port->op);
  }
  return {};
}

}  // namespace

std::string why_not_accused(const Called& called) {
  if (const std::string guesses = guessed_numbers(called); !guesses.empty())
    return numbers_are_unknown(guesses, called.port->op);
  const Answer& answer = called.trial.answer;
  if (answer.end != Answer::End::refused || !answer.refused_launches.empty()) return {};
  const std::string_view said = answer.message;
  return fmt::format(
      "{} takes none of the problems of {} that it was asked, the last for this reason: \"{:.200}\"; it may be "
      "made for other sizes or types, or be another operation",
      called.form.entry->name, called.port->op, said.substr(0, said.find('\n')));
}

std::string why_not_accused(const Candidate& candidate, bool stranger, const CallSettings& settings,
                            const Called& called, const Numbers& numbers, const std::vector<Finding>& findings) {
  if (numbers.explanation.explains) return {};
  const bool mostly_right = share_right(*called.given, called.trial) >= 0.5;
  // With numbers that nobody explains, what is right beside accesses outside shows no more than what is wrong.
  if (!mostly_right || strays(called.trial)) {
    const std::string guesses = stranger || !called.unsure.empty() ? guessed_numbers(called) : std::string();
    if (!guesses.empty()) return numbers_are_unknown(guesses, called.port->op);
  }
  if (!mostly_right) {
    if (std::string why = of_lent_room(candidate, settings, called, findings); !why.empty()) return why;
  }
  if (!stranger) return {};
  // What strays where no answer is right may stray for the launch, which was guessed.
  const bool stray = any(findings, {Code::out_of_bounds_write, Code::out_of_bounds_read});
  if (is_launch_guessed(called, findings) && (stray || (!numbers.raced && !mostly_right)))
    return launch_is_unknown(called.form.entry->name);
  if (std::string why = has_other_pages(called, numbers); !why.empty()) return why;
  if (!numbers.pattern && !numbers.raced)
    if (std::string why = of_other_inputs(called); !why.empty()) return why;
  return is_nothing_like_the_op(called, numbers);
}

std::string why_not_accused(const Entry& entry, SizesBy sizes_by, const std::string& called_with, bool any_right,
                            bool explained) {
  if (sizes_by != SizesBy::guess || any_right || explained) return {};
  return fmt::format(
      "what the numbers of {} are is not known: called with {} it gives no right answer, no sizes of the tensors "
      "gave one, and neither names nor memory say which sizes are meant; name them as the label does "
      "(m, k = x.shape)",
      entry.name, called_with);
}

}  // namespace isomer::lab
