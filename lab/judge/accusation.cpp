#include "lab/judge/accusation.hpp"

#include "lab/ask/adapting/launch.hpp"
#include "lab/ask/nearness.hpp"
#include "lab/evidence/probes/probes.hpp"
#include "lab/judge/other_kernels.hpp"
#include "lab/text/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string_view>

namespace isomer::lab {
namespace {

constexpr double kSome = 0.05;  ///< of an answer: less than this is right by chance

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
  return (called.form.launch != nullptr && !called.form.launch->certain) ||
         (called.form.entry->form == Entry::Form::kernel &&
          std::any_of(findings.begin(), findings.end(), [](const Finding& f) {
            return f.code == Code::out_of_bounds_write && f.argument == "dynamic shared memory";
          }));
}

/// That nothing is right where an input is read beyond its end: it lies otherwise, or is larger, for its
/// author.
std::string of_other_inputs(const Called& called) {
  if (share_right(*called.given, called.trial) > kSome) return {};
  for (const Seen& seen : called.trial.answer.seen) {
    if (seen.kind != "out-of-bounds-read" || seen.role < 0) continue;
    const Port::Role& role = called.port->roles[static_cast<std::size_t>(seen.role)];
    if (role.output) continue;
    return fmt::format(
        "{} reads {} ({}) beyond its end in '{}' and gives hardly a right element there, so that it seems to "
        "take another one than {} does: it may be another operation, or be made for other sizes",
        called.form.entry->name, seen.buffer,
        called.given->values[static_cast<std::size_t>(seen.role)].tensor.describe(), called.given->line,
        called.port->op);
  }
  return {};
}

/// An input of the op on which nothing that it gives depends, where nothing is right and something depends on
/// another one: it computes something else. What depends on none of them computes nothing, which is a fault,
/// and so is to ignore where rows or sequences lie.
std::string of_unused_inputs(const Candidate& candidate, const CallSettings& settings, const Called& called) {
  if (!called.trial.ok() || share_right(*called.given, called.trial) > kSome) return {};
  std::string_view unused;
  bool any_used = false;
  for (std::size_t role = 0; role < called.port->roles.size(); ++role) {
    const Port::Role& each = called.port->roles[role];
    const Value& value = called.given->values[role];
    const bool index = called.port->original != nullptr && called.port->original->parameters[role].index;
    if (index || each.output || each.optional || !value.is_tensor() || value.tensor.numel() < 2 ||
        !called.form.takes(static_cast<int>(role)))
      continue;
    Given other = *called.given;
    other.values[role] = deep_copy(value);
    auto* bytes = static_cast<std::byte*>(other.values[role].storage.get());
    const auto size = static_cast<std::ptrdiff_t>(size_of(value.tensor.dtype));
    std::rotate(bytes, bytes + size, bytes + other.values[role].storage_bytes);
    const Trial then = try_call(candidate, called.form, *called.port, other, settings);
    if (!then.ok()) continue;
    if (different(*called.given, called.trial.outputs, then.outputs) > 0)
      any_used = true;
    else if (unused.empty())
      unused = each.name;
  }
  if (unused.empty() || !any_used) return {};
  return fmt::format(
      "nothing that {} gives depends on {}, and no more than {:.0f} % of it is right: it is another "
      "operation, or a part of {} alone, and is not judged as this one",
      called.form.entry->name, unused, 100 * share_right(*called.given, called.trial), called.port->op);
}

/// Whether the source chooses among launches: one of them stands behind an `if` or a `case`.
bool chooses_launches(const Candidate& candidate) {
  if (candidate.path().extension() == ".so") return false;
  static const Pattern condition("\\b(if[ \\t]*\\(|else\\b|case\\b)");
  std::ifstream in(candidate.path(), std::ios::binary);
  std::string before;
  for (std::string line; std::getline(in, line); before = line)
    if ((line.find("<<<") != std::string::npos || line.find("LaunchKernel") != std::string::npos) &&
        (condition.found_in(line) || (condition.found_in(before) && before.find(';') == std::string::npos)))
      return true;
  return false;
}

/// That no call launched a kernel, though none was refused, and none wrote anything: what chooses a kernel by
/// the sizes has none for these.
std::string of_other_sizes(const Called& called, const Numbers& numbers) {
  if (numbers.answers.empty() || !numbers.failures.empty()) return {};
  for (const Answer& answer : numbers.answers)
    if (answer.launches > 0 || !answer.refused_launches.empty() || !answer.seen.empty()) return {};
  if (!writes_nothing(*called.given, called.trial)) return {};
  return fmt::format(
      "{} launches no kernel and writes nothing in any of the {} calls that it was asked: it may be made for "
      "other sizes",
      called.form.entry->name, numbers.answers.size());
}

}  // namespace

std::string why_not_accused(const Called& called) {
  if (const std::string guesses = guessed_numbers(called); !guesses.empty())
    return numbers_are_unknown(guesses, called.port->op);
  const Answer& answer = called.trial.answer;
  if (answer.end != Answer::End::refused || !answer.refused_launches.empty()) return {};
  const std::string_view said = answer.message;
  return fmt::format(
      "{} takes none of the problems of {} that it was asked, the last for this reason: \"{:.200}\"; it may "
      "be made for other sizes or types, or be another operation",
      called.form.entry->name, called.port->op, said.substr(0, said.find('\n')));
}

std::string why_not_accused(const Candidate& candidate, bool stranger, const CallSettings& settings,
                            const Called& called, const Numbers& numbers,
                            const std::vector<Finding>& findings) {
  // Memory that it was given none of says nothing, whatever is right besides.
  if (stranger)
    if (std::string why = takes_more_memory(called, numbers.answers); !why.empty()) return why;
  if (numbers.explanation.explains) return {};
  // Nor is what is right but for one factor called otherwise than it is meant.
  if (numbers.pattern && numbers.pattern->code == Code::missing_scale && !numbers.beside_set) return {};
  const bool mostly_right = share_right(*called.given, called.trial) >= 0.5;
  // With numbers that nobody explains, what is right beside accesses outside shows no more than what is
  // wrong.
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
  if (std::string why = is_nothing_like_the_op(called, numbers); !why.empty()) return why;
  if (chooses_launches(candidate))
    if (std::string why = of_other_sizes(called, numbers); !why.empty()) return why;
  // Threads that race make an answer wrong, and leave none of it out.
  if (numbers.raced && leaves_out(*called.given, called.trial))
    if (std::string why = of_other_inputs(called); !why.empty()) return why;
  if (numbers.pattern || numbers.raced) return {};
  if (std::string why = of_other_inputs(called); !why.empty()) return why;
  return of_unused_inputs(candidate, settings, called);
}

std::string why_not_accused(const Entry& entry, SizesBy sizes_by, const std::string& called_with,
                            bool any_right, bool explained) {
  if (sizes_by != SizesBy::guess || any_right || explained) return {};
  return fmt::format(
      "what the numbers of {} are is not known: called with {} it gives no right answer, no sizes of the "
      "tensors gave one, and neither names nor memory say which sizes are meant; name them as the label does "
      "(m, k = x.shape)",
      entry.name, called_with);
}

}  // namespace isomer::lab
