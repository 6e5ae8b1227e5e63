#include "lab/judge/known_op.hpp"

#include "lab/ask/adapting/changes.hpp"
#include "lab/ask/adapting/refusal.hpp"
#include "lab/ask/adapting/simpler.hpp"
#include "lab/ask/dtypes.hpp"
#include "lab/ask/find_call.hpp"
#include "lab/ask/nearness.hpp"
#include "lab/ask/recorded_problems.hpp"
#include "lab/evidence/probes/probes.hpp"
#include "lab/evidence/probes/watched.hpp"
#include "lab/evidence/variations/conventional_calls.hpp"
#include "lab/evidence/variations/key_order.hpp"
#include "lab/evidence/variations/numbers.hpp"
#include "lab/evidence/variations/whole_vectors.hpp"
#include "lab/findings/consequences.hpp"
#include "lab/findings/conventions.hpp"
#include "lab/findings/source_places.hpp"
#include "lab/findings/variation_codes.hpp"
#include "lab/judge/accusation.hpp"
#include "lab/judge/fewer_warps.hpp"
#include "lab/judge/longer_keys.hpp"
#include "lab/judge/one_edit.hpp"
#include "lab/judge/other_kernels.hpp"
#include "lab/judge/other_lanes.hpp"
#include "lab/judge/unset_locals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace isomer::lab {
namespace {

/// Whether what is called, or a kernel beside it, goes by the original's own name: its callers take it for a
/// port.
bool has_the_originals_name(const Candidate& candidate, const Called& called) {
  const std::string& original = called.port->functions.front();
  return called.form.entry->name == original ||
         std::any_of(candidate.entries().begin(), candidate.entries().end(), [&](const Entry& each) {
           return each.form == Entry::Form::kernel && each.name == original;
         });
}

constexpr const char* kNotOnDevice =
    "not checked on a real device: reads out of bounds, races, barriers, shared memory that nothing wrote, "
    "other orders of blocks and threads, warps of another size, rows 2^31 elements apart; --backend emulated "
    "checks these";

/// Whether all tensors of four axes are passed with them in another order: a layout of its own, as [B, H, S,
/// D] is. That only some are is a fault wherever it is called.
bool turns_all(const Form& form, const std::vector<Value>& values) {
  bool turns = false;
  for (const Passing& passing : form.passings) {
    if (passing.what != Passing::What::role) continue;
    const Value& value = values[static_cast<std::size_t>(passing.role)];
    if (!value.is_tensor() || value.tensor.rank != 4) continue;
    if (passing.axes.empty()) return false;
    turns = true;
  }
  return turns;
}

/// A single other way of calling that makes a wrong answer right, where no variation of the numbers does.
bool adapt_to_answer(const Candidate& candidate, const CallSettings& settings, Called& called) {
  const double before = share_right(*called.given, called.trial);
  if (before > 0.9) return false;
  const std::vector<Change> list = changes(called.form, *called.port, *called.given, "");
  std::optional<std::size_t> taken;
  bool beside = false;  // of another layout a fault that is known may be left
  Trial trial;
  for (std::size_t i = 0; i < list.size() && !(taken && !beside); ++i) {
    Trial each = try_call(candidate, list[i].form, *called.port, *called.given, settings);
    if (!each.ok()) continue;
    const bool right = share_right(*called.given, each) >= std::max(0.98, before + 0.5);
    if (!right && (taken || list[i].finding.code != Code::layout_convention ||
                   !is_right_but_for_one_fault(*called.port, *called.given, each)))
      continue;
    taken = i;
    beside = !right;
    trial = std::move(each);
  }
  if (taken) {
    const Change& change = list[*taken];
    const double after = share_right(*called.given, trial);
    Finding finding = change.finding;
    if (finding.code == Code::dtype_refused) {
      finding.code = Code::dtype_reinterpreted;
      std::size_t at = 0;
      for (std::size_t i = 0; i < change.form.passings.size(); ++i)
        if (change.form.passings[i].cast != called.form.passings[i].cast) at = i;
      finding.evidence += fmt::format("; its bytes are read as {}", name_of(change.form.passings[at].cast));
      finding.fix = "check the tensor's dtype, and read its memory as that type";
    }
    // Memory has no rank: what it lacks is the order of axes that the others of its kind have.
    const auto turned =
        std::find_if(called.form.entry->parameters.begin(), called.form.entry->parameters.end(),
                     [&](const Parameter& p) { return p.name == finding.argument; });
    if (finding.code == Code::rank_refused && turned != called.form.entry->parameters.end() &&
        turned->kind == Parameter::Kind::pointer) {
      finding.code = Code::layout_convention;
      finding.evidence = finding.argument + " lies in another order than the other tensors with its axes";
      finding.fix = fmt::format("address {} as the tensors with the same axes", finding.argument);
    }
    finding.decides =
        finding.code == Code::layout_convention && !turns_all(change.form, called.given->values);
    finding.evidence +=
        beside ? std::string(": with this adapted all of the answer is right but for what is told besides")
               : fmt::format(": {:.1f} % of the answer is right, and with this adapted {:.1f} %",
                             100 * before, 100 * after);
    called.findings.push_back(std::move(finding));
    called.form = change.form;
    called.trial = trial;
    return true;
  }
  return false;
}

/// What the source says and no input can show beside the faults that were found.
void add_unobservable(const Numbers& numbers, const std::string& source, const std::string& file,
                      std::vector<Finding>& findings) {
  for (const std::string& name : numbers.explanation.masked) {
    const VariationCode& code = code_of(name);
    if (name != "clamp=127" && !name.starts_with("zero_guard")) continue;
    // What was measured of the answers is the other fault's rounding.
    if (std::any_of(numbers.measured.begin(), numbers.measured.end(),
                    [&](const oracle::Variation& each) { return each.name == name; }))
      continue;
    // Another form of what is found already, or of what is said to be masked.
    const auto alike = [&](const std::string& other) { return code_of(other).code == code.code; };
    const std::vector<std::string>& set = numbers.explanation.set;
    if (std::any_of(set.begin(), set.end(), alike) ||
        std::any_of(findings.begin(), findings.end(), [&](const Finding& f) { return f.code == code.code; }))
      continue;
    const int line = source.empty() ? 0 : line_of(source, {code.places.front()});
    if (line == 0) continue;
    Finding finding;
    finding.code = code.code;
    finding.strength = Strength::unobservable;
    finding.evidence = fmt::format(
        "the source has this fault, but next to {{{}}} no input makes it change the answer ({} calls tried)",
        joined_names(numbers.explanation.set), numbers.evidence.size());
    finding.location = {file, line};
    finding.fix = std::string(code.fix) + "; this has an effect once the others are fixed";
    finding.variations = {name};
    findings.push_back(std::move(finding));
  }
}

/// What is wrong besides with a candidate that takes every tensor for a compact one: its numbers where it is
/// given copies that are. None where no recorded call has another, or where that explains nothing.
std::optional<Numbers> of_compact_copies(const Candidate& candidate, const Called& called,
                                         const Questions& questions) {
  Form form = called.form;
  bool views = false;
  for (Passing& passing : form.passings) {
    if (passing.what != Passing::What::role) continue;
    const auto role = static_cast<std::size_t>(passing.role);
    for (const std::shared_ptr<const Given>& given : questions.recorded)
      passing.compact = passing.compact || (role < given->values.size() && given->values[role].is_tensor() &&
                                            !given->values[role].tensor.is_contiguous());
    views = views || passing.compact;
  }
  if (!views) return std::nullopt;
  Numbers numbers = explain_numbers(candidate, form, *called.port, questions);
  if (!numbers.explanation.explains) return std::nullopt;
  return numbers;
}

void execute(const Candidate& candidate, const DiagnoseRequest& request, const CallRequest& call,
             Called& called, Diagnosis& diagnosis) {
  Questions questions;
  questions.settings = call.settings;
  questions.recorded = call.recorded;
  questions.stranger = request.stranger;
  questions.dtypes = {called.dtypes};
  questions.dtypes.insert(questions.dtypes.end(), called.native.begin(), called.native.end());
  Numbers numbers;
  std::optional<Port> flagged;
  // What a flag makes right needs no cause looked for without it.
  if (!request.stranger || !call.recorded.empty() ||
      !take_flag(candidate, questions, called, flagged, numbers, true))
    numbers = explain_numbers(candidate, called.form, *called.port, questions);
  // Answers with a pattern are right but for that: no other way of calling is looked for.
  const auto unsettled = [&] { return !numbers.explanation.explains && !numbers.pattern; };
  if (request.stranger && unsettled() && !numbers.evidence.empty() &&
      !take_cleared(candidate, questions, called, numbers))
    take_convention(candidate, questions, called, numbers);
  // A function of tensors that no convention explains may do less than the op.
  const std::shared_ptr<const Port> asked_before = called.simpler;
  std::optional<Port> narrower;
  if (request.stranger && unsettled() && takes_tensors(*called.form.entry))
    try_simpler(candidate, call, called);
  if (called.simpler != asked_before) {
    called.port = &narrower.emplace(without_what_it_lacks(*called.simpler, called.form));
    questions.dtypes = {called.dtypes};
    numbers = explain_numbers(candidate, called.form, *called.port, questions);
  }
  if (request.stranger && !has_the_originals_name(candidate, called))
    take_whole_vectors(candidate, questions, called, numbers);
  if (request.stranger && unsettled() && !flagged) take_flag(candidate, questions, called, flagged, numbers);
  if (request.stranger) {
    diagnosis.findings.insert(
        diagnosis.findings.end(),
        called.findings.begin() + static_cast<std::ptrdiff_t>(diagnosis.findings.size()),
        called.findings.end());
    diagnosis.called_with = numbers_in_words(called.form, called.given->values);
  }
  if (Finding of_room = request.stranger ? of_unset_room(candidate, questions, called, numbers) : Finding();
      of_room.code != Code::none)
    diagnosis.findings.push_back(std::move(of_room));
  if (unsettled() && !numbers.raced && adapt_to_answer(candidate, call.settings, called)) {
    diagnosis.findings.push_back(called.findings.back());
    if (!request.stranger || called.findings.back().decides) diagnosis.call = Stage::failed;
    numbers = explain_numbers(candidate, called.form, *called.port, questions);
  }
  if (unsettled() && !numbers.raced)
    if (std::optional<Numbers> compact = of_compact_copies(candidate, called, questions))
      numbers = std::move(*compact);
  ask_longer_keys(candidate, request.source, questions, called, numbers);
  if (unsettled() && !numbers.raced)
    numbers.pattern = order_of_keys(candidate, called, questions.settings, numbers);
  const std::shared_ptr<const Candidate> wide = request.wide ? request.wide() : nullptr;
  // What explains them asks on, unless it is what too few lanes come to.
  const std::shared_ptr<const Candidate> other =
      numbers.explanation.explains && !is_of_fewer_lanes(numbers)
          ? nullptr
          : of_other_lanes(wide, request, called, questions, numbers, diagnosis);
  Finding of_locals;
  const std::shared_ptr<const Candidate> set =
      other != nullptr || numbers.raced || !request.with_locals
          ? nullptr
          : with_set_locals(request.with_locals, called, questions, numbers, of_locals);
  if (set != nullptr) {
    of_locals.location = {called.form.entry->place.file, line_of_unset_sum(request.source)};
    diagnosis.findings.push_back(std::move(of_locals));
  }
  if (other == nullptr && set == nullptr && !numbers.explanation.explains && !numbers.raced &&
      works_together(request.source))
    if (Finding finding = of_fewer_warps(candidate, called, questions, numbers); finding.code != Code::none) {
      finding.location = called.form.entry->place;
      diagnosis.findings.push_back(std::move(finding));
    }
  EditsAsked how = edits_asked(numbers, *called.form.entry, request.every_edit);
  how.stranger = request.stranger;
  const bool looked_for =
      other == nullptr && set == nullptr && how.any &&
      (!request.stranger || has_the_originals_name(candidate, called) ||
       (unsettled() && !takes_tensors(*called.form.entry) && !writes_nothing(*called.given, called.trial)));
  const Candidate* asked = other != nullptr ? other.get() : set != nullptr ? set.get() : &candidate;
  diagnosis.calls += static_cast<int>(numbers.evidence.size());
  diagnosis.notes.insert(diagnosis.notes.end(), numbers.large.begin(), numbers.large.end());
  for (std::size_t i = 0; i < numbers.answers.size(); ++i)
    findings_of_device(numbers.answers[i], *numbers.answered[i], diagnosis.findings);
  for (const Failure& failure : numbers.failures) {
    Finding finding = finding_of_end(failure.trial.answer, failure.given->line);
    if (failure.trial.answer.ok())
      finding.evidence = fmt::format("'{}': {}", failure.given->line, failure.trial.misfit);
    if (failure.trial.answer.ok()) finding.code = Code::shape_refused;
    findings_of_device(failure.trial.answer, *failure.given, diagnosis.findings);
    add_once(diagnosis.findings, std::move(finding));
  }
  if (std::string why = why_not_accused(candidate, request.stranger, questions.settings, called, numbers,
                                        diagnosis.findings);
      !why.empty()) {
    diagnosis.findings.clear();
    std::erase(diagnosis.notes, called.launch_note);
    diagnosis.error = std::move(why);
    return;
  }
  const Finding edit =
      looked_for ? of_one_edit(request.exchanging, called, questions, numbers, how) : Finding();
  const std::string guesses =
      request.stranger || !called.unsure.empty() ? guessed_numbers(called) : std::string();
  if (!guesses.empty() && !numbers.explanation.explains)
    diagnosis.notes.push_back(fmt::format("what {} is was guessed: no name says it", guesses));
  const auto harmless_races = [&] {
    if (std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                    [](const Finding& each) { return each.same_store && !is_remark(each); }) &&
        is_same_in_every_order(*asked, called, questions.settings))
      tell_benign_races(diagnosis.findings);
  };
  harmless_races();
  const bool memory_safe =
      std::none_of(diagnosis.findings.begin(), diagnosis.findings.end(), [](const Finding& f) {
        return f.code == Code::race || f.code == Code::out_of_bounds_write ||
               f.code == Code::out_of_bounds_read;
      });
  Probed probed;
  for (std::size_t i = 0; i < numbers.answers.size(); ++i)
    streams_of_device(numbers.answers[i], numbers.answered[i]->line, request.current_stream, probed);
  const Subjected subject{*asked,
                          called.form,
                          *called.port,
                          called.dtypes,
                          called.given,
                          questions.settings,
                          numbers.explanation.set,
                          numbers.explanation.others,
                          numbers.explanation.explains,
                          memory_safe,
                          request.source,
                          request.stranger && !has_the_originals_name(candidate, called)};
  if (!numbers.evidence.empty()) {
    probe_poison(subject, probed);
    probe_strides(subject, probed);
    if (asked->carries_sparse_storages()) probe_wide_strides(subject, probed);
    probe_indices(subject, probed);
    probe_sizes(subject, probed);
    probe_larger_sizes(subject, probed);
    probe_narrow_indices(subject, probed);
    probe_empty(subject, probed);
    probe_schedule(subject, asked == &candidate ? wide.get() : nullptr, probed);
    if (asked->backend() != Backend::emulated) {
      probe_measured(subject, call.recorded, probed);
      probed.notes.emplace_back(kNotOnDevice);
    }
  }
  if (!numbers.explanation.explains &&
      std::none_of(probed.findings.begin(), probed.findings.end(),
                   [](const Finding& f) { return f.code == Code::unwritten_output; }))
    unwritten_elements(called.form, *called.port, numbers, probed.findings);
  diagnosis.calls += probed.calls;
  std::vector<Finding> causes = findings_of(*called.port, numbers, diagnosis.notes);
  if (!how.watched) take_edit(causes, with_index(edit, probed.findings));
  // Of numbers that chance makes, the nearest set says nothing.
  if (numbers.raced && !numbers.explanation.explains)
    std::erase_if(causes, [](const Finding& each) { return each.strength == Strength::nearest; });
  add_causes(std::move(causes), std::move(probed.findings), diagnosis.findings, !call.recorded.empty());
  if (how.watched) take_edit(diagnosis.findings, edit);
  diagnosis.notes.insert(diagnosis.notes.end(), probed.notes.begin(), probed.notes.end());
  harmless_races();
  if (numbers.explanation.explains)
    tell_no_kernel(
        *asked, *called.form.entry, numbers.answers,
        [&] { return is_same_without_kernels(*asked, called, questions.settings); }, diagnosis.findings);
  if (request.stranger) {
    tell_conventions(called.port->op, diagnosis.findings);
    if (!has_the_originals_name(candidate, called)) tell_limits(diagnosis.findings);
  }
  tell_absent_lanes(diagnosis.findings);
  add_unobservable(numbers, request.source, request.source_file, diagnosis.findings);
  diagnosis.differences = differences_of(numbers);
  const auto faults = [](const std::vector<Finding>& list) {
    return std::count_if(list.begin(), list.end(), [](const Finding& each) { return !is_remark(each); });
  };
  std::vector<Finding> of_call = called.findings;
  if (request.stranger && !has_the_originals_name(candidate, called)) tell_limits(of_call);
  diagnosis.exec = faults(diagnosis.findings) > faults(of_call) ? Stage::failed : Stage::passed;
  if (numbers.evidence.empty()) diagnosis.exec = Stage::failed;
}

}  // namespace

std::string not_for_outside(const Entry& entry) {
  for (const Parameter& p : entry.parameters)
    if (p.kind == Parameter::Kind::unknown && !p.has_default)
      return fmt::format(
          "{} takes {} as {}, which cannot be made from the callers' arguments: add a host function over "
          "pointers or tensors that fills it and launches the kernel",
          entry.name, p.name.empty() ? "an argument" : p.name, p.type);
  return {};
}

void known_op(const Candidate& candidate, const DiagnoseRequest& request, const Reading& reading,
              Diagnosis& diagnosis) {
  CallRequest call;
  call.ports = reading.ports;
  call.entry = request.entry;
  call.function = request.function;
  call.settings = request.settings;
  call.stranger = request.stranger;
  call.source = request.source;
  if (call.function.empty() && request.recording != nullptr && !request.recording->calls.empty())
    call.function = request.recording->calls.front().function;
  // Where no instruction says what it has to be.
  call.any_name = request.texts.size() == 3 && request.texts[0].empty();
  if (request.recording != nullptr) take_recording(candidate, *request.recording, call, diagnosis.notes);
  Called called = find_call(candidate, call);
  // What is only too large is no fault: the others are asked, or the op's own problems.
  while (called.trial.answer.end == Answer::End::too_large && !call.recorded.empty()) {
    diagnosis.notes.push_back(
        fmt::format("'{}' is not judged: {}", called.given->line, called.trial.answer.message));
    std::erase(call.recorded, called.given);
    called = find_call(candidate, call);
  }
  // A port that looks at no dtype takes what they are cast to, and is not right.
  const bool no_float8 = called.trial.answer.unknown_element ||
                         std::any_of(called.findings.begin(), called.findings.end(),
                                     [](const Finding& each) { return each.unknown_element; });
  if (called.port != nullptr && no_float8) {
    // Who has such a PyTorch passes bytes.
    call.in_bytes = roles_in_bytes(*called.port);
    Called in_bytes = find_call(candidate, call);
    if (in_bytes.callable) called = std::move(in_bytes);
  }
  if (called.form.entry == nullptr) {
    diagnosis.error = "the candidate has no function or kernel that can be called";
    return;
  }
  if (!called.ambiguous.empty()) {
    diagnosis.error = called.ambiguous;
    return;
  }
  diagnosis.entry = called.form.entry->name;
  const bool stranger = request.stranger && called.form.entry->name != called.port->functions.front();
  if (stranger && called.callable && !has_the_originals_name(candidate, called)) tell_limits(called.findings);
  if (stranger) diagnosis.error = takes_pages(called);
  if (!diagnosis.error.empty()) return;
  // Nobody says that it is the op; of a port it is a finding.
  if (const std::string without = inputs_not_taken(called.form, *called.port); stranger && !without.empty()) {
    diagnosis.error =
        fmt::format("{} takes nothing for {} of {}: it is another operation, and is not judged as this one",
                    diagnosis.entry, without, called.port->op);
    return;
  }
  if (const std::string without = outputs_not_given(called.form, *called.port);
      stranger && called.callable && !without.empty()) {
    diagnosis.error =
        fmt::format("{} gives nothing for {} of {}: it answers less than the op, and is not judged",
                    diagnosis.entry, without, called.port->op);
    return;
  }
  if (stranger) diagnosis.error = takes_host_memory(called);
  if (stranger && diagnosis.error.empty()) diagnosis.error = takes_more_memory(called);
  if (stranger && diagnosis.error.empty()) diagnosis.error = takes_more_tensors(called);
  if (stranger && diagnosis.error.empty()) diagnosis.error = takes_bytes_for_numbers(called);
  if (!diagnosis.error.empty()) return;
  diagnosis.findings = called.findings;
  diagnosis.notes.insert(diagnosis.notes.end(), called.notes.begin(), called.notes.end());
  for (std::string& note : given_besides(called, stranger)) diagnosis.notes.push_back(std::move(note));
  diagnosis.calls += 1;
  diagnosis.call = called.callable && std::all_of(called.findings.begin(), called.findings.end(), is_remark)
                       ? Stage::passed
                       : Stage::failed;
  if (const std::string why = not_for_outside(*called.form.entry); !why.empty()) {
    diagnosis.error = why;
    return;
  }
  if (called.trial.answer.unknown_element) {
    diagnosis.error = fmt::format(
        "{}: its callers pass 8-bit floats, which need PyTorch 2.1 or later: set ISOMER_TORCH to the torch "
        "folder of such a PyTorch",
        diagnosis.entry);
    return;
  }
  if (!called.unknown_launch.empty()) {
    diagnosis.error = called.unknown_launch;
    if (stranger) diagnosis.findings.clear();  // what it takes otherwise is nobody's
    return;
  }
  if (!called.callable && stranger)
    if (std::string why = why_not_accused(called); !why.empty()) {
      diagnosis.findings.clear();
      diagnosis.error = std::move(why);
      return;
    }
  if (!called.callable) {
    findings_of_device(called.trial.answer, *called.given, diagnosis.findings);
    Finding finding = finding_of_end(called.trial.answer, called.given->line);
    const std::size_t takes = called.form.entry->parameters.size();
    if (called.trial.answer.end == Answer::End::not_callable)
      finding.code = takes == called.form.passings.size() ? Code::argument_kind : Code::argument_count;
    else if (called.trial.answer.end == Answer::End::refused)
      say_what_is_refused(called.trial.answer.message, *called.form.entry, called.port->roles, finding);
    if (finding.code != Code::assertion && finding.code != Code::crash && finding.code != Code::timeout &&
        finding.code != Code::resource_limit)
      finding.evidence = fmt::format("no way to call {} was found: {}", diagnosis.entry, finding.evidence);
    // A crash on memory that was not given is the caller's, who does not know what the parameter is.
    for (std::size_t i = 0; i < called.form.passings.size() && i < takes; ++i) {
      const Parameter& p = called.form.entry->parameters[i];
      if (called.form.passings[i].what != Passing::What::none || p.kind != Parameter::Kind::pointer) continue;
      finding.code = Code::argument_kind;
      finding.argument = p.name;
      finding.evidence = fmt::format("the original has no argument {} ({}), so it got null: {}", p.name,
                                     p.type, finding.evidence);
      finding.fix = "take the original's tensors and numbers; pass strides as separate whole numbers";
      finding.location = called.form.entry->place;
      break;
    }
    const bool counted =
        std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), [&](const Finding& each) {
          return each.code == finding.code && (finding.argument.empty() || each.argument == finding.argument);
        });
    if (finding.location.line == 0) finding.location = called.form.entry->place;
    // A status that says no more than that the launch failed.
    const bool launch = finding.code == Code::shape_refused &&
                        std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                                    [](const Finding& each) { return each.code == Code::launch_failed; });
    if (!counted && !launch) add_once(diagnosis.findings, std::move(finding));
    return;
  }
  diagnosis.called_with = numbers_in_words(called.form, called.given->values);
  const Port narrowed = without_what_it_lacks(*called.port, called.form);
  called.port = &narrowed;
  // What it is not given, the problem that it answered does not have either.
  if (!narrowed.left_off.empty() && call.recorded.empty()) {
    const std::shared_ptr<const Given> plain =
        given_by_line(narrowed, narrowed.original->probes.front(), called.dtypes);
    Trial trial = try_call(candidate, called.form, narrowed, *plain, call.settings);
    if (trial.ok()) {
      called.given = plain;
      called.trial = std::move(trial);
    }
  }
  if (called.judgeable) execute(candidate, request, call, called, diagnosis);
}

}  // namespace isomer::lab
