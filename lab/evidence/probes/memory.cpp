#include "lab/evidence/probes/probes.hpp"

#include "lab/evidence/probes/laid.hpp"
#include "lab/evidence/probes/watched.hpp"
#include "lab/evidence/variations/changed_answers.hpp"

#include "core/codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>

namespace isomer::lab {
namespace {

using Outputs = std::vector<std::vector<double>>;

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

std::size_t looked_at(const Given& given) {
  std::size_t count = 0;
  for (std::size_t t = 0; t < given.open.size(); ++t)
    for (std::size_t i = 0; i < given.open[t].size(); ++i)
      count += given.plain.tensors[t].written[i] && !given.open[t][i];
  return count;
}

std::shared_ptr<Given> with_value(const Given& given, std::size_t role, Value value) {
  auto other = std::make_shared<Given>(given);
  other->values[role] = std::move(value);
  return other;
}

Trial call(const Subjected& s, const Given& given, Probed& found, std::uint8_t poison = 0x5a) {
  ++found.calls;
  return try_call(s.candidate, s.form, s.port, given, s.settings, poison);
}

/// One view of one tensor against the answer for the compact one. Empty where they agree.
struct Differs {
  bool refused = false, flat = false;
  std::size_t elements = 0;
  Answer answer;
};

Differs compare_view(const Subjected& s, std::size_t role, const Value& view, const Outputs& base,
                     bool from_begin, Probed& found) {
  Differs result;
  const auto given = with_value(*s.given, role, view);
  const Trial trial = call(s, *given, found);
  if (!trial.ok()) {
    result.refused = true;
    result.answer = trial.answer;
    return result;
  }
  result.elements = different(*s.given, trial.outputs, base);
  if (result.elements == 0) return result;
  result.answer = trial.answer;
  if (!s.port.roles[role].output) {
    const auto flat = with_value(*s.given, role, flat_view(view, from_begin));
    const Trial flat_trial = call(s, *flat, found);
    result.flat = flat_trial.ok() && different(*s.given, trial.outputs, flat_trial.outputs) == 0;
  } else {
    // Its answer lies in the storage as if the output were compact.
    for (std::size_t i = 0; i < s.form.passings.size(); ++i) {
      if (s.form.passings[i].what != Passing::What::role || s.form.passings[i].role != static_cast<int>(role))
        continue;
      const Value flat = flat_view(trial.answer.arguments[i], from_begin);
      const std::vector<double> elements = oracle::elements(s.port.by_contract(role, flat.tensor));
      for (std::size_t t = 0; t < s.given->plain.tensors.size(); ++t) {
        const oracle::ExpectedTensor& want = s.given->plain.tensors[t];
        if (want.name != s.port.roles[role].argument) continue;
        result.flat = true;
        for (std::size_t e = 0; e < want.value.size(); ++e)
          if (want.written[e] && !s.given->open[t][e] &&
              !same(core::round_to(want.dtype, elements[e]), base[t][e]))
            result.flat = false;
      }
    }
  }
  return result;
}

/// Whether the answer is the same where an input or output has other strides.
bool follows(const Subjected& s, int role, const std::vector<std::int64_t>& strides, const Outputs& base,
             Probed& found) {
  const auto at = static_cast<std::size_t>(role);
  const Differs other =
      compare_view(s, at, relaid(s.given->values[at], strides, 0, 0xff), base, false, found);
  return !other.refused && other.elements == 0;
}

/// What a view that ends the call says of it: it is read several elements at once, which have to begin at a
/// multiple of them, or another input is addressed by its strides. Nothing where it is neither.
std::optional<Finding> limit_of_crash(const Subjected& s, int role, const Laid& laid, const Differs& crashed,
                                      const Outputs& base, Probed& found) {
  const auto at = static_cast<std::size_t>(role);
  const Value& value = s.given->values[at];
  const std::string name = argument_name(s, passing_of(s.form, role));
  Finding finding;
  finding.code = Code::assumes_contiguous;
  finding.argument = name;
  finding.location = crashed.answer.place;
  const Value view = relaid(value, laid.strides, 0, 0xff);
  const std::string stops = fmt::format("{} {} ({}) stops the call: {}", laid.how, name,
                                        view.tensor.describe(), crashed.answer.message);
  if (follows(s, role, aligned_rows(value.tensor), base, found)) {
    finding.evidence = stops + "; with rows that begin at multiples of 16 bytes its strides are followed";
    finding.fix = "touch several elements at once only where a row begins at a multiple of them";
    return finding;
  }
  for (std::size_t other = 0; other < s.port.roles.size(); ++other) {
    const Value& alike = s.given->values[other];
    if (other == at || s.port.roles[other].output || !alike.is_tensor() || !value.is_tensor() ||
        alike.tensor.rank != value.tensor.rank || alike.tensor.shape != value.tensor.shape ||
        passing_of(s.form, static_cast<int>(other)) < 0)
      continue;
    auto both = with_value(*s.given, at, relaid(value, aligned_rows(value.tensor), 0, 0xff));
    both->values[other] = relaid(alike, aligned_rows(alike.tensor), 0, 0xff);
    const Trial trial = call(s, *both, found);
    if (!trial.ok() || different(*s.given, trial.outputs, base) > 0) continue;
    finding.argument = argument_name(s, passing_of(s.form, static_cast<int>(other)));
    finding.evidence = fmt::format(
        "{}; with {} in the same layout, rows at multiples of 16 bytes, the answer is "
        "right, so {} is addressed by the strides of {}",
        stops, finding.argument, finding.argument, name);
    finding.fix = fmt::format("address {} by its own strides", finding.argument);
    return finding;
  }
  return std::nullopt;
}

/// An input whose own strides the answer does not follow.
struct Misread {
  int role, passing;
  bool flat;  ///< its strides are not looked at at all
  Value view;
};

/// Of two inputs alike in shape one may be addressed by the strides of the other: laid alike, both are read
/// rightly, and the other has no fault.
void strides_of_another(const Subjected& s, const std::vector<Misread>& misread, const Outputs& base,
                        Probed& found) {
  for (const Misread& one : misread)
    for (const Misread& other : misread) {
      const Tensor &a = one.view.tensor, &b = other.view.tensor;
      if (one.role == other.role || !one.flat || other.flat || a.rank != b.rank || a.shape != b.shape ||
          a.strides != b.strides)
        continue;
      auto both = with_value(*s.given, static_cast<std::size_t>(one.role), one.view);
      both->values[static_cast<std::size_t>(other.role)] = other.view;
      const Trial trial = call(s, *both, found);
      if (!trial.ok() || different(*s.given, trial.outputs, base) > 0) continue;
      const std::string name = argument_name(s, one.passing), of = argument_name(s, other.passing);
      found.borrowed.push_back(of);
      std::erase_if(found.findings, [&](const Finding& each) {
        return each.code == Code::assumes_contiguous && each.argument == of;
      });
      for (Finding& each : found.findings)
        if (each.code == Code::assumes_contiguous && each.argument == name) {
          each.evidence += fmt::format(
              "; with {} in the same layout no element changes, so {} is addressed by the strides of {}", of,
              name, of);
          each.fix = fmt::format("address {} by its own strides", name);
        }
      return;
    }
}

}  // namespace

std::size_t different(const Given& given, const std::vector<std::vector<double>>& a,
                      const std::vector<std::vector<double>>& b) {
  std::size_t count = 0;
  for (std::size_t t = 0; t < a.size(); ++t) count += different(given, a, b, t);
  return count;
}

std::size_t different(const Given& given, const std::vector<std::vector<double>>& a,
                      const std::vector<std::vector<double>>& b, std::size_t output) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a[output].size(); ++i)
    count +=
        given.plain.tensors[output].written[i] && !given.open[output][i] && !same(a[output][i], b[output][i]);
  return count;
}

int passing_of(const Form& form, int role) {
  for (std::size_t i = 0; i < form.passings.size(); ++i)
    if (form.passings[i].what == Passing::What::role && form.passings[i].role == role &&
        !form.passings[i].compact && form.passings[i].axes.empty() && form.passings[i].longer == nullptr)
      return static_cast<int>(i);
  return -1;
}

std::string argument_name(const Subjected& s, int passing) {
  const auto at = static_cast<std::size_t>(passing);
  const auto& parameters = s.form.entry->parameters;
  if (at < parameters.size() && !parameters[at].name.empty()) return parameters[at].name;
  return s.port.roles[static_cast<std::size_t>(s.form.passings[at].role)].name;
}

void probe_strides(const Subjected& s, Probed& found) {
  const Trial base = call(s, *s.given, found);
  if (!base.ok()) return;
  const std::size_t all = looked_at(*s.given);
  std::vector<Misread> misread;
  for (int role = 0; role < static_cast<int>(s.port.roles.size()); ++role) {
    const oracle::Original::Parameter& parameter =
        s.port.original->parameters[static_cast<std::size_t>(role)];
    const int passing = passing_of(s.form, role);
    const Value& value = s.given->values[static_cast<std::size_t>(role)];
    if (passing < 0 || !value.is_tensor() || value.tensor.rank == 0) continue;
    const auto fill = [&](Code code, const std::string& how, const Value& view, const Differs& d,
                          const char* fix) {
      Finding finding;
      finding.code = code;
      finding.argument = argument_name(s, passing);
      finding.fix = fix;
      if (d.refused) {
        finding.evidence = fmt::format("{} {} ({}): the call is refused: \"{}\"", how, finding.argument,
                                       view.tensor.describe(), d.answer.message);
        finding.location = d.answer.place;
      } else {
        finding.evidence =
            fmt::format("{} {} ({}) with the same values: {} of {} elements of the answer change{}", how,
                        finding.argument, view.tensor.describe(), d.elements, all,
                        d.flat ? ", to exactly the answer for a compact tensor over the same memory" : "");
      }
      if (d.refused && d.answer.end != Answer::End::refused) {
        finding = finding_of_end(d.answer, finding.evidence);
      }
      add_once(found.findings, std::move(finding));
    };
    if (parameter.reads != oracle::Original::Reads::compact) {
      for (const Laid& laid : layouts(value.tensor, parameter.reads)) {
        // Two fills of the gaps: what is read there shows as a difference between them.
        const Value view = relaid(value, laid.strides, 0, 0xff);
        const Differs d = compare_view(s, static_cast<std::size_t>(role), view, base.outputs, false, found);
        // Who wins a race, or what lies where it strays, is another thing in every layout.
        if (!s.memory_safe && !d.refused && !d.flat) continue;
        if (d.refused && d.answer.end == Answer::End::crashed && laid.strides.back() == 1)
          if (std::optional<Finding> limit = limit_of_crash(s, role, laid, d, base.outputs, found)) {
            if (limit->argument == argument_name(s, passing)) found.inner_only.push_back(limit->argument);
            add_once(found.findings, std::move(*limit));
            break;
          }
        if (d.refused || d.elements > 0) {
          fill(Code::assumes_contiguous, laid.how, view, d, "address the tensor by its strides");
          if (!d.refused && !s.port.roles[static_cast<std::size_t>(role)].output)
            misread.push_back({role, passing, d.flat, view});
          if (laid.strides.back() != 1) found.inner_only.push_back(argument_name(s, passing));
          break;
        }
      }
    }
    const Parameter* declared = static_cast<std::size_t>(passing) < s.form.entry->parameters.size()
                                    ? &s.form.entry->parameters[static_cast<std::size_t>(passing)]
                                    : nullptr;
    if (declared != nullptr && declared->kind == Parameter::Kind::pointer)
      continue;                     // a pointer has its offset in it
    if (parameter.index) continue;  // what an ignored offset would read there is no index
    std::vector<std::int64_t> strides(value.tensor.strides.begin(),
                                      value.tensor.strides.begin() + value.tensor.rank);
    // Who looks at no strides reads what lies between the rows, which is another fault.
    const bool flat = std::any_of(misread.begin(), misread.end(),
                                  [&](const Misread& each) { return each.role == role && each.flat; });
    Outputs from_begin = base.outputs;
    if (flat && !value.tensor.is_contiguous()) {
      const Value compact = compact_copy(value);
      strides.assign(compact.tensor.strides.begin(), compact.tensor.strides.begin() + compact.tensor.rank);
      const Trial trial = call(s, *with_value(*s.given, static_cast<std::size_t>(role), compact), found);
      if (!trial.ok()) continue;
      from_begin = trial.outputs;
    }
    const Value view = relaid(value, strides, 5, 0xff);
    const Differs d = compare_view(s, static_cast<std::size_t>(role), view, from_begin, true, found);
    if (!d.refused && d.elements > 0)
      fill(Code::ignores_offset, "beginning 5 elements into its storage", view, d,
           "begin at the view's offset (byte_offset)");
  }
  strides_of_another(s, misread, base.outputs, found);
}

namespace {

/// An element is no number where the reference has one.
bool loses_numbers(const Given& given, const Trial& trial) {
  for (std::size_t t = 0; t < given.plain.tensors.size(); ++t)
    for (std::size_t i = 0; i < given.plain.tensors[t].value.size(); ++i)
      if (std::isfinite(given.plain.tensors[t].value[i]) && !std::isfinite(trial.outputs[t][i])) return true;
  return false;
}

}  // namespace

void probe_poison(const Subjected& s, Probed& found) {
  constexpr std::uint8_t kOfNan = 0xff;  // 0 times it is no 0
  Subjected other = s;
  other.settings.poison = kLargePoison;
  const Trial a = call(s, *s.given, found, 0x5a);
  Trial b = call(other, *s.given, found, kOfNan);
  if (!a.ok() || !b.ok()) return;
  // A maximum that is begun with either is NaN, or infinite.
  if (loses_numbers(*s.given, a) && loses_numbers(*s.given, b)) {
    other.settings.poison = kNegativePoison;
    b = call(other, *s.given, found, kOfNan);
    if (!b.ok()) return;
  }
  // Whether an element of the second answer is still what lay there: of a returned tensor, fresh memory.
  const auto kept_in_b = [&](std::size_t t, std::size_t i) {
    const oracle::ExpectedTensor& want = s.given->plain.tensors[t];
    const int role = s.port.role_of_argument(want.name);
    if (role < 0 || s.form.takes(role)) return b.untouched[t][i] != 0;
    std::uint8_t bytes[sizeof(double)];
    std::fill(std::begin(bytes), std::end(bytes), other.settings.poison);
    return same(b.outputs[t][i], core::decode(want.dtype, bytes));
  };
  // What the faults that are known already leave out is not said again.
  const oracle::Expected explained = varied(*s.given, *s.port.oracle, oracle::Variations(s.set));
  for (std::size_t t = 0; t < a.outputs.size(); ++t) {
    const oracle::ExpectedTensor& want = explained.tensors[t];
    std::size_t changed = 0, written = 0, kept = 0, first = 0;
    for (std::size_t i = 0; i < want.value.size(); ++i) {
      if (!want.written[i] || s.given->open[t][i]) continue;
      ++written;
      if (same(a.outputs[t][i], b.outputs[t][i])) continue;
      if (changed++ == 0) first = i;
      kept += a.untouched[t][i] != 0 && kept_in_b(t, i);
    }
    if (changed == 0) continue;
    Finding finding;
    finding.code = kept * 2 >= changed ? Code::unwritten_output : Code::uninitialised_read;
    finding.argument = want.name;
    finding.role = s.port.role_of_argument(want.name);
    finding.evidence = fmt::format(
        "{} of {} elements of {} keep what the memory held before the call, or depend on it: two fills gave "
        "two answers (first element {} of '{}')",
        changed, written, want.name, first, s.given->line);
    finding.fix =
        kept * 2 >= changed ? "write every element of the output" : "write the memory before reading it";
    add_once(found.findings, std::move(finding));
  }
  const std::vector<Value> before = passed(s.form, s.given->values);
  for (std::size_t i = 0; i < s.form.passings.size() && i < a.answer.arguments.size(); ++i) {
    const Passing& passing = s.form.passings[i];
    if (passing.what != Passing::What::role || !before[i].is_tensor()) continue;
    if (s.port.roles[static_cast<std::size_t>(passing.role)].output) continue;
    const Value& after = a.answer.arguments[i];
    if (after.storage_bytes == before[i].storage_bytes &&
        std::memcmp(after.storage.get(), before[i].storage.get(), before[i].storage_bytes) == 0)
      continue;
    Finding finding;
    finding.code = Code::writes_input;
    finding.argument = argument_name(s, static_cast<int>(i));
    finding.evidence =
        fmt::format("the call changes the bytes of {} ('{}')", finding.argument, s.given->line);
    finding.fix = "do not write to the input";
    add_once(found.findings, std::move(finding));
  }
}

namespace {

/// A compact tensor with what its first dimension counts in reverse order.
Value reversed(const Value& value) {
  Value turned = deep_copy(value);
  const auto count = static_cast<std::size_t>(value.tensor.size(0));
  const std::size_t row =
      static_cast<std::size_t>(value.tensor.numel()) / count * size_of(value.tensor.dtype);
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(static_cast<std::byte*>(turned.tensor.data) + i * row,
                static_cast<const std::byte*>(value.tensor.data) + (count - 1 - i) * row, row);
  return turned;
}

bool reversible(const Value& value) {
  return value.is_tensor() && value.tensor.rank > 0 && value.tensor.size(0) > 1 && value.tensor.numel() > 0 &&
         value.tensor.is_contiguous();
}

/// The same call with other values, or null where the contract does not have them.
std::shared_ptr<Given> with_values(const Subjected& s, const std::string& what, std::vector<Value> values) {
  try {
    return given_by_values(s.port, s.given->line + what, std::move(values));
  } catch (const Error&) {
    return nullptr;
  }
}

/// Whether the rows' own order shows in each output: an answer of nothing but zeros is the same in any order,
/// and says nothing of the index.
std::vector<bool> shows_rows(const Subjected& s, std::size_t index, const Outputs& base, Probed& found) {
  std::vector<bool> shows(base.size(), false);
  std::vector<Value> values = s.given->values;
  for (std::size_t role = 0; role < s.port.roles.size(); ++role) {
    const auto& parameter = s.port.original->parameters[role];
    if (role == index || parameter.index || s.port.roles[role].output || !reversible(values[role])) continue;
    if (values[role].tensor.size(0) == values[index].tensor.size(0)) values[role] = reversed(values[role]);
  }
  const std::shared_ptr<Given> other = with_values(s, " with its rows reversed", std::move(values));
  if (!other) return shows;
  const Trial trial = call(s, *other, found);
  if (!trial.ok()) return shows;
  for (std::size_t t = 0; t < base.size(); ++t) shows[t] = different(*s.given, base, trial.outputs, t) > 0;
  return shows;
}

}  // namespace

void probe_indices(const Subjected& s, Probed& found) {
  const Trial base = call(s, *s.given, found);
  if (!base.ok()) return;
  for (std::size_t role = 0; role < s.port.roles.size(); ++role) {
    if (!s.port.original->parameters[role].index || !reversible(s.given->values[role])) continue;
    if (!s.form.takes(static_cast<int>(role)) || s.given->values[role].tensor.rank != 1) continue;
    std::vector<Value> values = s.given->values;
    const std::string& index = s.port.roles[role].name;
    values[role] = reversed(values[role]);
    const std::shared_ptr<Given> other = with_values(s, " with " + index + " reversed", std::move(values));
    if (!other) continue;
    Outputs reference_a, reference_b;
    for (const oracle::ExpectedTensor& tensor : s.given->plain.tensors) reference_a.push_back(tensor.value);
    for (const oracle::ExpectedTensor& tensor : other->plain.tensors) reference_b.push_back(tensor.value);
    if (different(*s.given, reference_a, reference_b) == 0) continue;
    const Trial trial = call(s, *other, found);
    if (!trial.ok()) continue;
    std::vector<bool> shows;
    for (std::size_t t = 0; t < base.outputs.size(); ++t) {
      // One output may be put where the index says and another not.
      const std::size_t should = different(*s.given, reference_a, reference_b, t);
      if (should == 0 || different(*s.given, base.outputs, trial.outputs, t) > 0) continue;
      if (shows.empty()) shows = shows_rows(s, role, base.outputs, found);
      if (!shows[t]) continue;
      Finding finding;
      finding.code = Code::ignores_index;
      finding.argument = index;
      finding.evidence =
          fmt::format("with {} in reverse order {} elements of {} should change, but none does ('{}')", index,
                      should, s.given->plain.tensors[t].name, s.given->line);
      finding.fix = fmt::format("use {} for {}", index, s.given->plain.tensors[t].name);
      add_once(found.findings, std::move(finding));
    }
  }
}

}  // namespace isomer::lab
