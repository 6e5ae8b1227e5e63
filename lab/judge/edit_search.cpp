#include "lab/judge/edit_search.hpp"

#include "lab/judge/tried_ahead.hpp"
#include "lab/text/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <utility>

namespace isomer::lab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSecondsOfOthers = 1.5;  ///< and others beside the first that helps
constexpr double kSecondsOfWays = 5;      ///< where those that help launch other kernels
constexpr std::size_t kEnough = 4;        ///< edits that help: more than these tell nothing apart
constexpr double kSecondsOfBuilds = 12;   ///< of edits that need one each
constexpr int kMostBuilds = 32;
constexpr double kSecondsOfAll = 34;   ///< of one candidate, with its build
constexpr double kSecondsOfFirst = 8;  ///< of a search in any case, however long the build took

double seconds_left(const ExchangedBuild& build) { return kSecondsOfAll - build.built - *build.spent; }

/// Of two lines the part in which they differ, with a few words round it.
std::pair<std::string, std::string> parts_that_differ(const std::string& was, const std::string& becomes) {
  constexpr std::size_t kRound = 24, kShort = 72;
  if (was.size() <= kShort && becomes.size() <= kShort) return {was, becomes};
  std::size_t front = 0, back = 0;
  while (front < std::min(was.size(), becomes.size()) && was[front] == becomes[front]) ++front;
  while (back < std::min(was.size(), becomes.size()) - front &&
         was[was.size() - 1 - back] == becomes[becomes.size() - 1 - back])
    ++back;
  front = front < kRound ? 0 : was.rfind(' ', front - kRound / 2) + 1;
  const std::size_t gap = was.find(' ', was.size() - back + kRound / 2);
  back = gap == std::string::npos ? 0 : was.size() - gap;
  const auto part = [&](const std::string& line) {
    return (front > 0 ? "… " : "") + line.substr(front, line.size() - back - front) + (back > 0 ? " …" : "");
  };
  return {part(was), part(becomes)};
}

/// The same of all lines of an edit: "'a' and 'b'".
std::pair<std::string, std::string> parts_that_differ(const Exchange& edit) {
  auto [was, becomes] = parts_that_differ(edit.was, edit.becomes);
  was = "'" + was + "'";
  becomes = "'" + becomes + "'";
  for (const EditedLine& other : edit.also) {
    const auto [own, then] = parts_that_differ(other.was, other.becomes);
    const bool last = &other == &edit.also.back();
    was += fmt::format("{} '{}'", last ? " and" : ",", own);
    becomes += fmt::format("{} '{}'", last ? " and" : ",", then);
  }
  return {was, becomes};
}

/// "line 5", "lines 5 and 7".
std::string lines_of(const Exchange& edit) {
  std::string text = fmt::format("line{} {}", edit.also.empty() ? "" : "s", edit.line);
  for (const EditedLine& other : edit.also)
    text += fmt::format("{} {}", &other == &edit.also.back() ? " and" : ",", other.line);
  return text;
}

/// Whether a number of threads, or of what they share, is another one: where they meet in no order, fewer or
/// more of them hide that.
bool is_of_a_size(const Exchange& edit) {
  static const Pattern number("\\b\\d+\\b");
  constexpr int kFewest = 16;
  const std::vector<Match> was = number.all(edit.was), becomes = number.all(edit.becomes);
  for (std::size_t i = 0; i < std::min(was.size(), becomes.size()); ++i)
    if (was[i][0] != becomes[i][0]) return std::atoi(was[i][0].c_str()) >= kFewest;
  return false;
}

/// Whether one of the places that an edit changes is come to; those that have too large a number are not
/// known.
bool is_reached(const std::vector<bool>& reached, const EditNumbers& numbers) {
  constexpr int kMostNumbers = 1 << 16;
  return reached.empty() || std::any_of(numbers.begin(), numbers.end(), [&](int each) {
           return each >= kMostNumbers || (each > 0 && static_cast<std::size_t>(each) < reached.size() &&
                                           reached[static_cast<std::size_t>(each)]);
         });
}

bool holds(const EditTrials& trials, const Exchange& edit) {
  return trials.all(edit.numbers) && (!trials.is_clean || trials.is_clean(edit));
}

}  // namespace

CallSettings brief(CallSettings settings, double worked, bool watch, bool helps) {
  settings.watch = watch;
  settings.timeout_seconds = std::min(settings.timeout_seconds, helps ? 2 + 20 * worked : 0.1 + 5 * worked);
  return settings;
}

bool is_clean(const Answer& answer, bool shared) {
  return answer.refused_launches.empty() &&
         std::all_of(answer.seen.begin(), answer.seen.end(), [&](const Seen& seen) {
           return seen.unnamed_lane || seen.kind == "integer-division" || seen.kind == "unseen-barrier" ||
                  (seen.kind == "race" && (shared || seen.stores_twice));
         });
}

KeptSearch kept_search(const ExchangedBuild& build, const EditsAsked& how, double rtol, double atol) {
  return {build, {how.watched ? 1.0 : 0.0, double(how.most), how.seconds, rtol, atol}};
}

std::vector<bool> reached_by(const Answer& answer) {
  std::vector<bool> reached;
  if (answer.ok() && !answer.reached_edits.empty()) {
    reached.resize(static_cast<std::size_t>(answer.reached_edits.back()) + 1);
    for (const int each : answer.reached_edits) reached[static_cast<std::size_t>(each)] = true;
  }
  return reached;
}

std::vector<const Exchange*> helpful_edits(const ExchangedBuild& build, const EditTrials& trials,
                                           const EditsAsked& how, KeptSearch& kept, int& tried) {
  std::vector<const Exchange*> list;
  if (const std::optional<KeptSearch::Found> before = kept.found()) {
    for (const int number : before->helpful) {
      const auto edit = std::find_if(build.edits.begin(), build.edits.end(),
                                     [&](const Exchange& each) { return each.number == number; });
      if (edit != build.edits.end() && trials.quick(edit->numbers) && holds(trials, *edit))
        list.push_back(&*edit);
    }
    tried = before->tried;
    if (list.size() == before->helpful.size()) return list;
    list.clear();
    tried = 0;
  }
  const auto begin = Clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  const double least = *build.spent == 0 ? kSecondsOfFirst : 0;
  const double seconds = std::min(how.seconds, std::max(seconds_left(build), least));
  double until = seconds;
  const auto number = [](const Exchange& each) { return each.number; };
  std::vector<const Exchange*> order;
  for (const bool first : {true, false})
    for (const Exchange& each : build.edits)
      if ((std::find(build.helped->begin(), build.helped->end(), number(each)) != build.helped->end()) ==
          first)
        order.push_back(&each);
  std::erase_if(order, [&](const Exchange* each) {
    // A barrier changes no number but where threads meet.
    return !is_reached(trials.reached, each->numbers) ||
           (each->code == Code::missing_barrier && !how.watched);
  });
  std::vector<const Exchange*> other_ways;
  TriedAhead quick(order.size(), [&](std::size_t i) { return trials.quick(order[i]->numbers); });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Exchange& edit = *order[i];
    if (passed() >= until || list.size() == kEnough || tried == how.most) break;
    ++tried;
    if (!quick[i] || !holds(trials, edit)) continue;
    if (edit.chooses || (trials.launches_others && trials.launches_others(edit.numbers))) {
      if (other_ways.size() < kEnough) other_ways.push_back(&edit);
      until = std::min(until, passed() + kSecondsOfWays);
      continue;
    }
    list.push_back(&edit);
    // Whether another one does the same is worth a moment.
    until = std::min(until, passed() + kSecondsOfOthers);
  }
  if (list.empty()) list = other_ways;
  KeptSearch::Found found = {{}, tried};
  for (const Exchange* each : list) found.helpful.push_back(each->number);
  if (!list.empty()) *build.helped = found.helpful;
  // What found nothing in its time may find something on a machine that is less busy.
  if (!list.empty() || passed() < seconds) kept.keep(found);
  *build.spent += passed();
  return list;
}

std::vector<const Exchange*> helpful_rebuilt(const ExchangedBuild& build, const EditsAsked& how,
                                             const std::function<bool(const Candidate&)>& holds, int& tried) {
  const auto begin = Clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  int builds = 0;
  for (const RebuiltEdit& each : build.rebuilt) {
    if (passed() >= std::min(kSecondsOfBuilds, seconds_left(build)) || builds++ == kMostBuilds) break;
    if (how.watched && is_of_a_size(each.edit)) continue;
    const std::shared_ptr<const Candidate> candidate = build.rebuild(each);
    if (candidate == nullptr) continue;
    ++tried;
    if (holds(*candidate)) return {&each.edit};
  }
  *build.spent += passed();
  return {};
}

namespace {

/// Of two ways that a source has for different sizes the other one is right: the fault is in this one.
Finding finding_of_choice(const Exchange& edit, const std::string& seen, int tried) {
  Finding finding;
  finding.code = Code::wrong_expression;
  finding.strength = Strength::consistent;
  finding.evidence = fmt::format(
      "'{}' in line {} chooses between two ways, and with the other one {}: the fault is in the way that is "
      "taken there ({} edits were tried)",
      parts_that_differ(edit.was, edit.becomes).first, edit.line, seen, tried);
  finding.fix = fmt::format("compare what is done behind line {} with the other way", edit.line);
  finding.location.line = edit.line;
  finding.decides = true;
  return finding;
}

}  // namespace

Finding finding_of_edits(const std::vector<const Exchange*>& helpful, const std::string& seen, int tried) {
  Finding finding;
  if (helpful.empty()) return finding;
  // Of equals the one that has a name of its own is likelier meant than any variable for another.
  const auto named = std::find_if(helpful.begin(), helpful.end(), [&](const Exchange* each) {
    return each->code != Code::wrong_expression && each->rank <= helpful.front()->rank;
  });
  // What is rounded up leaves out no part of a size; a bound with one round more leaves out none of these.
  const auto whole = std::find_if(helpful.begin(), helpful.end(), [&](const Exchange* each) {
    return each->code == Code::tail_mask && each->rank <= helpful.front()->rank + 1;
  });
  if (helpful.front()->chooses) return finding_of_choice(*helpful.front(), seen, tried);
  const Exchange& edit = whole != helpful.end()   ? **whole
                         : named != helpful.end() ? **named
                                                  : *helpful.front();
  finding.code = edit.code;
  finding.strength = Strength::consistent;
  const auto [was, becomes] = parts_that_differ(edit);
  const std::string lines = lines_of(edit);
  finding.evidence = fmt::format("{} {} {}: with {} there {} ({} edits were tried)", lines,
                                 edit.also.empty() ? "has" : "have", was, becomes, seen, tried);
  bool more = false;
  for (const Exchange* other : helpful)
    if (other != &edit)
      finding.evidence +=
          fmt::format("{} {} in {}", std::exchange(more, true) ? " or" : "; they are so too with",
                      parts_that_differ(*other).second, lines_of(*other));
  finding.fix = fmt::format("write {} in {}, or what means the same", becomes, lines);
  finding.location.line = edit.line;
  finding.edited = edit.becomes;
  finding.edited_from = edit.was;
  for (const EditedLine& other : edit.also) finding.edited_also.emplace_back(other.line, other.becomes);
  finding.decides = true;
  return finding;
}

}  // namespace isomer::lab
