#include "lab/evidence/variations/numbers.hpp"

#include "core/codec.hpp"
#include "lab/evidence/variations/answer_patterns.hpp"
#include "lab/evidence/variations/changed_answers.hpp"
#include "lab/evidence/variations/decoded_patterns.hpp"
#include "lab/evidence/variations/measured_guards.hpp"
#include "lab/evidence/variations/narrow_sums.hpp"
#include "lab/findings/variation_codes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>

namespace isomer::lab {
namespace {

constexpr int kMostLostCalls = 4;
constexpr double kPatienceWithRaces = 2e7;  // steps
/// Of a bound of attention or a sum: 8 bits for 11, and as many roundings as there are tiles. Other faults
/// are further off.
constexpr double kOfRounding = 32;

std::string place(const oracle::ExpectedTensor& tensor, std::size_t flat) {
  std::string text;
  for (std::size_t i = tensor.shape.size(); i-- > 0;) {
    const auto size = static_cast<std::size_t>(tensor.shape[i]);
    text = fmt::format("{}{}{}", i == 0 ? "" : ", ", flat % size, text);
    flat /= size;
  }
  return fmt::format("{}[{}]", tensor.name, text);
}

/// An element that one variation alone makes wrong the way that the candidate has it: what separates it.
std::string separating_element(const Port& port, const Numbers& numbers, const std::string& variation) {
  std::vector<std::string> without = numbers.explanation.set;
  without.erase(std::remove(without.begin(), without.end(), variation), without.end());
  for (const Evidence& evidence : numbers.evidence) {
    const oracle::Expected rest = varied(*evidence.given, *port.oracle, oracle::Variations(without));
    for (std::size_t t = 0; t < rest.tensors.size(); ++t)
      for (std::size_t i = 0; i < rest.tensors[t].value.size(); ++i) {
        const oracle::ExpectedTensor& want = rest.tensors[t];
        if (evidence.given->open[t][i] || !want.written[i] || holds(want, i, evidence.outputs[t][i]))
          continue;
        return fmt::format("{} of '{}' is {:.9g}; without this it would be {:.9g}", place(want, i),
                           evidence.given->line, evidence.outputs[t][i],
                           core::round_to(want.dtype, want.value[i]));
      }
  }
  return {};
}

std::string meaning_of_variation(const Port& port, const Numbers& numbers, const std::string& name) {
  for (const oracle::Variation& variation : numbers.measured)
    if (variation.name == name) return variation.meaning;
  for (const oracle::Variation& variation : port.oracle->variations)
    if (variation.name == name) return variation.meaning;
  return name;
}

std::size_t wrong_in(const Port& port, const Evidence& evidence, const std::vector<std::string>& set) {
  const oracle::Expected want = varied(*evidence.given, *port.oracle, oracle::Variations(set));
  std::size_t wrong = 0;
  for (std::size_t t = 0; t < want.tensors.size(); ++t)
    for (std::size_t i = 0; i < want.tensors[t].value.size(); ++i)
      wrong += !evidence.given->open[t][i] && want.tensors[t].written[i] &&
               !holds(want.tensors[t], i, evidence.outputs[t][i]);
  return wrong;
}

/// Whether one of the nearest set is a cause all the same: a second call confirms what the first shows, most
/// of what is wrong without it is right with it, and hardly a call speaks against it.
bool is_confirmed(const Port& port, const Numbers& numbers, const std::string& name) {
  std::vector<std::string> without = numbers.explanation.set;
  std::erase(without, name);
  std::size_t better = 0, worse = 0, wrong_with = 0, wrong_without = 0;
  for (const Evidence& evidence : numbers.evidence) {
    const std::size_t with = wrong_in(port, evidence, numbers.explanation.set);
    const std::size_t bare = wrong_in(port, evidence, without);
    better += with < bare;
    worse += with > bare;
    wrong_with += with;
    wrong_without += bare;
  }
  return better >= std::min<std::size_t>(2, numbers.evidence.size()) && 4 * worse <= better &&
         2 * wrong_with <= wrong_without;
}

/// Whether all that is wrong is no number, where the op has one.
bool is_only_nan(const Numbers& numbers) {
  std::size_t wrong = 0;
  for (const Evidence& evidence : numbers.evidence)
    for (std::size_t t = 0; t < evidence.outputs.size(); ++t) {
      const oracle::ExpectedTensor& want = evidence.given->plain.tensors[t];
      for (std::size_t i = 0; i < want.value.size(); ++i) {
        if (evidence.given->open[t][i] || !want.written[i] || holds(want, i, evidence.outputs[t][i]))
          continue;
        if (std::isfinite(evidence.outputs[t][i]) || !std::isfinite(want.value[i])) return false;
        ++wrong;
      }
    }
  return wrong > 0;
}

/// Whether the reference with the explanation's set gives no element room to differ by, as sums in any order
/// have.
bool is_told_exactly(const Port& port, const Numbers& numbers) {
  if (!is_exact(port)) return false;
  const oracle::Expected want =
      varied(*numbers.evidence.front().given, *port.oracle, oracle::Variations(numbers.explanation.set));
  return std::all_of(want.tensors.begin(), want.tensors.end(), [](const oracle::ExpectedTensor& tensor) {
    return tensor.nearby.empty() &&
           std::all_of(tensor.bound.begin(), tensor.bound.end(), [](double bound) { return bound == 0; });
  });
}

Strength strength_of(const Port& port, const Numbers& numbers) {
  const Explanation& found = numbers.explanation;
  if (!found.explains) return Strength::nearest;
  if (is_told_exactly(port, numbers)) return found.separated ? Strength::proved : Strength::consistent;
  return found.separated && found.plain.worst >= 8 ? Strength::consistent : Strength::nearest;
}

std::string counts(const Port& port, const Numbers& numbers, std::string set = {}) {
  const Explanation& found = numbers.explanation;
  if (set.empty()) set = "with {" + joined_names(found.set) + "}";
  const std::string equal = is_told_exactly(port, numbers) ? "is bit-equal to" : "is within the tolerance of";
  if (found.explains)
    return fmt::format(
        "on {} calls the answer {} the reference {} in all of {} elements, and differs from the op in {}",
        numbers.evidence.size(), equal, set, found.left.elements, found.plain.wrong);
  return fmt::format("{} of {} elements differ from the op, and {} still differ from the nearest set {{{}}}",
                     found.plain.wrong, found.plain.elements, found.left.wrong, joined_names(found.set));
}

/// A kernel that reads astray is stopped, and leaves its block as it was: as one that nobody has counted is.
bool is_stopped_block(const Numbers& numbers, const std::string& variation) {
  return variation == "blocks=floor" &&
         std::any_of(numbers.answers.begin(), numbers.answers.end(), [](const Answer& answer) {
           return std::any_of(answer.seen.begin(), answer.seen.end(),
                              [](const Seen& seen) { return seen.kind == "out-of-bounds-read"; });
         });
}

/// Whether a case line has a size that none of the probes has, which the candidate has no way to say, or
/// another one than all of them.
bool asks_more(const oracle::Original& original, const std::string& line) {
  const auto value_in = [](const std::string& text, const std::string& field) {
    const std::string words = " " + text + " ";
    const std::size_t at = words.find(" " + field + "=");
    if (at == std::string::npos) return std::string();
    const std::size_t begin = at + field.size() + 2;
    return words.substr(begin, words.find(' ', begin) - begin);
  };
  constexpr std::size_t kEnough = 3;
  return std::any_of(original.sayable.begin(), original.sayable.end(), [&](const auto& each) {
    const std::string asked = value_in(line, each.field);
    if (asked.empty() || each.names.empty() || original.probes.size() < kEnough) return false;
    return std::none_of(original.probes.begin(), original.probes.end(),
                        [&](const std::string& probe) { return !value_in(probe, each.field).empty(); }) ||
           (asked != value_in(original.probes.front(), each.field) &&
            std::all_of(original.probes.begin(), original.probes.end(), [&](const std::string& probe) {
              return value_in(probe, each.field) == value_in(original.probes.front(), each.field);
            }));
  });
}

/// Whether a call has another whole number of the op, such as the side of a block, than all calls until now
/// have had: a stranger may have the one fixed, and no parameter for it.
bool has_another_number(const Given& given, const std::vector<Evidence>& before) {
  for (std::size_t role = 0; role < given.values.size(); ++role) {
    if (given.values[role].kind != Value::Kind::integer) continue;
    const std::int64_t first = before.front().given->values[role].integer;
    if (given.values[role].integer != first &&
        std::all_of(before.begin(), before.end(), [&](const Evidence& each) {
          return each.given->values[role].integer == first;
        }))
      return true;
  }
  return false;
}

/// Whether two runs gave one answer to each of the same calls.
bool are_same_answers(const std::vector<Evidence>& one, const std::vector<Evidence>& other) {
  const auto bits_equal = [](const std::vector<double>& a, const std::vector<double>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
      return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
    });
  };
  return std::equal(
      one.begin(), one.end(), other.begin(), other.end(), [&](const Evidence& a, const Evidence& b) {
        return a.given->line == b.given->line && a.outside == b.outside && a.untouched == b.untouched &&
               std::equal(a.outputs.begin(), a.outputs.end(), b.outputs.begin(), b.outputs.end(), bits_equal);
      });
}

}  // namespace

Form original_form(const Entry& entry, const Port& port) {
  Form form;
  form.entry = &entry;
  for (std::size_t i = 0; i < port.roles.size(); ++i) {
    if (port.roles[i].returned) {
      form.returned.push_back(static_cast<int>(i));
      continue;
    }
    Passing passing;
    passing.what = Passing::What::role;
    passing.role = static_cast<int>(i);
    form.passings.push_back(passing);
  }
  return form;
}

bool is_exact(const Port& port) {
  static std::mutex mutex;
  static std::map<const oracle::Oracle*, bool> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(port.oracle);
  if (found != known.end()) return found->second;
  const oracle::Case plain =
      oracle::parse_case(port.oracle->contract->op + " " + port.original->probes.front()).with_seed(1);
  oracle::Problem problem(plain);
  port.oracle->make(plain, problem);
  oracle::Expected expected(problem.call());
  port.oracle->reference(problem.call(), oracle::Variations(), expected);
  bool exact = true;
  for (const oracle::ExpectedTensor& tensor : expected.tensors)
    exact = exact &&
            std::all_of(tensor.bound.begin(), tensor.bound.end(), [](double bound) { return bound == 0; });
  return known.emplace(port.oracle, exact).first->second;
}

Numbers explain_numbers(const Candidate& candidate, const Form& form, const Port& port,
                        const Questions& questions) {
  Numbers numbers;
  oracle::Oracle oracle = *port.oracle;
  Search search(oracle);
  int lost = 0;
  const auto ask = [&](const std::shared_ptr<const Given>& given) -> std::shared_ptr<Evidence> {
    // What ends its process, or never ends, is told after a few: each costs the whole limit of time.
    if (lost >= kMostLostCalls) return nullptr;
    Trial trial = try_call(candidate, form, port, *given, questions.settings);
    const bool recorded =
        std::find(questions.recorded.begin(), questions.recorded.end(), given) != questions.recorded.end();
    if (recorded && trial.answer.end == Answer::End::too_large) {
      numbers.large.push_back(fmt::format("'{}' is not judged: {}", given->line, trial.answer.message));
      return nullptr;
    }
    if (trial.ok() && trial.answer.unwatched)
      numbers.large.push_back(
          fmt::format("'{}' is too large to be watched, so its memory accesses are not judged", given->line));
    if (!trial.ok()) {
      lost += trial.answer.end == Answer::End::timed_out || trial.answer.end == Answer::End::too_large
                  ? kMostLostCalls
                  : trial.answer.end != Answer::End::refused;
      numbers.failures.push_back({given, std::move(trial)});
      return nullptr;
    }
    numbers.answered.push_back(given);
    numbers.answers.push_back(std::move(trial.answer));
    const std::vector<Seen>& seen = numbers.answers.back().seen;
    const bool outside = std::any_of(seen.begin(), seen.end(),
                                     [](const Seen& each) { return each.kind == "out-of-bounds-read"; });
    return std::make_shared<Evidence>(
        Evidence{given, std::move(trial.outputs), std::move(trial.untouched), outside});
  };
  for (const std::shared_ptr<const Given>& given : questions.recorded)
    if (const auto evidence = ask(given)) search.add(*evidence);
  for (const Dtypes& dtypes : questions.dtypes)
    for (const std::string& line : port.original->probes) {
      // A probe may name a regime that a dtype lacks.
      std::shared_ptr<const Given> given;
      try {
        given = given_by_line(port, line, dtypes);
      } catch (const Error&) {
        continue;
      }
      if (const auto evidence = ask(given)) search.add(*evidence);
    }
  if (search.evidence().empty()) return numbers;
  const auto known = [&](const oracle::Variation& variation) {
    return std::any_of(oracle.variations.begin(), oracle.variations.end(),
                       [&](const oracle::Variation& each) { return each.name == variation.name; });
  };
  for (oracle::Variation& variation : measured_guards(port, search.evidence()))
    if (!known(variation)) numbers.measured.push_back(std::move(variation));
  for (oracle::Variation& variation : measured_changes(port, search.evidence()))
    numbers.measured.push_back(std::move(variation));
  oracle.variations.insert(oracle.variations.end(), numbers.measured.begin(), numbers.measured.end());
  for (const Answer& answer : numbers.answers)
    for (const Seen& seen : answer.seen)
      numbers.raced = numbers.raced || (seen.kind == "race" && !seen.stores_twice);
  // Of numbers that chance makes hardly any set is the cause, and looking for one takes all the time there
  // is.
  numbers.evidence = search.evidence();
  if (!numbers.raced && is_exact(port)) numbers.pattern = pattern_of_answers(port, numbers);
  // `before` may have asked more to tell its causes apart.
  if (const Numbers* before = questions.before;
      before != nullptr && before->evidence.size() >= numbers.evidence.size() &&
      before->raced == numbers.raced &&
      are_same_answers({before->evidence.begin(),
                        before->evidence.begin() + static_cast<std::ptrdiff_t>(numbers.evidence.size())},
                       numbers.evidence)) {
    numbers.explanation = before->explanation;
    numbers.pattern = before->pattern;
    numbers.beside_set = before->beside_set;
    return numbers;
  }
  search.set_patience(numbers.raced || numbers.pattern ? kPatienceWithRaces : questions.patience);
  numbers.explanation = search.run([&](const std::string& line) -> std::shared_ptr<Evidence> {
    if (asks_more(*port.original, line)) return nullptr;
    try {
      const std::shared_ptr<const Given> given = given_by_line(port, line);
      if (questions.stranger && has_another_number(*given, search.evidence())) return nullptr;
      return ask(given);
    } catch (const Error&) {
      return nullptr;
    }
  });
  numbers.evidence = search.evidence();
  const Explanation& found = numbers.explanation;
  if (!found.explains && !numbers.raced && !numbers.pattern && !found.set.empty() && is_exact(port)) {
    numbers.pattern = decoded_otherwise(port, numbers, found.set);
    numbers.beside_set = numbers.pattern.has_value();
  }
  if (!found.explains && !numbers.raced && !numbers.pattern && found.set.empty())
    numbers.pattern = pattern_of_unexplained(port, numbers);
  return numbers;
}

std::vector<Finding> findings_of(const Port& port, const Numbers& numbers, std::vector<std::string>& notes) {
  const Explanation& found = numbers.explanation;
  std::vector<Finding> list;
  for (const std::string& name : found.set) {
    if (std::find(found.beside.begin(), found.beside.end(), name) != found.beside.end()) {
      notes.push_back(
          fmt::format("{}: by itself it has an effect only where the original leaves the answer open", name));
      continue;
    }
    // NaN in calls that are right without the other fault is the other fault's.
    if (code_of(name).code == Code::nan_inf &&
        std::find(found.brought.begin(), found.brought.end(), name) != found.brought.end()) {
      notes.push_back(
          fmt::format("{}: by itself it changes no answer of these calls, and shows only beside "
                      "what is told",
                      meaning_of_variation(port, numbers, name)));
      continue;
    }
    // What is nearest is no cause yet.
    if (!found.explains && !is_confirmed(port, numbers, name)) continue;
    const VariationCode& code = code_of(name);
    Finding finding;
    finding.code = code.code;
    finding.strength = strength_of(port, numbers);
    finding.evidence =
        fmt::format("{}: {}", meaning_of_variation(port, numbers, name), counts(port, numbers));
    if (const std::string element = separating_element(port, numbers, name); !element.empty())
      finding.evidence += "; " + element;
    if (!found.others.empty())
      finding.evidence +=
          fmt::format("; no input tells this set from {{{}}}", joined_names(found.others.front()));
    finding.fix = code.fix;
    if (is_stopped_block(numbers, name)) {
      finding.evidence =
          "the last, short block is not written, because its kernel reads beyond the sequence's end: " +
          counts(port, numbers, "without that block");
      finding.fix = "do not read tokens past the sequence's length";
    }
    finding.whole = found.explains;
    finding.variation = name;
    finding.variations = found.set;
    list.push_back(std::move(finding));
  }
  // Where exactly a narrow type rounds is not said: what it leaves over has no cause of its own.
  const bool rounding_left = !is_exact(port) && 5 * found.left.wrong <= found.plain.wrong &&
                             std::any_of(list.begin(), list.end(), [](const Finding& each) {
                               return each.code == Code::intermediate_precision;
                             });
  if (!found.explains && !rounding_left && numbers.pattern) {
    // What variations say of such an answer is said of elements at other places.
    if (!numbers.beside_set) list.clear();
    list.push_back(*numbers.pattern);
  } else if (!found.explains && !rounding_left) {
    const std::string narrow = narrow_sums(port, numbers);
    Finding finding;
    finding.code = Code::unexplained;
    finding.strength = Strength::nearest;
    finding.evidence = counts(port, numbers);
    for (const Evidence& evidence : numbers.evidence) {
      const oracle::Expected best = varied(*evidence.given, *port.oracle, oracle::Variations(found.set));
      for (std::size_t t = 0; t < best.tensors.size() && finding.argument.empty(); ++t)
        for (std::size_t i = 0; i < best.tensors[t].value.size(); ++i) {
          const oracle::ExpectedTensor& want = best.tensors[t];
          if (evidence.given->open[t][i] || !want.written[i] || holds(want, i, evidence.outputs[t][i]))
            continue;
          finding.evidence +=
              fmt::format("; {} of '{}' is {:.9g}, expected {:.9g}", place(want, i), evidence.given->line,
                          evidence.outputs[t][i], core::round_to(want.dtype, want.value[i]));
          finding.argument = want.name;
          break;
        }
      if (!finding.argument.empty()) break;
    }
    finding.fix = "compare the formula with the op's: isomer ops " + port.op;
    if (found.set.empty() && found.plain.wrong > 0 && !is_exact(port) && found.plain.worst <= kOfRounding) {
      finding.code = Code::intermediate_precision;
      finding.evidence = fmt::format(
          "no error is larger than {:.2g} times what the element's bound allows for rounding, as if an "
          "intermediate result is kept in a narrower type: {}",
          found.plain.worst, finding.evidence);
      finding.fix = "keep intermediate results in the types that the op states: products and sums in f32";
    }
    if (found.set.empty() && is_only_nan(numbers)) {
      finding.code = Code::nan_inf;
      finding.evidence = "all that is wrong is NaN or infinity: " + finding.evidence;
      finding.fix =
          "guard what has no elements: the maximum of a tile that is masked as a whole is -inf, and "
          "exp(-inf - -inf) is NaN";
    }
    if (!narrow.empty()) {
      finding.code = Code::intermediate_precision;
      finding.evidence = narrow + ": " + finding.evidence;
      finding.fix = "keep products and sums in f32";
    }
    finding.variations = found.set;
    list.push_back(std::move(finding));
  }
  if (found.open_differs)
    notes.push_back(
        found.open_set.empty()
            ? fmt::format("differs from the op {} where the original leaves the answer open (NaN, zero rows, "
                          "values beyond a type's range)",
                          found.plain.wrong == 0 ? "only" : "also")
            : fmt::format("{}: has an effect only where the original leaves the answer open",
                          joined_names(found.open_set)));
  return list;
}

std::vector<Diagnosis::Difference> differences_of(const Numbers& numbers) {
  std::vector<Diagnosis::Difference> list;
  for (const Evidence& evidence : numbers.evidence) {
    bool wrong = false;
    list.clear();
    for (std::size_t t = 0; t < evidence.given->plain.tensors.size(); ++t) {
      const oracle::ExpectedTensor& want = evidence.given->plain.tensors[t];
      Diagnosis::Difference difference{want.name, want.shape, {}, {}};
      for (std::size_t i = 0; i < want.value.size(); ++i) {
        const bool looked = want.written[i] && !evidence.given->open[t][i];
        const bool off = looked && !holds(want, i, evidence.outputs[t][i]);
        difference.wrong.push_back(off);
        difference.error.push_back(looked ? evidence.outputs[t][i] - want.value[i] : 0.0);
        wrong = wrong || off;
      }
      list.push_back(std::move(difference));
    }
    if (wrong) return list;
  }
  return {};
}

}  // namespace isomer::lab
