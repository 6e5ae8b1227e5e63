#include "lab/judge/diagnose.hpp"

#include "lab/ask/find_call.hpp"
#include "lab/ask/names/shape_comments.hpp"
#include "lab/ask/reading.hpp"
#include "lab/ask/recorded/binding.hpp"
#include "lab/findings/source_places.hpp"
#include "lab/judge/fewer_warps.hpp"
#include "lab/judge/known_op.hpp"
#include "lab/judge/replay.hpp"
#include "lab/judge/unset_locals.hpp"
#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace isomer::lab {
namespace {

/// Whether an original makes memory that is cleared: results may be added to there.
bool label_clears(const std::vector<std::string>& texts) {
  static const Pattern clears("torch\\.(zeros|ones|full)|new_(zeros|ones|full)|\\.(zero|fill)_\\(");
  // Of instruction, label and test the label.
  if (texts.size() == 3) return clears.found_in(texts[1]);
  return std::any_of(texts.begin(), texts.end(),
                     [](const std::string& text) { return clears.found_in(text); });
}

/// What the label calls the sizes of its tensors, in its code and its words, then what the candidate's
/// comments do, and the test.
NamedSizes sizes_said(const DiagnoseRequest& request) {
  NamedSizes sizes = named_sizes(request.texts);
  const auto add = [&](const NamedSizes& more) { sizes.insert(sizes.end(), more.begin(), more.end()); };
  if (request.texts.size() == 3) add(sizes_in_documents(request.texts[1]));
  add(sizes_in_comments(request.source));
  if (request.texts.size() == 3) add(sizes_of_made_tensors(request.texts[2]));
  return with_words_of_images(std::move(sizes));
}

bool has_ports(const std::string& op) {
  return std::any_of(ports().begin(), ports().end(), [&](const Port& port) { return port.op == op; });
}

bool among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The op, by what was asked, by the label's function, by the recording, by what the candidate exports.
std::string op_of(const Candidate& candidate, const DiagnoseRequest& request) {
  if (!request.op.empty()) return request.op;
  std::vector<std::string> names = {request.function, request.entry};
  if (request.recording != nullptr)
    for (const RecordedCall& call : request.recording->calls) names.push_back(call.function);
  for (const Entry& entry : candidate.entries()) names.push_back(entry.name);
  return op_of_functions(names);
}

/// What edits answer to the calls that have a number now, by that number.
EditedReference edited_of(const EditedReference& all, const std::vector<std::optional<std::size_t>>& now) {
  EditedReference own;
  for (const EditedReference::Edit& edit : all.edits)
    own.edits.push_back({edit.line, edit.was, edit.becomes, edit.code});
  std::ptrdiff_t first = 0;
  for (const EditedReference::Call& call : all.calls) {
    std::ptrdiff_t end = first;
    for (const EditedReference::Output& output : call.outputs)
      end += static_cast<std::ptrdiff_t>(output.at.size());
    if (now[call.call]) {
      own.calls.push_back({*now[call.call], call.outputs});
      for (std::size_t e = 0; e < own.edits.size(); ++e) {
        const std::vector<float>& answers = all.edits[e].answers;
        own.edits[e].answers.insert(own.edits[e].answers.end(), answers.begin() + first,
                                    answers.begin() + end);
      }
    }
    first = end;
  }
  return own;
}

/// The calls of one of the label's functions; a copy shares their memory.
Recording calls_of(const Recording& recording, const std::string& function) {
  Recording own{{}, recording.metadata};
  std::vector<std::optional<std::size_t>> now(recording.calls.size());
  for (std::size_t i = 0; i < recording.calls.size(); ++i)
    if (recording.calls[i].function == function) {
      now[i] = own.calls.size();
      own.calls.push_back(recording.calls[i]);
    }
  own.edited = edited_of(recording.edited, now);
  for (const RecordedCall& call : recording.asked)
    if (call.function == function) own.asked.push_back(call);
  return own;
}

bool is_memory(const Parameter& p) {
  return p.kind == Parameter::Kind::tensor || p.kind == Parameter::Kind::optional_tensor ||
         p.kind == Parameter::Kind::pointer;
}

/// What an entry without the name that callers use can be: of the best form that there is, nothing that only
/// serves another; of several, those with the name in theirs, and those that take as many tensors as the call
/// has. One is what is meant; several are none.
std::vector<const Entry*> unnamed_entries(const Candidate& candidate, const RecordedCall& call,
                                          const std::string& wanted) {
  std::vector<const Entry*> list;
  for (const Entry& entry : candidate.entries())
    if (entry.form == candidate.entries().front().form && !entry.called_inside &&
        can_be_the_entry(candidate, entry))
      list.push_back(&entry);
  const auto keep = [&](const auto& fits) {
    std::vector<const Entry*> kept;
    for (const Entry* entry : list)
      if (fits(*entry)) kept.push_back(entry);
    if (!kept.empty()) list = std::move(kept);
  };
  if (list.size() > 1)
    keep([&](const Entry& entry) {
      return lower_case(entry.name).find(lower_case(wanted)) != std::string::npos;
    });
  const auto tensors = [](const std::vector<Value>& values) {
    return std::count_if(values.begin(), values.end(), [](const Value& value) { return value.is_tensor(); });
  };
  if (list.size() > 1)
    keep([&](const Entry& entry) {
      const auto memory = std::count_if(entry.parameters.begin(), entry.parameters.end(), is_memory);
      return memory == tensors(call.before) || memory == tensors(call.before) + tensors(call.returned);
    });
  if (list.empty() && !candidate.entries().empty()) list.push_back(&candidate.entries().front());
  return list;
}

/// An op of which only calls are recorded: each of the label's functions with the entry of its name.
void recorded_functions(const Candidate& candidate, const DiagnoseRequest& request, Diagnosis& diagnosis) {
  std::vector<std::string> functions;
  std::string why;  // of the last that could not be judged
  for (const RecordedCall& call : request.recording->calls)
    if (!among(functions, call.function)) functions.push_back(call.function);
  const auto exported = [&](const std::string& name) -> const Entry* {
    for (const Entry& each : candidate.entries())
      if (each.name == name) return &each;
    return nullptr;
  };
  const bool any = std::any_of(functions.begin(), functions.end(), exported);
  for (const std::string& function : functions) {
    const std::string wanted = request.entry.empty() ? function : request.entry;
    const Entry* entry = exported(wanted);
    if (entry == nullptr && any && request.entry.empty()) {
      diagnosis.notes.push_back(fmt::format("the test also calls {}, which is not exported", function));
      continue;
    }
    if (entry == nullptr) {
      const Recording own = calls_of(*request.recording, function);
      const std::vector<const Entry*> list = unnamed_entries(candidate, own.calls.front(), wanted);
      // One function for each type of elements is one function.
      const auto is_twin =
          [&, twins = list.empty() ? list : dtype_twins(candidate, *list.front())](const Entry* each) {
            return std::find(twins.begin(), twins.end(), each) != twins.end();
          };
      if (list.size() > 1 && !std::all_of(list.begin(), list.end(), is_twin)) {
        diagnosis.error = several_entries(list);
        return;
      }
      if (!list.empty()) entry = list.front();
    }
    if (entry == nullptr) {
      diagnosis.error = "the candidate has no function or kernel that can be called";
      return;
    }
    if (diagnosis.error = not_for_outside(*entry); !diagnosis.error.empty()) return;
    if (diagnosis.entry.empty()) diagnosis.entry = entry->name;
    // What a label's function is called by is the wrapper's matter, where nobody asks for a name.
    if (entry->name != wanted && entry->form != Entry::Form::kernel && !request.asks_for(wanted)) {
      diagnosis.notes.push_back(fmt::format("{} was called for the label's {}", entry->name, wanted));
    } else if (entry->name != wanted && entry->form != Entry::Form::kernel) {
      Finding finding;
      finding.code = Code::symbol_name;
      finding.argument = wanted;
      finding.evidence = fmt::format("callers look for {}, but the candidate exports {}, which was called",
                                     wanted, entry->name);
      finding.fix = fmt::format("export the function as {}", wanted);
      finding.location = entry->place;
      diagnosis.findings.push_back(std::move(finding));
    }
    const Recording own = calls_of(*request.recording, function);
    replay(
        candidate, *entry,
        {own, request.rtol, request.atol, request.settings, request.wide, request.narrow_warps,
         sizes_said(request), request.with_locals, line_of_unset_sum(request.source),
         label_clears(request.texts), works_together(request.source), request.exchanging, request.every_edit,
         request.texts.size() == 3 ? of_label(request.texts[1]).numbers : std::vector<std::string>()},
        diagnosis);
    if (functions.size() > 1 && !diagnosis.error.empty()) {
      why = fmt::format("{}: {}", function, diagnosis.error);
      diagnosis.notes.push_back(why);
      diagnosis.error.clear();
    }
    // Of several functions without a name of their own, and of an entry that was asked for, the first is it.
    if (!any || !request.entry.empty()) break;
  }
  if (diagnosis.calls == 0 && diagnosis.findings.empty() && diagnosis.error.empty()) diagnosis.error = why;
}

bool is_of_candidate(const Finding& finding) { return finding.subject == Subject::candidate; }

/// Findings that say what is wrong and not why.
bool is_unexplained(const Diagnosis& diagnosis) {
  return std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), [](const Finding& each) {
    return is_of_candidate(each) && each.strength == Strength::nearest;
  });
}

/// A fault that recorded calls alone leave unexplained, or behind a call that is not answered, may be one of
/// an op's that goes by another name here: what that says is taken where it explains more.
void as_the_op_of_answers(const Candidate& candidate, const DiagnoseRequest& request, Diagnosis& diagnosis) {
  if (diagnosis.findings.empty() || (!is_unexplained(diagnosis) && diagnosis.call != Stage::failed)) return;
  Diagnosis other;
  other.op = op_of_answers(*request.recording);
  if (other.op.empty()) return;
  other.compile = diagnosis.compile;
  other.backend = diagnosis.backend;
  known_op(candidate, request, reading_of(other.op, request.recording.get(), request.texts), other);
  if (!other.error.empty() || is_unexplained(other) || other.findings.empty()) return;
  if (!is_unexplained(diagnosis) && other.findings.size() <= diagnosis.findings.size()) return;
  other.notes.insert(
      other.notes.begin(),
      fmt::format("judged as {}, because the recorded answers are those of this op", other.op));
  diagnosis = std::move(other);
}

}  // namespace

std::string op_of_functions(const std::vector<std::string>& functions) {
  for (const std::string& name : functions)
    for (const Port& port : ports())
      if (among(port.functions, name)) return port.op;
  return {};
}

Diagnosis diagnose(const Candidate& candidate, const DiagnoseRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  Diagnosis diagnosis;
  diagnosis.compile = Stage::passed;
  diagnosis.backend = name_of(candidate.backend());
  diagnosis.op = op_of(candidate, request);
  const Reading reading = reading_of(diagnosis.op, request.recording.get(), request.texts);
  // A name is no op: what callers pass and get decides, unless the user does.
  if (!reading.another.empty() && request.op.empty()) {
    diagnosis.notes.push_back(fmt::format(
        "it has the name of {} but is another operation ({}), so it is judged by the recorded calls",
        diagnosis.op, reading.another));
    diagnosis.op.clear();
  }
  if (!diagnosis.op.empty() && !has_ports(diagnosis.op)) {
    std::string known;
    for (const Port& port : ports())
      if (known.find(port.op) == std::string::npos) known += (known.empty() ? "" : ", ") + port.op;
    diagnosis.error = fmt::format("'{}' is not an op of which ports can be judged, expected one of {}",
                                  diagnosis.op, known);
  } else if (!diagnosis.op.empty()) {
    known_op(candidate, request, reading, diagnosis);
  } else if (request.recording == nullptr || request.recording->calls.empty()) {
    diagnosis.error = "its op is not known (name it with --op), and no call of its label is recorded";
  } else {
    recorded_functions(candidate, request, diagnosis);
    // Of what only has an op's name it is known that it is another.
    if (reading.another.empty()) as_the_op_of_answers(candidate, request, diagnosis);
  }
  add_places(diagnosis.findings, request.source, request.source_file);
  order(diagnosis.findings);
  diagnosis.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return diagnosis;
}

}  // namespace isomer::lab
