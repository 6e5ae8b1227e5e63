#include "lab/evidence/probes/probes.hpp"

#include "lab/evidence/probes/counted.hpp"
#include "lab/evidence/probes/said_room.hpp"
#include "lab/evidence/probes/watched.hpp"

#include "lab/ask/nearness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <utility>

namespace isomer::lab {
namespace {

/// Of the processor, for all of them; the larger ones come first.
constexpr double kWorkOfLarger = 0.8;
/// A call of fewer steps is watched: what it touches outside says why it is wrong.
constexpr double kStepsWatched = 3e5;

/// The numbers of a case line by their fields.
std::map<std::string, std::int64_t> numbers_of(const std::string& line) {
  std::map<std::string, std::int64_t> list;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const std::size_t is = word.find('=');
    if (is == std::string::npos || word.find_first_not_of("0123456789", is + 1) != std::string::npos)
      continue;
    list[word.substr(0, is)] = std::atoll(word.c_str() + is + 1);
  }
  return list;
}

/// The largest size of the line, of those that are larger than in every probe; one that nothing else varies,
/// where there is one.
std::string larger_field(const oracle::Original& original, const std::map<std::string, std::int64_t>& sizes,
                         const std::map<std::string, std::set<std::int64_t>>& asked) {
  const auto varied = [&](const std::string& field) {
    return std::any_of(original.sizes.begin(), original.sizes.end(),
                       [&](const std::string& line) { return (" " + line).ends_with(" " + field + "="); });
  };
  std::string largest;
  for (const auto& [field, size] : sizes) {
    const auto before = asked.find(field);
    if (before == asked.end() || size <= *before->second.rbegin()) continue;
    if (largest.empty() ||
        std::make_pair(!varied(field), size) >= std::make_pair(!varied(largest), sizes.at(largest)))
      largest = field;
  }
  return largest;
}

/// Whether something is told of sizes already, which larger ones show too.
bool is_wrong_of_sizes(const Probed& found) {
  return std::any_of(found.findings.begin(), found.findings.end(), [](const Finding& each) {
    return each.code == Code::tail_mask || each.code == Code::missing_rescale || each.code == Code::nan_inf;
  });
}

std::string listed_sizes(const std::set<std::int64_t>& sizes) {
  std::string text;
  for (const std::int64_t size : sizes) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return text;
}

/// Whether the source says that it was made for no more, by a constant of such a size's name or of a largest
/// one.
bool says_its_room(const Subjected& s, const std::string& field, std::int64_t right, std::int64_t wrong) {
  std::string names;
  for (const oracle::Original::Sayable& each : s.port.original->sayable)
    if (each.field == field && !each.names.empty()) names += (names.empty() ? "" : "|") + each.names;
  return says_room(s.source, names, right, wrong);
}

/// What one of them came to.
struct LargerCall {
  std::string field;
  std::int64_t size;
  bool seldom;
  std::shared_ptr<const Given> given;
  Trial trial;
  Wrong wrong;
};

bool has_no_room(const Answer& answer) {
  return !answer.refused_launches.empty() ||
         std::any_of(answer.seen.begin(), answer.seen.end(),
                     [](const Seen& seen) { return seen.kind.starts_with("out-of-bounds"); });
}

/// What is told of a wrong one, beside those of the same field that are right.
Finding finding_of_larger(const Subjected& s, const LargerCall& call, const std::set<std::int64_t>& right) {
  Finding finding;
  finding.argument = call.wrong.output;
  const std::string so_far = fmt::format("right for {} = {}", call.field, listed_sizes(right));
  const Answer& answer = call.trial.answer;
  const bool limit = s.stranger && (!call.trial.ok() || has_no_room(answer) || call.seldom ||
                                    writes_nothing(*call.given, call.trial) ||
                                    (s.form.launch != nullptr && !s.form.launch->certain) ||
                                    says_its_room(s, call.field, *right.rbegin(), call.size));
  std::string what;
  if (!answer.ok()) {
    what = answer.message;
  } else if (!answer.refused_launches.empty()) {
    what = answer.refused_launches.front().text;
  } else if (has_no_room(answer)) {
    const auto seen = std::find_if(answer.seen.begin(), answer.seen.end(),
                                   [](const Seen& each) { return each.kind.starts_with("out-of-bounds"); });
    what = without_folders(seen->text, seen->place);
    finding.location = seen->place;
  } else if (!call.trial.misfit.empty()) {
    what = call.trial.misfit;
  } else {
    what = fmt::format("{} of {} elements of {} are {}, the first is {}[{}]", call.wrong.elements,
                       call.wrong.all, call.wrong.output,
                       call.wrong.untouched == call.wrong.elements ? "not written" : "wrong",
                       call.wrong.output, call.wrong.first);
  }
  finding.evidence =
      fmt::format("{}, and for {} = {}, in '{}': {}", so_far, call.field, call.size, call.given->line, what);
  if (limit || !call.trial.ok()) {
    finding.code = Code::shape_refused;
    finding.argument = call.field;
    finding.fix = "take every size, or refuse those that it does not take with an error";
  } else {
    finding.code = call.wrong.untouched == call.wrong.elements ? Code::unwritten_output : Code::tail_mask;
    // What halves its steps leaves over what an odd number of them has in the middle.
    const auto is_power = [](std::int64_t size) { return std::has_single_bit(static_cast<std::uint64_t>(size)); };
    const bool halves = finding.code == Code::tail_mask && call.wrong.untouched == 0 && !is_power(call.size) &&
                        right.size() > 2 && std::all_of(right.begin(), right.end(), is_power);
    if (halves) finding.evidence += "; all that are right are powers of two";
    finding.fix = halves ? "let a sum that halves its steps begin at a power of two, or add what an odd number of "
                           "them leaves over; let the loops and the threads reach every element"
                         : fmt::format("let the loops and the threads reach every element for each {}", call.field);
  }
  return finding;
}

}  // namespace

void probe_larger_sizes(const Subjected& s, Probed& found) {
  if (!s.explained || !s.memory_safe || is_wrong_of_sizes(found) || leaves_sums(s.set)) return;
  const oracle::Original& original = *s.port.original;
  std::map<std::string, std::set<std::int64_t>> asked;
  for (const std::string& line : original.probes)
    for (const auto& [field, size] : numbers_of(line)) asked[field].insert(size);
  std::map<std::string, std::set<std::int64_t>> right = asked;
  std::vector<LargerCall> calls;
  std::vector<std::vector<std::string>> rivals = s.rivals;
  double worked = 0;
  const auto ask = [&](const std::string& line, bool seldom) {
    const std::map<std::string, std::int64_t> sizes = numbers_of(line);
    const std::string field = larger_field(original, sizes, asked);
    if (field.empty() || worked > kWorkOfLarger) return;
    LargerCall call{field, sizes.at(field), seldom, nullptr, {}, {}};
    try {
      call.given = given_by_line(s.port, line, s.dtypes);
    } catch (const Error&) {
      return;  // the op does not take it
    }
    CallSettings settings = s.settings;
    const core::Call& asked_call = call.given->problem->call();
    settings.watch = settings.watch && asked_call.contract->work &&
                     asked_call.contract->work(asked_call).flops <= kStepsWatched;
    ++found.calls;
    call.trial = try_call(s.candidate, s.form, s.port, *call.given, settings);
    worked += call.trial.answer.worked_seconds;
    using End = Answer::End;
    const End end = call.trial.answer.end;
    if (end == End::refused || end == End::timed_out || end == End::too_large || end == End::over_limit) {
      found.notes.push_back(
          fmt::format("{} = {} is refused: {}", call.field, call.size, call.trial.answer.message));
      return;
    }
    if (call.trial.ok()) {
      call.wrong = wrong_elements(s, *call.given, call.trial, s.set);
      if (call.wrong.all == 0) return;
      if (rounds_otherwise(s.set) && 100 * call.wrong.elements < call.wrong.all) call.wrong.elements = 0;
      std::erase_if(rivals, [&](const std::vector<std::string>& rival) {
        return wrong_elements(s, *call.given, call.trial, rival).elements > 0;
      });
      if (call.wrong.elements > 0 && !rivals.empty()) return;
      if (call.wrong.elements == 0) right[call.field].insert(call.size);
    }
    if (!call.trial.ok() || call.wrong.elements > 0) calls.push_back(std::move(call));
  };
  for (const std::string& line : original.larger) ask(line, false);
  for (const std::string& line : original.seldom) ask(line, true);
  // Of each field the smallest that is wrong.
  std::stable_sort(calls.begin(), calls.end(), [](const LargerCall& a, const LargerCall& b) {
    return std::make_pair(a.field, a.size) < std::make_pair(b.field, b.size);
  });
  std::string told;
  for (const LargerCall& call : calls) {
    if (call.field == told) continue;
    told = call.field;
    add_once(found.findings, finding_of_larger(s, call, right.at(call.field)));
  }
}

}  // namespace isomer::lab
