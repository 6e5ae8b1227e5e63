#include "lab/ask/find_call.hpp"

#include "core/sentence.hpp"
#include "lab/ask/adapting/adapting.hpp"
#include "lab/ask/adapting/aligned_sizes.hpp"
#include "lab/ask/adapting/cache_layouts.hpp"
#include "lab/ask/adapting/changes.hpp"
#include "lab/ask/adapting/further_results.hpp"
#include "lab/ask/adapting/kinds.hpp"
#include "lab/ask/adapting/launch.hpp"
#include "lab/ask/adapting/numbers.hpp"
#include "lab/ask/adapting/refusal.hpp"
#include "lab/ask/adapting/simpler.hpp"
#include "lab/ask/dtypes.hpp"
#include "lab/ask/names/role_names.hpp"
#include "lab/ask/nearness.hpp"
#include "lab/text/lower_case.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isomer::lab {
namespace {

using What = Passing::What;
constexpr double kGuessSeconds = 3;  ///< of a call in which the meaning of a number is a guess

bool is_name_of(const Port& port, const std::string& name) {
  return std::find(port.functions.begin(), port.functions.end(), name) != port.functions.end();
}

/// Pointers of another element type than callers pass: a twin for another dtype.
int other_dtypes(const Guess& guess, const CallRequest& request) {
  if (request.recorded.empty() || guess.port != request.recorded_port) return 0;
  int count = 0;
  for (const Passing& passing : guess.form.passings) {
    if (passing.what != What::role || passing.cast == DType::none) continue;
    const Value& value = request.recorded.front()->values[static_cast<std::size_t>(passing.role)];
    count += value.is_tensor() && value.tensor.dtype != passing.cast &&
             !same_bytes(value.tensor.dtype, passing.cast);
  }
  return count;
}

/// Whether one name holds the other, whatever its case: act_quant and launch_act_quant.
bool holds_name(const std::string& name, const std::string& wanted) {
  return !wanted.empty() && lower_case(name).find(lower_case(wanted)) != std::string::npos;
}

/// Whether all memory that an entry takes is an argument of the op.
bool takes_only_its_own(const Guess& guess) {
  const std::vector<Parameter>& parameters = guess.form.entry->parameters;
  for (std::size_t i = 0; i < guess.form.passings.size() && i < parameters.size(); ++i)
    if (guess.form.passings[i].what == What::none && !parameters[i].has_default &&
        parameters[i].kind != Parameter::Kind::stream)
      return false;
  return true;
}

/// The entry that is meant, and its guess; a wrong name is a finding where somebody calls it by another.
Guess choose_entry(const Candidate& candidate, const CallRequest& request, Called& called) {
  const auto& entries = candidate.entries();
  const std::string wanted = !request.entry.empty() ? request.entry : request.function;
  Guess best;
  // The best guess at each entry that may be meant without its name being known.
  std::vector<Guess> each;
  const auto consider = [&](const Entry& entry, double bonus) {
    Guess own;
    for (const Port* port : request.ports) {
      if (request.recorded_port != nullptr && port != request.recorded_port) continue;
      if (port->original->of_tensors && !takes_tensors(entry)) continue;
      Guess guess = guess_form(entry, *port, is_stranger(request, entry));
      // A struct is filled by host code, not by callers.
      if (std::any_of(entry.parameters.begin(), entry.parameters.end(), [](const Parameter& p) {
            return p.kind == Parameter::Kind::unknown && !p.has_default;
          }))
        guess.score -= 50;
      // Of two originals alike in their arguments the name says which.
      guess.score += bonus + (is_name_of(*port, entry.name) || is_name_of(*port, wanted) ? 4 : 0);
      guess.score -= 3 * other_dtypes(guess, request);
      // Of two that take as much of it, the one whose numbers have names.
      const auto known = [](const Guess& g) {
        return std::pair(g.score, -static_cast<int>(g.unsure.size()));
      };
      if (own.port == nullptr || known(guess) > known(own)) own = std::move(guess);
    }
    if (own.port == nullptr) return;
    each.push_back(own);
    if (best.port == nullptr || own.score > best.score) best = std::move(own);
  };
  for (const Entry& entry : entries)
    if (!wanted.empty() && entry.name == wanted) consider(entry, 0);
  // Who names it to the lab may leave out its namespaces.
  if (best.port == nullptr && !request.entry.empty())
    for (const Entry& entry : entries)
      if (entry.name.ends_with("::" + request.entry)) consider(entry, 0);
  if (best.port != nullptr) return best;
  bool launched = false;  // by a function of its own file that callers can reach
  bool behind = false;    // the kernels: functions that launch none of them
  for (const Entry& entry : entries) {
    if (!can_be_the_entry(candidate, entry)) continue;
    if (entry.form == Entry::Form::kernel && launched && wanted.empty()) break;
    behind = behind || entry.form == Entry::Form::kernel;
    launched = launched || (entry.form == Entry::Form::function && !behind);
    const bool known = std::any_of(request.ports.begin(), request.ports.end(),
                                   [&](const Port* port) { return is_name_of(*port, entry.name); });
    // Host functions before kernels: they know their own launch.
    const double form = entry.form == Entry::Form::extension  ? 20
                        : entry.form != Entry::Form::function ? 0
                        : behind && !known                    ? -2
                                                              : 10;
    const bool alike = std::any_of(request.ports.begin(), request.ports.end(), [&](const Port* port) {
      return std::any_of(port->functions.begin(), port->functions.end(),
                         [&](const std::string& name) { return holds_name(entry.name, name); });
    });
    consider(entry, form + (known ? 8 : alike || holds_name(entry.name, wanted) ? 4 : 0));
  }
  if (best.port == nullptr) return best;
  // Two that fit nearly as well: to choose one would be a guess, and a verdict on the other one's behalf.
  constexpr double kNearly = 2;
  std::vector<const Entry*> fitting;
  for (const Guess& guess : each)
    if (guess.form.entry->form == best.form.entry->form && !guess.form.entry->called_inside &&
        (takes_only_its_own(guess) || !takes_only_its_own(best)) && guess.score >= best.score - kNearly &&
        guess.findings.size() <= best.findings.size() && guess.form.entry->name != best.form.entry->name)
      fitting.push_back(guess.form.entry);
  if (!fitting.empty() && !best.form.entry->called_inside) {
    fitting.insert(fitting.begin(), best.form.entry);
    called.ambiguous = several_entries(fitting);
  }
  const Entry& entry = *best.form.entry;
  const bool exported = entry.form != Entry::Form::kernel;
  const bool by_op = std::any_of(request.ports.begin(), request.ports.end(),
                                 [&](const Port* port) { return is_name_of(*port, entry.name); });
  const bool named = request.stranger && request.function.empty() && request.entry.empty();
  if (exported && !named && (!wanted.empty() || (entry.form == Entry::Form::extension && !by_op))) {
    const std::string expected = wanted.empty() ? best.port->functions.front() : wanted;
    if (request.any_name && request.entry.empty()) {
      called.notes.push_back(fmt::format("{} was called for the label's {}", entry.name, expected));
      return best;
    }
    Finding finding;
    finding.code = Code::symbol_name;
    finding.argument = expected;
    std::string names;
    for (const Entry& each : entries)
      if (each.form != Entry::Form::kernel) names += (names.empty() ? "" : ", ") + each.name;
    finding.evidence = fmt::format("callers look for {}, but the candidate exports {}; {} was called",
                                   expected, names, entry.name);
    finding.location = entry.place;
    finding.fix = fmt::format("export the function as {}", expected);
    called.findings.push_back(std::move(finding));
  }
  return best;
}

std::shared_ptr<const Given> plain_problem(const Port& port, const Dtypes& dtypes) {
  return given_by_line(port, port.original->probes.front(), dtypes);
}

Dtypes usual(const Port& port, std::size_t which) {
  Dtypes dtypes;
  for (const auto& [field, dtype] : port.original->usual[which]) dtypes[field] = dtype;
  return dtypes;
}

/// What a call returned in another dtype than was asked for, where the op leaves it to the callee.
void follow_returned_dtypes(Called& called) {
  const std::vector<int>& returned = called.form.returned;
  for (std::size_t i = 0; i < returned.size() && i < called.trial.answer.returned.size(); ++i) {
    const auto role = static_cast<std::size_t>(returned[i]);
    const oracle::Original::Parameter& parameter = called.port->original->parameters[role];
    const Value& value = called.trial.answer.returned[i];
    if (parameter.field.empty() || !value.is_tensor()) continue;
    const bool an_inputs =
        std::any_of(called.port->original->parameters.begin(), called.port->original->parameters.end(),
                    [&](const auto& each) { return !each.output && each.field == parameter.field; });
    if (!an_inputs && called.given->values[role].is_tensor() &&
        value.tensor.dtype != called.given->values[role].tensor.dtype)
      called.dtypes[parameter.field] = value.tensor.dtype;
  }
}

/// A call that ends its process as the original is called, and is right when one thing is called otherwise.
void adapt_to_crash(const Candidate& candidate, const CallRequest& request, Called& called) {
  for (Change& change : changes(called.form, *called.port, *called.given, "")) {
    Trial trial = try_call(candidate, change.form, *called.port, *called.given, request.settings);
    if (!trial.ok() || share_right(*called.given, trial) < 0.98) continue;
    change.finding.evidence +=
        fmt::format(", and the call crashes: {}; with this changed, {:.1f} % of the answer is right",
                    called.trial.answer.message, 100 * share_right(*called.given, trial));
    change.finding.location = called.trial.answer.place;
    called.findings.push_back(std::move(change.finding));
    called.form = std::move(change.form);
    called.trial = std::move(trial);
    called.callable = true;
    return;
  }
}

/// Of a port that callers gave nothing: another of the usual dtypes, or another of the op's originals, where
/// memory without a type (void*) or arguments alike leave open which of them it is.
void try_other_originals(const Candidate& candidate, const CallRequest& request, Called& called) {
  double best = called.trial.ok() ? share_right(*called.given, called.trial) : -1;
  const Called first = called;
  for (const Port* port : request.ports)
    for (std::size_t way = 0; way < port->original->usual.size() && best < 0.9; ++way) {
      Called other = first;
      other.port = port;
      const Guess guess = guess_form(*first.form.entry, *port, is_stranger(request, *first.form.entry));
      if (!guess.findings.empty()) continue;
      if (port != first.port) {
        other.form = guess.form;
        pass_in_bytes(request, other.form);
      }
      other.dtypes = usual(*port, way);
      for (const auto& [field, dtype] : dtypes_of_pointers(*port, other.form)) other.dtypes[field] = dtype;
      try {
        other.given = plain_problem(*port, other.dtypes);
      } catch (const Error&) {
        continue;
      }
      other.trial = try_call(candidate, other.form, *port, *other.given, request.settings);
      const double right = other.trial.ok() ? share_right(*other.given, other.trial) : -1;
      if (right < std::max(0.9, best)) continue;
      best = right;
      called = std::move(other);
    }
}

/// Two sizes of one letter each, of a call that is wrong at ragged edges as well: where there are no such
/// edges, rows and columns in their order give the right answer or do not.
bool try_whole_blocks(const Candidate& candidate, const CallRequest& request, const Guess& guess,
                      Called& called) {
  const std::string& line = called.port->original->whole_blocks;
  if (guess.unsure.empty() || line.empty() || !request.recorded.empty() ||
      (called.trial.ok() && !strays(called.trial) && share_right(*called.given, called.trial) > 0.5))
    return false;
  // One letter is a name of many things: N is the rows of a weight to some, and the columns to others.
  Form in_order = guess.form;
  int dim = 0;
  for (std::size_t i = 0; i < guess.form.passings.size(); ++i) {
    const Parameter& p = guess.form.entry->parameters[i];
    if (p.kind != Parameter::Kind::integer || p.name.size() != 1) continue;
    in_order.passings[i] = Passing();
    in_order.passings[i].what = What::size;
    in_order.passings[i].role = 0;
    in_order.passings[i].dim = dim++;
  }
  if (dim != 2) return false;
  std::vector<Dtypes> ways = dtypes_of_untyped(*called.port, guess.form, called.dtypes);
  ways.insert(ways.begin(), called.dtypes);
  for (const Dtypes& dtypes : ways) {
    Form form = in_order;
    pass_in_bytes(request, form);
    std::shared_ptr<const Given> whole;
    try {
      whole = given_by_line(*called.port, line, dtypes);
    } catch (const Error&) {  // the op does not take them
      continue;
    }
    const Trial trial = try_call(candidate, form, *called.port, *whole, request.settings);
    if (!trial.ok() || share_right(*whole, trial) < 0.98) continue;
    called.form = form;
    called.dtypes = dtypes;
    return true;
  }
  // Nothing is right: what keeps to its memory is likelier than what does not, or leaves its results.
  const auto keeps = [](const Given& given, const Trial& trial) {
    return trial.ok() && !strays(trial) && !leaves_out(given, trial);
  };
  if (keeps(*called.given, called.trial)) return false;
  for (const Dtypes& dtypes : ways) {
    Form form = in_order;
    pass_in_bytes(request, form);
    try {
      const std::shared_ptr<const Given> given = plain_problem(*called.port, dtypes);
      Trial trial = try_call(candidate, form, *called.port, *given, request.settings);
      if (!keeps(*given, trial)) continue;
      called.given = given;
      called.trial = std::move(trial);
    } catch (const Error&) {  // the op does not take them
      continue;
    }
    called.form = std::move(form);
    called.dtypes = dtypes;
    return true;
  }
  return false;
}

/// Whether a stranger's function takes no memory for an input of the op, as whichever of the originals it is
/// taken, or finds its keys in pages: then there is nothing to be tried.
bool is_another_operation(const Guess& guess, const CallRequest& request) {
  const Entry& entry = *guess.form.entry;
  if (!request.recorded.empty() || !is_stranger(request, entry)) return false;
  if (!pages_of(entry, *guess.port).empty()) return true;
  return std::all_of(request.ports.begin(), request.ports.end(), [&](const Port* port) {
    if (entry.name == port->functions.front()) return false;
    const Form form = guess_form(entry, *port, true).form;
    for (std::size_t role = 0; role < port->roles.size(); ++role) {
      const Port::Role& each = port->roles[role];
      if (each.tensor && !each.output && !each.optional && !form.takes(static_cast<int>(role))) return true;
    }
    return false;
  });
}

/// The form with each role where the entry's names have it.
Form in_order_of_names(const Guess& guess, const Form& form) {
  Form named = form;
  for (std::size_t i = 0; i < guess.by_names.size(); ++i)
    for (const Passing& passing : form.passings)
      if (passing.what == What::role && passing.role == guess.by_names[i]) named.passings[i] = passing;
  return named;
}

}  // namespace

bool is_stranger(const CallRequest& request, const Entry& entry) {
  return request.stranger && std::none_of(request.ports.begin(), request.ports.end(),
                                          [&](const Port* port) { return names_the_original(entry, *port); });
}

bool can_be_the_entry(const Candidate& candidate, const Entry& entry) {
  if (entry.form != Entry::Form::function || entry.linkage == Linkage::c) return true;
  // Host functions that launch nothing come behind the kernels.
  for (const Entry& other : candidate.entries()) {
    if (other.form == Entry::Form::kernel) break;
    if (other.form == Entry::Form::function && other.linkage == Linkage::c) return false;
  }
  return true;
}

std::string several_entries(const std::vector<const Entry*>& entries) {
  std::string list;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::string parameters;
    for (const Parameter& p : entries[i]->parameters)
      parameters += (parameters.empty() ? "" : ", ") + (p.name.empty() ? p.type : p.name);
    list += fmt::format("{}{}({})",
                        i == 0                    ? ""
                        : i + 1 == entries.size() ? " and "
                                                  : ", ",
                        entries[i]->name, parameters);
    if (entries[i]->place.line > 0) list += fmt::format(" at line {}", entries[i]->place.line);
  }
  return fmt::format("{} functions can be meant, {}: name one with --entry", entries.size(), list);
}

Called find_call(const Candidate& candidate, const CallRequest& request) {
  Called called;
  const Guess guess = choose_entry(candidate, request, called);
  if (guess.port == nullptr) {
    called.notes.emplace_back("the candidate has nothing that can be called");
    return called;
  }
  called.port = guess.port;
  called.form = guess.form;
  called.unsure = guess.unsure;
  if (!called.ambiguous.empty() || is_another_operation(guess, request)) return called;
  pass_in_bytes(request, called.form);
  called.findings.insert(called.findings.end(), guess.findings.begin(), guess.findings.end());
  for (Finding& finding : called.findings)
    if (finding.location.line == 0) finding.location = called.form.entry->place;

  const Dtypes pointers = dtypes_of_pointers(*called.port, called.form);
  const Form first = called.form;
  const std::vector<Finding> before = called.findings;
  if (!request.recorded.empty()) {
    called.given = request.recorded.front();
    // What typed pointers are, the recorded dtype is or is not.
    for (std::size_t i = 0; i < called.form.passings.size(); ++i) {
      Passing& passing = called.form.passings[i];
      if (passing.what != What::role || passing.cast == DType::none) continue;
      const Value& value = called.given->values[static_cast<std::size_t>(passing.role)];
      if (!value.is_tensor() || value.tensor.dtype == passing.cast ||
          same_bytes(value.tensor.dtype, passing.cast))
        continue;
      Finding finding;
      finding.code = Code::dtype_refused;
      finding.argument = called.form.entry->parameters[i].name;
      finding.evidence = fmt::format("callers pass {}, but the parameter is {}", value.tensor.describe(),
                                     called.form.entry->parameters[i].type);
      finding.location = called.form.entry->place;
      finding.fix = fmt::format("take {}", name_of(value.tensor.dtype));
      called.findings.push_back(std::move(finding));
    }
    called.callable = adapt_to_refusals(candidate, request, called);
    for (std::size_t r = 0; r < called.port->roles.size(); ++r) {
      const std::string& field = called.port->original->parameters[r].field;
      if (!field.empty() && called.given->values[r].is_tensor())
        called.dtypes[field] = called.given->values[r].tensor.dtype;
    }
  } else {
    // Any of the usual dtypes will do; where none does, the first is what is asked for.
    const std::size_t ways = std::max<std::size_t>(1, called.port->original->usual.size());
    for (std::size_t way = 0; way < ways && !called.callable; ++way) {
      called.dtypes = usual(*called.port, way);
      for (const auto& [field, dtype] : pointers) called.dtypes[field] = dtype;
      try {
        called.given = plain_problem(*called.port, called.dtypes);
      } catch (const Error&) {  // pointers of a type that the op does not take
        called.dtypes = usual(*called.port, way);
        for (const auto& [field, dtype] : dtypes_of_inputs(*called.port, pointers))
          called.dtypes[field] = dtype;
        try {
          called.given = plain_problem(*called.port, called.dtypes);
        } catch (const Error&) {  // nor of the inputs alone
          called.dtypes = usual(*called.port, way);
          called.given = plain_problem(*called.port, called.dtypes);
        }
      }
      CallSettings settings = request.settings;
      if (!guess.unsure.empty()) settings.timeout_seconds = std::min(settings.timeout_seconds, kGuessSeconds);
      called.trial = try_call(candidate, called.form, *called.port, *called.given, settings);
      called.callable = called.trial.answer.ok();
      if (called.trial.answer.end != Answer::End::refused) break;
    }
    try_untyped(candidate, request, called);
    try_cache_layouts(candidate, request, called);
    // What it does not take is a limit of a stranger's, and nothing to be adapted.
    if (!called.callable && takes_tensors(*called.form.entry)) try_simpler(candidate, request, called);
    if (!called.callable && (called.trial.answer.end == Answer::End::refused ||
                             called.trial.answer.end == Answer::End::not_callable)) {
      called.dtypes = usual(*called.port, 0);
      for (const auto& [field, dtype] : pointers) called.dtypes[field] = dtype;
      called.given = plain_problem(*called.port, called.dtypes);
      // Before one thing after the other is adapted: it may be a port of another of the op's originals.
      if (request.ports.size() > 1) try_other_originals(candidate, request, called);
      called.callable = called.trial.ok() || adapt_to_refusals(candidate, request, called);
    }
    if (!takes_tensors(*called.form.entry) || !called.callable || strays(called.trial))
      try_simpler(candidate, request, called);
  }
  const std::vector<int> unsure = called.simpler != nullptr ? std::vector<int>() : guess.unsure;
  if (!called.callable && called.trial.answer.end != Answer::End::refused)
    find_launch(candidate, request, called);
  const auto ended = [&](Answer::End end) { return called.trial.answer.end == end; };
  if (!called.callable && !unsure.empty() &&
      (ended(Answer::End::crashed) || ended(Answer::End::timed_out) || ended(Answer::End::over_limit) ||
       ended(Answer::End::too_large))) {
    // A number that was taken for another one may be what it crashed on, or what its loop runs to.
    try_numbers(candidate, request, unsure, called);
    called.callable = called.trial.answer.ok();
  }
  if (!called.callable && (ended(Answer::End::crashed) || ended(Answer::End::refused)))
    adapt_to_alignment(candidate, request, called);
  if (!called.callable && called.trial.answer.end == Answer::End::crashed)
    adapt_to_crash(candidate, request, called);
  if (called.callable) {
    if (called.simpler == nullptr && !try_whole_blocks(candidate, request, guess, called))
      try_numbers(candidate, request, unsure, called);
    if (request.recorded.empty()) {
      const Dtypes asked = called.dtypes;
      follow_returned_dtypes(called);
      try {
        called.given = plain_problem(*called.port, called.dtypes);
      } catch (const Error&) {  // what it returns the op has not: its numbers are judged as they are
        called.dtypes = asked;
        called.given = plain_problem(*called.port, called.dtypes);
      }
      called.trial = try_call(candidate, called.form, *called.port, *called.given, request.settings);
    }
    if (!request.recorded.empty() && !request.answered) follow_returned_dtypes(called);
    if (request.recorded.empty() && called.simpler == nullptr &&
        (!called.trial.ok() || share_right(*called.given, called.trial) < 0.5))
      try_other_originals(candidate, request, called);
    // The names may say another order, which the kinds did not refuse.
    if (!guess.by_names.empty() && called.trial.ok() && share_right(*called.given, called.trial) < 0.5) {
      Form named = in_order_of_names(guess, called.form);
      const Trial trial = try_call(candidate, named, *called.port, *called.given, request.settings);
      if (trial.ok() && share_right(*called.given, trial) > share_right(*called.given, called.trial)) {
        Finding finding;
        finding.code = Code::argument_order;
        std::string order;
        for (const Parameter& p : called.form.entry->parameters)
          order += (order.empty() ? "" : ", ") + p.name;
        finding.evidence = fmt::format(
            "with the arguments in the original's order {:.0f} % of the answer is right; with the order ({}) "
            "it is {:.0f} %",
            100 * share_right(*called.given, called.trial), order, 100 * share_right(*called.given, trial));
        finding.location = called.form.entry->place;
        finding.fix = "take the arguments in the original's order";
        // Two that were swapped for a refusal were a part of that.
        std::erase_if(called.findings, [](const Finding& each) { return each.code == Code::argument_order; });
        called.findings.push_back(std::move(finding));
        called.form = std::move(named);
        called.trial = trial;
      }
    }
    find_launch(candidate, request, called);
    judge_kinds(candidate, request, called);
    adapt_to_rank(candidate, request, called);
    take_further_results(candidate, request, called);
    if (request.recorded.empty()) tell_result_dtypes(called);
  } else if (called.trial.answer.end == Answer::End::refused && before.size() < called.findings.size()) {
    called.form = first;
  }
  // The dtypes that it takes by itself, where the op has them: there nothing is lost in a cast.
  Dtypes own = called.dtypes;
  for (const auto& [field, dtype] : dtypes_of_pointers(*called.port, called.form)) own[field] = dtype;
  if (called.callable && own != called.dtypes) {
    try {
      plain_problem(*called.port, own);
      called.native.push_back(own);
    } catch (const Error&) {  // the op does not take them
    }
  }
  return called;
}

}  // namespace isomer::lab
