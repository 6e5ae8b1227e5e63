#include "lab/evidence/probes/probes.hpp"

#include "lab/evidence/probes/counted.hpp"
#include "lab/evidence/probes/watched.hpp"
#include "lab/evidence/variations/changed_answers.hpp"

#include "core/codec.hpp"
#include "lab/ask/nearness.hpp"
#include "lab/findings/source_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string_view>

namespace isomer::lab {
namespace {

/// Those first that no block divides: of a kernel that takes long they are the ones that are asked.
constexpr std::int64_t kSizes[] = {1, 5, 17, 33, 65, 129, 257, 16, 32, 64, 100, 128, 256, 1000};
/// Of the processor, for all sizes of one axis, and of one that is wrong anyway.
constexpr double kWork = 3, kWorkOfWrong = 1;

/// Beyond what a fixed number of blocks covers, and beyond 2^16; only where the work is as small as the size.
constexpr std::int64_t kLargeSize = 131075;
/// Beyond 65535 blocks of 256 threads, which is all that a careful launch takes in one dimension, and beyond
/// what a float counts. Not watched, which would take minutes, and only for code with something that a size
/// may run into.
constexpr std::int64_t kHugeSize = (1 << 24) + 3;
constexpr std::string_view kLimits[] = {
    R"(\b([6-9]\d\d|5[2-9]\d|51[2-9]|\d{4,})[uUlL]*\b)", R"(\b0[xX][0-9a-fA-F]{3,})", R"(<< *(9|[1-9]\d)\b)",
    R"(\b(unsigned short|short|u?int16_t|ushort|float|double|min|max|std::min|std::max) *[({<])",
    R"(\b(short|u?int16_t) +\w+ *=)"};

/// Whether a problem of `size` has no more than a few elements, inputs among them, and steps for each.
bool is_light(const Given& given, std::int64_t size) {
  std::int64_t elements = 0;
  for (const Value& value : given.values)
    if (value.is_tensor()) elements += value.tensor.numel();
  std::size_t answers = 0;
  for (const oracle::ExpectedTensor& tensor : given.plain.tensors) answers += tensor.value.size();
  const core::Call& call = given.problem->call();
  constexpr std::int64_t kElements = 4;
  constexpr double kSteps = 64;
  return elements <= kElements * size && answers <= 2 * static_cast<std::size_t>(size) &&
         call.contract->work && call.contract->work(call).flops <= kSteps * static_cast<double>(size);
}

bool may_have_a_limit(const std::string& source) {
  return line_of(source, {std::begin(kLimits), std::end(kLimits)}) != 0;
}

bool power_of_two(std::int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

std::string listed(const std::vector<std::int64_t>& sizes) {
  std::string text;
  for (const std::int64_t size : sizes) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return text;
}

/// The largest block that every right size is a multiple of and no wrong one.
std::int64_t block_of(const std::vector<std::int64_t>& right, const std::vector<std::int64_t>& wrong) {
  for (std::int64_t block = 1024; block > 1; block /= 2)
    if (!right.empty() &&
        std::all_of(right.begin(), right.end(), [&](std::int64_t n) { return n % block == 0; }) &&
        std::all_of(wrong.begin(), wrong.end(), [&](std::int64_t n) { return n % block != 0; }))
      return block;
  return 0;
}

/// Whether memory was touched that is not aligned for what touches it.
bool is_unaligned(const Answer& answer) {
  return std::any_of(answer.seen.begin(), answer.seen.end(),
                     [](const Seen& seen) { return seen.kind == "misaligned"; });
}

/// Whether two answers to the plain problem, right or wrong, are no further from each other than rounding may
/// take them.
bool within_bounds(const Subjected& s, const Trial& a, const Trial& b) {
  for (std::size_t t = 0; t < a.outputs.size(); ++t) {
    const oracle::ExpectedTensor& want = s.given->plain.tensors[t];
    for (std::size_t i = 0; i < a.outputs[t].size(); ++i) {
      const double one = a.outputs[t][i], other = b.outputs[t][i];
      if (!want.written[i] || s.given->open[t][i] || one == other || (std::isnan(one) && std::isnan(other)))
        continue;
      if (!(std::fabs(one - other) <= 2 * want.bound[i])) return false;
    }
  }
  return true;
}

/// Of an op with sums that are rescaled: whether the call is right with queries of zeros, with which no
/// maximum differs from another.
bool is_right_of_equal_scores(const Subjected& s, const std::string& line, Probed& found) {
  const std::vector<oracle::Variation>& variations = s.port.oracle->variations;
  if (std::none_of(variations.begin(), variations.end(),
                   [](const oracle::Variation& each) { return each.name.starts_with("rescale="); }))
    return false;
  try {
    const std::shared_ptr<const Given> given = given_by_line(s.port, line + " regime=zero", s.dtypes);
    ++found.calls;
    const Trial trial = try_call(s.candidate, s.form, s.port, *given, s.settings);
    return trial.ok() && wrong_elements(s, *given, trial, s.set).elements == 0;
  } catch (const Error&) {  // there is no such regime
    return false;
  }
}

}  // namespace

void probe_sizes(const Subjected& s, Probed& found) {
  for (const std::string& line : s.port.original->sizes) {
    std::vector<std::int64_t> right, wrong;
    std::map<std::string, std::vector<std::int64_t>> refused;  // by what was said
    Wrong first;
    bool silent = true;  // of the wrong ones: nothing is done, and nothing is said
    std::vector<std::vector<std::string>> rivals = s.rivals;
    std::string first_line, name = line.substr(line.rfind(' ') + 1);
    name = name.substr(0, name.find('='));
    std::vector<std::int64_t> sizes(std::begin(kSizes), std::end(kSizes)), left_out;
    double worked = 0, of_an_element = 0;
    for (std::size_t next = 0; next < sizes.size(); ++next) {
      const std::int64_t size = sizes[next];
      // So long as the smaller ones say it will take.
      if (size > 33 && size <= 1000 &&
          worked + of_an_element * static_cast<double>(size) > (s.explained ? kWork : kWorkOfWrong)) {
        left_out.push_back(size);
        continue;
      }
      std::shared_ptr<const Given> given;
      try {
        given = given_by_line(s.port, line + std::to_string(size), s.dtypes);
      } catch (const Error&) {
        continue;  // the op does not take it
      }
      std::size_t elements = 0;
      for (const oracle::ExpectedTensor& tensor : given->plain.tensors) elements += tensor.value.size();
      if (elements > 12000 && size < kLargeSize) continue;
      if (size == std::end(kSizes)[-1] && left_out.empty() && s.explained && is_light(*given, size))
        sizes.push_back(kLargeSize);
      ++found.calls;
      CallSettings settings = s.settings;
      if (size == kHugeSize) settings.watch = false;
      const Trial trial = try_call(s.candidate, s.form, s.port, *given, settings);
      worked += trial.answer.worked_seconds;
      of_an_element = trial.answer.worked_seconds / static_cast<double>(size);
      using End = Answer::End;
      // A slow machine, or a slow kernel, is no wrong one.
      if (size == kHugeSize && (trial.answer.end == End::timed_out || trial.answer.end == End::too_large)) {
        found.notes.push_back(fmt::format("'{}' is not judged: it takes longer than its limit", given->line));
        continue;
      }
      if (s.port.whole_vectors && is_unaligned(trial.answer)) continue;
      findings_of_device(trial.answer, *given, found.findings);
      // Where the blocks are counted too low, what checks the launch ends the call.
      if (!trial.ok() && trial.answer.no_blocks) {
        wrong.push_back(size);
        silent = false;
        if (first_line.empty()) {
          first = {1, 1, 0, 0, given->plain.tensors.front().name};
          first_line = given->line;
        }
        continue;
      }
      if (!trial.ok()) {
        if (trial.answer.end == Answer::End::refused && !power_of_two(size)) {
          refused[trial.answer.message].push_back(size);
          continue;
        }
        Finding finding = finding_of_end(trial.answer, given->line);
        if (trial.answer.ok()) {
          finding.code = Code::shape_refused;
          finding.evidence = fmt::format("'{}': {}", given->line, trial.misfit);
        }
        add_once(found.findings, std::move(finding));
        if (trial.answer.end != Answer::End::refused) break;
        continue;
      }
      Wrong here = wrong_elements(s, *given, trial, s.set);
      if (here.all == 0) continue;
      // Where exactly a narrow type rounds is not said: of its answers a few are off at any size.
      if (rounds_otherwise(s.set) && 100 * here.elements < here.all) here.elements = 0;
      // What explains everything else may be another set than the one that was chosen.
      std::erase_if(rivals, [&](const std::vector<std::string>& rival) {
        return wrong_elements(s, *given, trial, rival).elements > 0;
      });
      (here.elements > 0 ? wrong : right).push_back(size);
      silent = silent && (here.elements == 0 || writes_nothing(*given, trial));
      if (size == kLargeSize && wrong.empty() && found.findings.empty() && trial.answer.launches > 0 &&
          may_have_a_limit(s.source))
        sizes.push_back(kHugeSize);
      if (here.elements > 0 && first_line.empty()) {
        first = here;
        first_line = given->line;
      }
    }
    for (std::vector<std::int64_t>* list : {&right, &wrong, &left_out}) std::sort(list->begin(), list->end());
    if (!left_out.empty())
      found.notes.push_back(fmt::format("{} = {} was not asked: the smaller sizes took the time there is",
                                        name, listed(left_out)));
    for (const auto& [said, sizes] : refused)
      found.notes.push_back(fmt::format("{} = {} is refused: {}", name, listed(sizes), said));
    // Wrong everywhere, or all but where there is a single element: not a matter of size.
    if (wrong.empty() || !rivals.empty() ||
        std::none_of(right.begin(), right.end(), [](std::int64_t n) { return n > 1; }))
      continue;
    Finding finding;
    finding.code = Code::tail_mask;
    finding.argument = first.output;
    const std::int64_t block = block_of(right, wrong);
    // Numbers that are wrong for another reason are so for some sizes and not for others.
    if (block == 0 && (!s.explained || leaves_sums(s.set))) continue;
    finding.evidence = fmt::format(
        "right for {} = {}, wrong for {}{}: {} of {} elements in '{}' are wrong, the first is {}[{}]", name,
        listed(right), listed(wrong),
        block > 0 ? fmt::format(" (all sizes that are not a multiple of {})", block) : "", first.elements,
        first.all, first_line, first.output, first.first);
    if (block == 0 && is_right_of_equal_scores(s, line + std::to_string(wrong.front()), found)) {
      finding.code = Code::missing_rescale;
      finding.evidence +=
          "; where all scores are equal they are right: sums of parts are added that have other "
          "maxima";
      finding.fix = "multiply each part's sums by e^(its maximum - the common maximum) before they are added";
      add_once(found.findings, std::move(finding));
      continue;
    }
    // What is done up to a size, and not begun above it, was made for those sizes. A number of elements that
    // the launch does not cover is a tail all the same.
    if (silent && right.back() < wrong.front() && wrong.front() < kLargeSize) {
      finding.code = Code::shape_refused;
      finding.argument = name;
      finding.evidence = fmt::format(
          "right for {} = {}, and for {} it comes back without an error and has written nothing, as in '{}'",
          name, listed(right), listed(wrong), first_line);
      finding.fix = "take every size, or refuse those that it does not take with an error";
      add_once(found.findings, std::move(finding));
      continue;
    }
    // A tail is left out, or overrun. What has no number for an answer is another matter.
    if (block == 0 && first.not_finite == first.elements && first.not_finite > 0) {
      finding.code = Code::nan_inf;
      finding.evidence = fmt::format(
          "right for {} = {}, and NaN or infinity for {}: {} of {} elements in '{}', the first is {}[{}]",
          name, listed(right), listed(wrong), first.elements, first.all, first_line, first.output,
          first.first);
      finding.fix =
          "guard what has no elements: the maximum of a tile that is masked as a whole is -inf, and "
          "exp(-inf - -inf) is NaN";
      add_once(found.findings, std::move(finding));
      continue;
    }
    finding.fix = wrong.front() >= kLargeSize
                      ? "launch enough blocks for every size, or let each of them go on to the next part"
                      : "process the last, partial block: launch ceil(n / block) blocks, and mask the rest";
    add_once(found.findings, std::move(finding));
  }
}

void unwritten_elements(const Form& form, const Port& port, const Numbers& numbers,
                        std::vector<Finding>& findings) {
  for (const Evidence& evidence : numbers.evidence) {
    const oracle::Expected want =
        varied(*evidence.given, *port.oracle, oracle::Variations(numbers.explanation.set));
    for (std::size_t t = 0; t < want.tensors.size(); ++t) {
      const oracle::ExpectedTensor& tensor = want.tensors[t];
      const int role = port.role_of_argument(tensor.name);
      if (numbers.raced && role >= 0 && !form.takes(role)) continue;
      std::size_t wrong = 0, kept = 0, first = tensor.value.size(), written_after = 0;
      for (std::size_t i = 0; i < tensor.value.size(); ++i) {
        if (!tensor.written[i] || evidence.given->open[t][i]) continue;
        const bool untouched = evidence.untouched[t][i] != 0;
        written_after += first < tensor.value.size() && !untouched;
        if (holds(tensor, i, evidence.outputs[t][i])) continue;
        ++wrong;
        kept += untouched;
        if (untouched) first = std::min(first, i);
      }
      if (kept == 0 || 2 * kept < wrong) continue;
      Finding finding;
      finding.code = Code::unwritten_output;
      finding.argument = tensor.name;
      finding.role = role;
      finding.evidence = fmt::format("{} of {} elements of {} are not written in '{}', {}", kept,
                                     tensor.value.size(), tensor.name, evidence.given->line,
                                     written_after == 0 ? fmt::format("element {} and all after it", first)
                                                        : fmt::format("the first is element {}", first));
      finding.fix = "derive the number of blocks, or of loop iterations, from the tensor's size";
      add_once(findings, std::move(finding));
      return;
    }
  }
}

void probe_empty(const Subjected& s, Probed& found) {
  for (const std::string& line : s.port.original->empties) {
    std::shared_ptr<const Given> given;
    try {
      given = given_by_line(s.port, line, s.dtypes);
    } catch (const Error&) {
      continue;
    }
    ++found.calls;
    const Trial trial = try_call(s.candidate, s.form, s.port, *given, s.settings);
    std::vector<Finding> seen;
    findings_of_device(trial.answer, *given, seen);
    if (!trial.answer.ok()) {
      Finding finding = finding_of_end(trial.answer, given->line);
      finding.code = Code::empty_input;
      finding.fix = "return before the launch if there is nothing to do";
      seen.insert(seen.begin(), std::move(finding));
    }
    for (Finding& finding : seen) {
      // How it ended says it all; an empty batch, which nobody calls these with, is told and no more.
      if (finding.code != Code::empty_input && !trial.answer.ok()) continue;
      if (finding.code == Code::empty_input && !s.port.original->called_empty)
        found.notes.push_back(finding.evidence);
      else
        add_once(found.findings, std::move(finding));
    }
  }
}

void probe_schedule(const Subjected& s, const Candidate* wide, Probed& found) {
  const auto outputs_differ = [&](const Trial& a, const Trial& b) {
    std::size_t count = 0;
    for (std::size_t t = 0; t < a.outputs.size(); ++t)
      for (std::size_t i = 0; i < a.outputs[t].size(); ++i)
        count += s.given->plain.tensors[t].written[i] && !s.given->open[t][i] &&
                 a.outputs[t][i] != b.outputs[t][i] &&
                 !(std::isnan(a.outputs[t][i]) && std::isnan(b.outputs[t][i]));
    return count;
  };
  const bool real = s.candidate.backend() != Backend::emulated;
  CallSettings once = s.settings;
  once.fresh = real;
  const Trial base = try_call(s.candidate, s.form, s.port, *s.given, once);
  ++found.calls;
  if (!base.ok()) return;
  ++found.calls;
  const Trial same = try_call(s.candidate, s.form, s.port, *s.given, s.settings);
  const bool repeatable = !same.ok() || outputs_differ(base, same) == 0;
  if (!repeatable) {
    Finding finding;
    finding.code = Code::nondeterministic;
    finding.evidence = fmt::format(
        "{} elements differ between two calls with the same inputs and the same order of threads ('{}')",
        outputs_differ(base, same), s.given->line);
    finding.fix = "make the answer depend only on the arguments, not on time, addresses or random numbers";
    add_once(found.findings, std::move(finding));
  }
  bool orderly = true;
  for (const std::uint64_t seed : {7u, 1234u}) {
    if (real) break;  // its order is nobody's choice
    CallSettings settings = s.settings;
    settings.schedule_seed = seed;
    ++found.calls;
    const Trial trial = try_call(s.candidate, s.form, s.port, *s.given, settings);
    std::vector<Finding> seen_now;
    findings_of_device(trial.answer, *s.given, seen_now);
    // What is told as harmless is not told again as a race.
    if (s.explained && s.memory_safe)
      std::erase_if(seen_now, [](const Finding& each) { return each.same_store; });
    for (Finding& each : seen_now) add_once(found.findings, std::move(each));
    if (!repeatable || !trial.ok() || outputs_differ(base, trial) == 0) continue;
    orderly = false;
    const bool seen = std::any_of(found.findings.begin(), found.findings.end(), [](const Finding& each) {
      return each.code == Code::race || each.code == Code::missing_barrier;
    });
    if (seen) break;
    // Sums in another order, as by atomics, are no fault: only what leaves the tolerance is.
    if (within_bounds(s, base, trial)) {
      found.notes.push_back(fmt::format(
          "{} elements change within the tolerance with the order in which blocks and threads run ('{}')",
          outputs_differ(base, trial), s.given->line));
      break;
    }
    Finding finding;
    finding.code = Code::race;
    finding.evidence = fmt::format(
        "{} elements change with the order in which blocks and threads run (schedule seed {}, '{}')",
        outputs_differ(base, trial), seed, s.given->line);
    finding.fix = "order the accesses, or let one thread own each element";
    add_once(found.findings, std::move(finding));
    break;
  }
  CallSettings again = once;
  again.repeats = calls_for_state(base.answer, once);
  ++found.calls;
  const Trial second = try_call(s.candidate, s.form, s.port, *s.given, again);
  const bool stale = second.ok() && (orderly ? outputs_differ(base, second) > 0
                                             : wrong_elements(s, *s.given, second, s.set).elements >
                                                   wrong_elements(s, *s.given, base, s.set).elements);
  if (repeatable && stale) {
    Finding finding;
    finding.code = Code::stale_state;
    finding.evidence = fmt::format(
        "after {} with zeros at the same addresses, {} elements differ from those of a first call "
        "('{}')",
        calls_before(again), outputs_differ(base, second), s.given->line);
    finding.fix = "keep no state between calls";
    add_once(found.findings, std::move(finding));
  }
  if (second.ok()) results_of_device(second.answer, s.given->line, found.findings);
  if (wide == nullptr) return;
  CallSettings lanes = s.settings;
  lanes.lanes = 64;
  Form form = s.form;
  for (const Entry& entry : wide->entries())
    if (entry.name == s.form.entry->name) form.entry = &entry;
  ++found.calls;
  const Trial trial = try_call(*wide, form, s.port, *s.given, lanes);
  const std::size_t changed = trial.ok() ? outputs_differ(base, trial) : 0;
  if (trial.ok() && changed == 0) return;
  // Sums in another order are no fault: only what leaves the tolerance is.
  if (trial.ok() && wrong_elements(s, *s.given, trial, s.set).elements == 0) return;
  Finding finding;
  finding.code = Code::warp_size;
  finding.evidence = trial.ok() ? fmt::format("{} elements change between warps of 32 and of 64 lanes ('{}')",
                                              changed, s.given->line)
                                : fmt::format("the call returns with warps of 32 lanes, but not with 64: {}",
                                              trial.answer.message);
  finding.fix = "use warpSize, 64-bit masks and explicit widths";
  if (!trial.answer.seen.empty()) finding.location = trial.answer.seen.front().place;
  add_once(found.findings, std::move(finding));
}

}  // namespace isomer::lab
