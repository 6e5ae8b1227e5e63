// Memory that the candidate is given beside the label's arguments: what the label computes on its way, and
// what is lent, which nothing of the label stands for.
#include "lab/ask/names/alike.hpp"
#include "lab/ask/names/bare.hpp"
#include "lab/ask/recorded/bound_parts.hpp"
#include "lab/ask/recorded/own_tensors.hpp"
#include "lab/evidence/recorded/probes/resized.hpp"
#include "lab/findings/conventions.hpp"
#include "lab/judge/group_replay.hpp"
#include "lab/text/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace isomer::lab {
namespace {

bool all_right(const std::vector<CallOutcome>& outcomes) {
  return std::all_of(outcomes.begin(), outcomes.end(), [](const CallOutcome& each) { return each.right(); });
}

bool same_answers(const std::vector<CallOutcome>& one, const std::vector<CallOutcome>& other) {
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (!one[i].answer.ok() || !other[i].answer.ok()) return false;
    for (std::size_t t = 0; t < one[i].got.size(); ++t)
      if (!std::equal(one[i].got[t].begin(), one[i].got[t].end(), other[i].got[t].begin(),
                      other[i].got[t].end(), same_value))
        return false;
  }
  return true;
}

/// Whether each call leaves something else there than what was lent.
bool write_all(const std::vector<std::size_t>& room, const std::vector<CallOutcome>& outcomes,
               std::uint8_t lent) {
  return std::all_of(outcomes.begin(), outcomes.end(), [&](const CallOutcome& outcome) {
    return std::all_of(room.begin(), room.end(), [&](std::size_t p) {
      if (!outcome.answer.ok() || p >= outcome.answer.arguments.size()) return false;
      const Value& value = outcome.answer.arguments[p];
      const auto* bytes = static_cast<const std::uint8_t*>(value.storage.get());
      return std::any_of(bytes, bytes + value.storage_bytes, [&](std::uint8_t each) { return each != lent; });
    });
  });
}

bool is_given(const Replayed& call, const std::string& name) {
  const auto has_a_value = [&](const std::string& own, const Value& value) {
    return value.kind != Value::Kind::none && bare(own) == bare(name);
  };
  for (std::size_t r = 0; r < call.roles.size() && r < call.values.size(); ++r)
    if (has_a_value(call.roles[r].name, call.values[r])) return true;
  return std::any_of(call.left_out.begin(), call.left_out.end(),
                     [&](const Value& each) { return has_a_value(each.name, each); });
}

/// Whether the label has an argument of that name that may be None.
bool may_be_none(const Replayed& call, const LabelFunction* label, const std::string& name) {
  const auto is = [&](const auto& each) { return bare(each.name) == bare(name); };
  return std::any_of(call.roles.begin(), call.roles.end(), is) ||
         (label != nullptr &&
          std::any_of(label->parameters.begin(), label->parameters.end(),
                      [&](const LabelParameter& each) { return each.has_default && is(each); }));
}

/// Whether the label has an argument of that name.
bool is_of_label(const Replayed& call, const LabelFunction* label, const std::string& name) {
  const auto is = [&](const auto& each) { return bare(each.name) == bare(name); };
  return std::any_of(call.roles.begin(), call.roles.end(), is) ||
         (label != nullptr && std::any_of(label->parameters.begin(), label->parameters.end(), is));
}

/// `limit` of `has_limit` or `use_limit`; empty: it is no name of a flag.
std::string of_flag(const std::string& name) {
  for (const std::string_view front : {"has_", "use_", "with_", "have_", "is_"})
    if (name.starts_with(front)) return name.substr(front.size());
  return {};
}

/// Whether a comment beside lent memory calls it scratch, and does not ask for zeros there.
bool is_said_to_be_scratch(const Form& form, const std::string& source) {
  static const Pattern cleared("(?i)zero|clear|initiali");
  for (std::size_t p = 0; p < std::min(form.passings.size(), form.entry->parameters.size()); ++p) {
    if (form.passings[p].what != Passing::What::room) continue;
    const Pattern scratch("(?i)\\*[ \\t]*" + literally(form.entry->parameters[p].name) +
                          "\\b[^\\n]*(?://|/\\*)[^\\n]*\\b(?:scratch|temporar|workspace)[^\\n]*");
    for (const Match& match : scratch.all(source))
      if (!cleared.found_in(match[0])) return true;
  }
  return false;
}

Passing passed_as(double number) {
  Passing passing;
  passing.what = Passing::What::constant;
  passing.constant = number;
  return passing;
}

}  // namespace

std::set<std::string> GroupReplay::null_pointers() const {
  const Form& form = approach_.form;
  std::set<std::string> names;
  for (std::size_t i = 0; i < form.passings.size() && i < form.entry->parameters.size(); ++i) {
    const Parameter& p = form.entry->parameters[i];
    if (form.passings[i].what != Passing::What::none || p.kind != Parameter::Kind::pointer || p.has_default)
      continue;
    names.insert(p.name);
  }
  return names;
}

std::set<std::string> GroupReplay::memory_of_nobody() const {
  const bool read = std::any_of(outcomes_.begin(), outcomes_.end(), [](const CallOutcome& outcome) {
    return std::any_of(outcome.answer.seen.begin(), outcome.answer.seen.end(),
                       [](const Seen& seen) { return seen.null; });
  });
  // Who launches nothing where others are answered asks for it.
  const bool refuses =
      !outcomes_.empty() && std::all_of(outcomes_.begin(), outcomes_.end(), [](const CallOutcome& outcome) {
        return outcome.answer.ok() && !outcome.right() && outcome.answer.launches == 0 &&
               outcome.answer.refused_launches.empty();
      });
  return read || refuses ? null_pointers() : std::set<std::string>();
}

void GroupReplay::take_back(const GroupReplay& before) {
  approach_ = before.approach_;
  outcomes_ = before.outcomes_;
  unsure_ = before.unsure_;
  sizes_by_ = before.sizes_by_;
  settled_ = before.settled_;
  other_sizes_ = before.other_sizes_;
  adapted_ = before.adapted_;
}

void GroupReplay::ask_anew(const Bound& bound, const std::vector<Replayed>& calls,
                           const Diagnosis& at_first) {
  diagnosis_ = at_first;
  outcomes_.clear();
  adapted_ = false;
  for (const Finding& finding : bound.findings) add_once(diagnosis_.findings, finding);
  ask_as(bound, calls);
}

void GroupReplay::try_own_by_name(std::vector<Replayed>& calls, const Diagnosis& at_first, Bound& bound) {
  const std::vector<int> own = all_right(outcomes_) ? std::vector<int>() : own_by_name(approach_.form, calls);
  if (own.empty()) return;
  Bound by_name = bound_with(calls.front(), own);
  take_own_tensors(by_name.form, calls);
  std::vector<Replayed> kept;
  double before = 0;
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (has_own_tensors(by_name.form, calls[i])) {
      kept.push_back(calls[i]);
      before += outcomes_[i].share();
    }
  const GroupReplay as_bound = *this;
  const Diagnosis told = diagnosis_;
  ask_anew(by_name, kept, at_first);
  double now = 0;
  for (const CallOutcome& each : outcomes_) now += each.share();
  if (now > before || (now == before && by_name.findings.size() < bound.findings.size())) {
    bound = std::move(by_name);
    calls = std::move(kept);
    return;
  }
  take_back(as_bound);
  diagnosis_ = told;
}

void GroupReplay::try_own_left(const std::vector<Replayed>& calls, const Diagnosis& at_first, Bound& bound) {
  if (all_right(outcomes_) || std::any_of(outcomes_.begin(), outcomes_.end(), lost)) return;
  const GroupReplay as_bound = *this;
  const Diagnosis told = diagnosis_;
  for (const Form& form : with_own_left(bound.form, calls)) {
    if (std::any_of(calls.begin(), calls.end(),
                    [&](const Replayed& each) { return !has_own_tensors(form, each); }))
      continue;
    Bound other = bound;
    other.form = form;
    ask_anew(other, calls, at_first);
    if (all_right(outcomes_)) {
      bound = std::move(other);
      return;
    }
    take_back(as_bound);
    diagnosis_ = told;
  }
}

void GroupReplay::try_other_numbers(const std::vector<Replayed>& calls, const Diagnosis& at_first,
                                    Bound& bound) {
  constexpr std::size_t kMostTried = 3;
  if (all_right(outcomes_) || std::any_of(outcomes_.begin(), outcomes_.end(), lost)) return;
  std::vector<int> by_kind;
  for (std::size_t p = 0; p < std::min(bound.form.passings.size(), entry_.parameters.size()); ++p) {
    const Passing& passing = bound.form.passings[p];
    if (passing.what != Passing::What::role || entry_.parameters[p].kind != Parameter::Kind::integer)
      continue;
    const auto role = static_cast<std::size_t>(passing.role);
    const Value::Kind kind = calls.front().values[role].kind;
    if ((kind == Value::Kind::boolean || (kind == Value::Kind::integer && !bound.unsure.empty())) &&
        bare(calls.front().roles[role].name) != bare(entry_.parameters[p].name))
      by_kind.push_back(static_cast<int>(p));
  }
  if (by_kind.size() > kMostTried) by_kind.resize(kMostTried);
  const GroupReplay as_bound = *this;
  const Diagnosis told = diagnosis_;
  const bool by_order =
      std::any_of(options_.begin(), options_.end(), [](const OptionCode& each) { return each.by_order; });
  if (by_order) by_kind.insert(by_kind.begin(), -1);
  for (const int each : by_kind) {
    // Whole numbers that only their order makes options may be sizes.
    std::vector<int> left = {each};
    if (each < 0) left.clear();
    for (OptionCode& option : options_) {
      option.left_alone =
          each < 0 && option.by_order && entry_.parameters[option.parameter].kind == Parameter::Kind::integer;
      if (option.left_alone) left.push_back(static_cast<int>(option.parameter));
    }
    Bound other = bound_with(calls.front(), left);
    take_own_tensors(other.form, calls);
    ask_anew(other, calls, at_first);
    if (all_right(outcomes_)) {
      bound = std::move(other);
      return;
    }
    take_back(as_bound);
    options_ = as_bound.options_;
    diagnosis_ = told;
  }
}

void GroupReplay::try_numbers_for_none(const std::vector<Replayed>& calls) {
  if (all_right(outcomes_) || std::any_of(outcomes_.begin(), outcomes_.end(), lost)) return;
  const Replayed& call = calls.front();
  const LabelFunction* label = facts_ == nullptr ? nullptr : facts_->function(call.call->function);
  const auto take_if_right = [&](Approach other) {
    std::vector<CallOutcome> outcomes;
    for (const Replayed& each : calls) outcomes.push_back(replay_once(other, each));
    if (!all_right(outcomes)) return false;
    approach_ = std::move(other);
    outcomes_ = std::move(outcomes);
    return true;
  };
  const std::size_t count = std::min(approach_.form.passings.size(), entry_.parameters.size());
  Approach flagged = approach_;
  bool flags = false;
  for (std::size_t p = 0; p < count; ++p) {
    const Parameter& parameter = entry_.parameters[p];
    const std::string name = of_flag(parameter.name);
    const bool flag =
        parameter.kind == Parameter::Kind::boolean || parameter.kind == Parameter::Kind::integer;
    if (!flag || name.empty() || may_be_none(call, label, parameter.name) || !may_be_none(call, label, name))
      continue;
    flagged.form.passings[p] = passed_as(is_given(call, name) ? 1 : 0);
    flags = true;
  }
  if (flags && take_if_right(flagged)) return;
  for (std::size_t p = 0; p < count; ++p) {
    const Parameter& parameter = entry_.parameters[p];
    if (parameter.kind != Parameter::Kind::real && parameter.kind != Parameter::Kind::integer) continue;
    if (is_given(call, parameter.name) || !may_be_none(call, label, parameter.name)) continue;
    constexpr double kVeryLarge = 1e30;
    for (const double number : {-1.0, 0.0, kVeryLarge}) {
      if (number == kVeryLarge && parameter.kind == Parameter::Kind::integer) continue;
      Approach other = flagged;
      other.form.passings[p] = passed_as(number);
      if (take_if_right(std::move(other))) return;
    }
  }
}

void GroupReplay::tell_own_tensors(const Replayed& call) {
  std::string names;
  std::size_t count = 0;
  for (const std::size_t p : passed_own_tensors(approach_.form, call))
    names += (count++ == 0 ? "" : ", ") + entry_.parameters[p].name;
  if (count == 0) return;
  const std::string note =
      fmt::format("{} {} what the label computes on its way", names, count == 1 ? "is" : "are");
  std::vector<std::string>& notes = diagnosis_.notes;
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
}

std::vector<std::size_t> GroupReplay::reals_of_nobody(const Replayed& call) const {
  std::vector<std::size_t> list;
  for (std::size_t p = 0; p < std::min(approach_.form.passings.size(), entry_.parameters.size()); ++p) {
    const Parameter& parameter = entry_.parameters[p];
    if (parameter.kind == Parameter::Kind::real && entry_.form != Entry::Form::extension &&
        approach_.form.passings[p].what == Passing::What::constant && left_out(call, parameter) == nullptr &&
        !may_be_none(call, facts_ == nullptr ? nullptr : facts_->function(call.call->function),
                     parameter.name) &&
        parameter.name.find("eps") == std::string::npos)
      list.push_back(p);
  }
  return list;
}

void GroupReplay::try_computed_reals(const std::vector<Replayed>& calls) {
  constexpr std::size_t kMost = 2;
  if (all_right(outcomes_) || std::any_of(outcomes_.begin(), outcomes_.end(), lost)) return;
  const Replayed& first = calls.front();
  const std::vector<std::size_t> places = reals_of_nobody(first);
  if (places.empty() || places.size() > kMost) return;
  std::vector<Approach> ways = {approach_};
  for (const std::size_t p : places) {
    std::vector<Approach> more;
    for (const Approach& each : ways)
      for (std::size_t v = first.roles.size(); v < first.values.size(); ++v) {
        if (first.values[v].kind != Value::Kind::real) continue;
        more.push_back(each);
        more.back().form.passings[p] = Passing();
        more.back().form.passings[p].what = Passing::What::computed;
        more.back().form.passings[p].computed = static_cast<int>(v);
      }
    ways = std::move(more);
  }
  for (Approach& way : ways) {
    std::vector<CallOutcome> outcomes;
    for (const Replayed& each : calls) {
      outcomes.push_back(replay_once(way, each));
      if (!outcomes.back().right()) break;
    }
    if (outcomes.size() < calls.size() || !all_right(outcomes)) continue;
    approach_ = std::move(way);
    outcomes_ = std::move(outcomes);
    diagnosis_.called_with = numbers_in_words(approach_.form, first.values);
    return;
  }
  real_of_nobody_ = entry_.parameters[places.front()].name;
}

void GroupReplay::tell_in_place(const Replayed& call) {
  std::string names;
  for (const auto& [role, parameter] : approach_.form.in_place)
    names += (names.empty() ? "" : ", ") + entry_.parameters[static_cast<std::size_t>(parameter)].name;
  if (names.empty()) return;
  const std::string note =
      fmt::format("after the call {} {} what {} returns", names,
                  approach_.form.in_place.size() == 1 ? "holds" : "hold", call.call->function);
  std::vector<std::string>& notes = diagnosis_.notes;
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
}

void GroupReplay::try_other_results(const std::vector<Replayed>& calls, const Diagnosis& at_first,
                                    Bound& bound) {
  constexpr std::size_t kMostTried = 5;
  if (all_right(outcomes_) || std::any_of(outcomes_.begin(), outcomes_.end(), lost)) return;
  // Of several pointers that may be written, one is the result, and the others are room.
  std::vector<Bound> ways;
  const auto may_be = [&](std::size_t p) {
    return entry_.parameters[p].kind == Parameter::Kind::pointer && !entry_.parameters[p].is_const;
  };
  const std::size_t count = std::min(bound.form.passings.size(), entry_.parameters.size());
  const LabelFunction* label = facts_ == nullptr ? nullptr : facts_->function(calls.front().call->function);
  // As it is, where all that they lack is room.
  Bound lent = bound;
  bool lends = false;
  for (std::size_t p = 0; p < count; ++p) {
    const Parameter& parameter = entry_.parameters[p];
    if (!may_be(p) || bound.form.passings[p].what != Passing::What::none || parameter.has_default ||
        is_of_label(calls.front(), label, parameter.name))
      continue;
    lent.form.passings[p].what = Passing::What::room;
    lends = true;
  }
  if (lends) ways.push_back(std::move(lent));
  for (std::size_t result = 0; result < count; ++result) {
    const Passing& passing = bound.form.passings[result];
    if (!may_be(result) || passing.what != Passing::What::role) continue;
    const Port::Role& role = calls.front().roles[static_cast<std::size_t>(passing.role)];
    // `std_out` is the label's std.
    const std::string& name = entry_.parameters[result].name;
    if (!role.returned || bare(role.called) == bare(name) ||
        (!role.called.empty() && words_of_tensor(role.called) == words_of_tensor(name)))
      continue;
    for (std::size_t other = 0; other < count; ++other) {
      const Passing::What what = bound.form.passings[other].what;
      if (!may_be(other) || (what != Passing::What::none && what != Passing::What::room) ||
          entry_.parameters[result].element != entry_.parameters[other].element || ways.size() == kMostTried)
        continue;
      ways.push_back(bound);
      std::swap(ways.back().form.passings[result], ways.back().form.passings[other]);
      ways.back().form.passings[result] = Passing();
      ways.back().form.passings[result].what = Passing::What::room;
    }
  }
  const GroupReplay as_bound = *this;
  const Diagnosis told = diagnosis_;
  const bool reads_nothing = !memory_of_nobody().empty();
  const auto ask_way = [&](Bound& way) {
    ask_anew(way, calls, at_first);
    try_numbers_for_none(calls);
    way.form = approach_.form;
  };
  std::vector<std::size_t> whole;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    ask_way(ways[i]);
    if (all_right(outcomes_)) {
      bound = std::move(ways[i]);
      return;
    }
    const auto keeps = [](const CallOutcome& each) { return each.answer.ok() && each.answer.seen.empty(); };
    if ((i > 0 || !lends) && std::all_of(outcomes_.begin(), outcomes_.end(), keeps)) whole.push_back(i);
    take_back(as_bound);
    diagnosis_ = told;
  }
  // Whose own fault is judged where one way alone keeps to its memory.
  if (!reads_nothing || whole.size() != 1) return;
  ask_way(ways[whole.front()]);
  bound = std::move(ways[whole.front()]);
}

void GroupReplay::try_lent_room(const std::vector<Replayed>& calls, const Bound& bound) {
  if (memory_of_nobody().empty() ||
      std::any_of(outcomes_.begin(), outcomes_.end(), [](const CallOutcome& each) {
        return each.right() && std::none_of(each.answer.seen.begin(), each.answer.seen.end(),
                                            [](const Seen& seen) { return seen.null; });
      }))
    return;
  const LabelFunction* label = facts_ == nullptr ? nullptr : facts_->function(calls.front().call->function);
  const GroupReplay as_bound = *this;
  const Diagnosis told = diagnosis_;
  std::vector<std::size_t> room;
  for (std::size_t p = 0; p < std::min(approach_.form.passings.size(), entry_.parameters.size()); ++p) {
    const Parameter& parameter = entry_.parameters[p];
    if (approach_.form.passings[p].what != Passing::What::none || parameter.has_default ||
        parameter.kind != Parameter::Kind::pointer || parameter.is_const ||
        is_of_label(calls.front(), label, parameter.name))
      continue;
    approach_.form.passings[p].what = Passing::What::room;
    room.push_back(p);
  }
  if (room.empty()) return;
  Bound lent = bound;
  lent.form = approach_.form;
  if (diagnosis_.called_with == numbers_in_words(as_bound.approach_.form, calls.front().values))
    diagnosis_.called_with.clear();
  outcomes_.clear();
  ask_as(lent, calls);
  if (all_right(outcomes_)) return;
  constexpr std::uint8_t kOther = 1;  // beside 0xff, by which whole numbers are −1, and zeros
  bool zeros_right = false, same = write_all(room, outcomes_, approach_.form.lent);
  for (const std::uint8_t fill : {std::uint8_t{0}, kOther}) {
    GroupReplay other = *this;
    other.outcomes_.clear();
    other.approach_.form.lent = fill;
    other.approach_.settings.timeout_seconds = std::min(approach_.settings.timeout_seconds, kSecondsOfACall);
    other.ask(calls);
    zeros_right = zeros_right || (fill == 0 && all_right(other.outcomes_));
    same = same && same_answers(outcomes_, other.outcomes_);
    if (zeros_right || !same) break;
  }
  if (zeros_right || same) return;
  take_back(as_bound);
  diagnosis_ = told;
}

void GroupReplay::try_cleared_room(const std::vector<Replayed>& calls) {
  const std::string names = lent_room(approach_.form);
  if (names.empty()) return;
  const std::string note = fmt::format("{} is lent memory, which the label has none of", names);
  std::vector<std::string>& notes = diagnosis_.notes;
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  const auto right = [](const CallOutcome& each) { return each.right(); };
  if (std::all_of(outcomes_.begin(), outcomes_.end(), right)) return;
  Approach cleared = approach_;
  clear_room(cleared.form);
  std::vector<CallOutcome> outcomes;
  for (const Replayed& each : calls) {
    outcomes.push_back(replay_once(cleared, each));
    if (!outcomes.back().right()) return;
  }
  Finding finding;
  finding.code = Code::uninitialised_read;
  finding.argument = names;
  finding.location = entry_.place;
  finding.evidence =
      fmt::format("all {} calls are right where {} holds zeros before the call, and not with other memory",
                  calls.size(), names);
  finding.fix = fmt::format("clear all that is read of {}", names);
  // Who clears none of it expects its caller to, unless he says that it is scratch and no more.
  static const Pattern clears("(?i)memset|fill");
  const std::string source = source_of(*approach_.candidate);
  if (!clears.found_in(source) && !is_said_to_be_scratch(approach_.form, source))
    finding = as_limit(std::move(finding), "none is needed where its callers clear it");
  add_once(diagnosis_.findings, std::move(finding));
  explained_ = true;
  approach_ = std::move(cleared);
  outcomes_ = std::move(outcomes);
}

}  // namespace isomer::lab
