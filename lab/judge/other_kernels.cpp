#include "lab/judge/other_kernels.hpp"

#include "lab/ask/names/number_names.hpp"
#include "lab/ask/names/number_words.hpp"
#include "lab/ask/names/role_names.hpp"
#include "lab/ask/nearness.hpp"
#include "lab/evidence/probes/probes.hpp"
#include "lab/text/lower_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace isomer::lab {
namespace {

/// The share of an answer that is a number, and of one that the call has written; the largest share of one of
/// its tensors that is right.
struct Parts {
  double finite = 0, written = 0, right = 0;
};
Parts parts_of(const Given& given, const Trial& trial) {
  Parts parts;
  std::size_t all = 0, finite = 0, written = 0;
  for (std::size_t t = 0; t < given.plain.tensors.size(); ++t) {
    const oracle::ExpectedTensor& want = given.plain.tensors[t];
    std::size_t asked = 0, right = 0;
    for (std::size_t i = 0; i < want.value.size(); ++i) {
      if (given.open[t][i] || !want.written[i]) continue;
      ++asked;
      right += holds(want, i, trial.outputs[t][i]);
      // What it leaves is what lay there before, and no number of its own.
      finite += trial.untouched[t][i] != 0 || std::isfinite(trial.outputs[t][i]);
      written += trial.untouched[t][i] == 0;
    }
    all += asked;
    if (asked > 0)
      parts.right = std::max(parts.right, static_cast<double>(right) / static_cast<double>(asked));
  }
  if (all == 0) return parts;
  parts.finite = static_cast<double>(finite) / static_cast<double>(all);
  parts.written = static_cast<double>(written) / static_cast<double>(all);
  return parts;
}

template <class Lacks>
std::string roles_that(const Port& port, const Lacks& lacks) {
  std::vector<std::string> names;
  for (std::size_t role = 0; role < port.roles.size(); ++role)
    if (port.roles[role].tensor && lacks(port.roles[role], static_cast<int>(role)))
      names.push_back(port.roles[role].name);
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

/// The parameter that is given a table of pages; −1: none.
int page_table_of(const Called& called) {
  for (std::size_t i = 0; i < called.form.passings.size() && i < called.form.entry->parameters.size(); ++i) {
    const Passing& passing = called.form.passings[i];
    if (passing.what == Passing::What::role &&
        called.port->roles[static_cast<std::size_t>(passing.role)].argument == "page_table")
      return static_cast<int>(i);
  }
  return -1;
}

/// The op's argument of that name, whatever its case; empty where it has none.
std::string argument_called(const Port& port, const std::string& name) {
  for (const auto& each : port.oracle->contract->args)
    if (lower_case(name) == each.name || lower_case(name) == each.name + "s") return std::string(each.name);
  return {};
}

/// The parameters for which memory is lent that is cleared, or that is not.
std::string room_that_is(const Called& called, bool cleared) {
  std::string names;
  for (std::size_t i = 0; i < called.form.passings.size(); ++i)
    if (called.form.passings[i].what == Passing::What::room && called.form.passings[i].zeros == cleared)
      names += (names.empty() ? "" : ", ") + called.form.entry->parameters[i].name;
  return names;
}

/// The numbers that are windows, of which no call asks.
std::string open_windows(const Called& called) {
  std::string names;
  if (called.port->op != "attention") return names;
  for (const Parameter& p : called.form.entry->parameters)
    if (is_window(p)) names += (names.empty() ? "" : ", ") + p.name;
  return names;
}

}  // namespace

std::string inputs_not_taken(const Form& form, const Port& port) {
  return roles_that(port, [&](const Port::Role& each, int role) {
    return !each.output && !each.optional && !form.takes(role);
  });
}

std::string outputs_not_given(const Form& form, const Port& port) {
  return roles_that(port, [&](const Port::Role& each, int role) {
    return (each.output || each.returned) && !each.optional && !form.takes(role) &&
           std::find(form.returned.begin(), form.returned.end(), role) == form.returned.end();
  });
}

std::string takes_pages(const Called& called) {
  const std::string pages = pages_of(*called.form.entry, *called.port);
  if (pages.empty()) return {};
  return fmt::format(
      "{} finds keys through {}, and in none of the forms in which keys in pages are asked is its answer "
      "right, or wrong by one fault that is known: its pages may lie otherwise, so it is not judged",
      called.form.entry->name, pages);
}

std::string takes_host_memory(const Called& called) {
  const std::vector<RefusedLaunch>& refused = called.trial.answer.refused_launches;
  if (std::none_of(refused.begin(), refused.end(), [](const RefusedLaunch& each) {
        return each.cause == RefusedLaunch::Cause::no_host_memory;
      }))
    return {};
  return fmt::format(
      "{} takes pointers of the host and copies to the device by itself: it is called with memory of the "
      "device, so nothing can be said of it; judge its kernel, or a function over memory of the device that "
      "launches it",
      called.form.entry->name);
}

std::string takes_more_memory(const Called& called, const std::vector<Answer>& answers) {
  const auto through_null = [](const Answer& answer) {
    return std::any_of(answer.seen.begin(), answer.seen.end(), [](const Seen& seen) { return seen.null; });
  };
  if (!through_null(called.trial.answer) && std::none_of(answers.begin(), answers.end(), through_null))
    return {};
  const std::vector<Parameter>& parameters = called.form.entry->parameters;
  for (std::size_t i = 0; i < called.form.passings.size() && i < parameters.size(); ++i)
    if ((called.form.passings[i].what == Passing::What::none &&
         parameters[i].kind == Parameter::Kind::pointer && !parameters[i].has_default) ||
        wants_a_tensor(called.form, i)) {
      if (const std::string same = argument_called(*called.port, parameters[i].name); !same.empty())
        return fmt::format(
            "{} also reads or writes {} ({}), and in none of the forms in which {} is asked here it has {}: "
            "it "
            "is not judged",
            called.form.entry->name, parameters[i].name, parameters[i].type, called.port->op, same);
      return fmt::format(
          "{} also reads or writes {} ({}), for which {} has no tensor: it may be another operation, and is "
          "not judged as this one",
          called.form.entry->name, parameters[i].name, parameters[i].type, called.port->op);
    }
  return {};
}

std::string takes_bytes_for_numbers(const Called& called) {
  const std::vector<Parameter>& parameters = called.form.entry->parameters;
  for (std::size_t i = 0; i < called.form.passings.size() && i < parameters.size(); ++i) {
    const Passing& passing = called.form.passings[i];
    const bool bytes = passing.cast == DType::u8 || passing.cast == DType::i8;
    if (passing.what != Passing::What::role || !bytes) continue;
    const Port::Role& role = called.port->roles[static_cast<std::size_t>(passing.role)];
    const core::Contract& contract = *called.port->oracle->contract;
    const int at = contract.index_of(role.argument);
    if (at < 0) continue;
    const auto& dtypes = contract.args[static_cast<std::size_t>(at)].dtypes;
    if (std::any_of(dtypes.begin(), dtypes.end(),
                    [](DType dtype) { return size_of(dtype) == 1 || !is_float(dtype); }))
      continue;
    return fmt::format(
        "{} takes {} ({}) for {}, which in {} is no byte: numbers in bytes, such as scales that are "
        "exponents, "
        "are not asked here, so it is not judged",
        called.form.entry->name, parameters[i].name, parameters[i].type, role.name, called.port->op);
  }
  return {};
}

std::string takes_more_tensors(const Called& called) {
  for (std::size_t i = 0; i < called.form.passings.size(); ++i) {
    if (!wants_a_tensor(called.form, i)) continue;
    const std::string& name = called.form.entry->parameters[i].name;
    if (!called.callable)
      return fmt::format(
          "{} takes {}, for which {} has no tensor, and does not take one without elements ({}): it may be "
          "another operation, and is not judged as this one",
          called.form.entry->name, name, called.port->op, called.trial.answer.message);
  }
  return {};
}

std::vector<std::string> given_besides(const Called& called, bool stranger) {
  std::string names;
  for (std::size_t i = 0; i < called.form.passings.size(); ++i)
    if (wants_a_tensor(called.form, i))
      names += (names.empty() ? "" : ", ") + called.form.entry->parameters[i].name;
  std::vector<std::string> notes;
  const std::string& op = called.port->op;
  if (!names.empty())
    notes.push_back(fmt::format("{} has no tensor for {}: it is given one without elements", op, names));
  if (const std::string room = lent_room(called); !room.empty())
    notes.push_back(fmt::format("{} has no tensor for {}: it is lent memory of any content there", op, room));
  if (const std::string room = room_that_is(called, true); !room.empty())
    notes.push_back(fmt::format("{} has no tensor for {}: it is lent memory of zeros there", op, room));
  if (const std::string windows = stranger ? open_windows(called) : std::string(); !windows.empty())
    notes.push_back(fmt::format("no call asks for {}: it is longer than all keys", windows));
  return notes;
}

std::string lent_room(const Called& called) { return room_that_is(called, false); }

std::string guessed_numbers(const Called& called) {
  const std::vector<Value> values = passed(called.form, called.given->values);
  std::string text;
  for (std::size_t i = 0; i < values.size() && i < called.form.entry->parameters.size(); ++i) {
    const Parameter& p = called.form.entry->parameters[i];
    if (p.kind == Parameter::Kind::real && called.form.passings[i].what == Passing::What::constant &&
        !p.has_default && !number_by_name(*called.port, p.name))
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", p.name, values[i].real);
  }
  for (const int at : called.unsure) {
    const auto i = static_cast<std::size_t>(at);
    if (i < values.size() && values[i].kind == Value::Kind::integer)
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", called.form.entry->parameters[i].name,
                          values[i].integer);
  }
  return text;
}

std::string numbers_are_unknown(const std::string& guesses, const std::string& op) {
  return fmt::format(
      "the meaning of {} is not known: no caller and no name says it, and no sizes of the tensors gave a "
      "right answer; use the op's names for numbers (isomer ops {}), or give the label that it is a port of",
      guesses, op);
}

bool writes_what_is_lent(const Candidate& candidate, const Called& called, const CallSettings& settings) {
  Form form = called.form;
  constexpr std::uint8_t kLarge = 0x4b;  // a finite number of every type, and no small one
  form.lent = kLarge;
  const Trial other = try_call(candidate, form, *called.port, *called.given, settings);
  return called.trial.ok() && other.ok() &&
         different(*called.given, called.trial.outputs, other.outputs) == 0;
}

std::string has_other_pages(const Called& called, const Numbers& numbers) {
  const int table = page_table_of(called);
  if (table < 0 || numbers.explanation.explains || numbers.pattern || numbers.raced || strays(called.trial))
    return {};
  // What is right for one call finds its pages.
  constexpr double kRight = 0.99;
  if (called.trial.ok() && share_right(*called.given, called.trial) > kRight) return {};
  return fmt::format(
      "{} finds keys through {}, and its answers are not those of attention over pages in any order that is "
      "known, with whatever fault: its pages may lie otherwise, so it is not judged",
      called.form.entry->name, called.form.entry->parameters[static_cast<std::size_t>(table)].name);
}

std::string is_nothing_like_the_op(const Called& called, const Numbers& numbers) {
  if (numbers.explanation.explains || numbers.pattern || numbers.raced || !called.trial.ok()) return {};
  // What keeps to its memory and fills its outputs is called for what it is made for.
  if (!strays(called.trial) && !leaves_out(*called.given, called.trial)) return {};
  constexpr double kFinite = 0.9, kRight = 0.3, kLike = 0.2;
  // What reads memory that nothing has written answers by chance.
  for (const Answer& answer : numbers.answers)
    for (const Seen& seen : answer.seen)
      if (seen.kind == "uninitialised-read" || seen.kind == "race" || seen.kind == "missing-barrier")
        return {};
  const Parts parts = parts_of(*called.given, called.trial);
  // What writes nothing is no other operation.
  if (parts.finite < kFinite || parts.written == 0 || parts.right > kRight) return {};
  const double like = correlation(*called.given, called.trial);
  if (std::fabs(like) > kLike) return {};
  return fmt::format(
      "{} gives nothing like an answer of {}: in '{}' {:.0f} % is right, the rest has nothing to do with it "
      "(correlation {:.2f}), and it {}; it may be another operation, be made for other sizes, or take its "
      "arguments otherwise",
      called.form.entry->name, called.port->op, called.given->line,
      100 * share_right(*called.given, called.trial), like,
      strays(called.trial) ? "leaves its buffers" : "does not fill its outputs");
}

}  // namespace isomer::lab
