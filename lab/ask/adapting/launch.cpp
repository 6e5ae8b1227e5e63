#include "lab/ask/adapting/launch.hpp"

#include "lab/ask/adapting/launch_steps.hpp"
#include "lab/ask/nearness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <set>

namespace isomer::lab {
namespace {

using What = Passing::What;
/// What the search may take, in the processor's time: what else a machine does must not change the verdict.
constexpr double kMostWork = 6;
constexpr int kMostTries = 600, kMostLostLaunches = 4;  ///< launches, and those that do not end
constexpr int kMostCompared = 48;  ///< launches that fit one problem and are held against others
constexpr double kSecondsEach = 2;
constexpr double kMostSeconds = 90;            ///< by the clock, on a machine that does all but this
constexpr double kRight = 1.38, kFull = 0.39;  // of worth: all is right; all is written and nothing strays

LaunchForm::Axis constant(double number) {
  LaunchForm::Axis axis;
  axis.count.what = What::constant;
  axis.count.constant = number;
  return axis;
}

LaunchForm::Axis counting(What what, std::size_t role, int dim, std::int64_t per = 1) {
  LaunchForm::Axis axis;
  axis.count.what = what;
  axis.count.role = static_cast<int>(role);
  axis.count.dim = dim;
  axis.per = per;
  return axis;
}

LaunchForm launch(const LaunchForm::Axis& x, const LaunchForm::Axis& y, const LaunchForm::Axis& z,
                  const LaunchForm::Axis& block) {
  const LaunchForm::Axis one = constant(1);
  return {{x, y, z}, {block, one, one}};
}

/// Geometries that the problem's tensors suggest, the usual ones first: a block for each entry of an index,
/// threads for all elements or rows, a block for each row, a block for each of one, two or three indices,
/// square tiles.
std::vector<LaunchForm> geometries(const Port& port, const Given& given) {
  std::vector<LaunchForm> list;
  std::vector<LaunchForm::Axis> blocks = {constant(256), constant(128), constant(64),
                                          constant(32),  constant(1),   constant(1024)};
  std::set<std::int64_t> widths = {256, 128, 64, 32, 1, 1024};
  const LaunchForm::Axis one = constant(1);
  for (std::size_t r = 0; r < port.roles.size(); ++r) {
    const Value& value = given.values[r];
    for (int d = value.is_tensor() ? value.tensor.rank - 1 : -1; d >= 0; --d)
      if (value.tensor.size(d) <= 1024 && widths.insert(value.tensor.size(d)).second)
        blocks.push_back(counting(What::size, r, d));
  }
  std::set<std::array<std::int64_t, 3>> grids;
  const auto add = [&](const LaunchForm::Axis& x, const LaunchForm::Axis& y, const LaunchForm::Axis& z) {
    LaunchForm tried = launch(x, y, z, one);
    if (!grids.insert(extents(tried.grid, given.values)).second) return;
    for (const LaunchForm::Axis& block : blocks) list.push_back(launch(x, y, z, block));
  };
  // A block for each entry of an index.
  for (std::size_t r = 0; r < port.roles.size(); ++r)
    if (port.original->parameters[r].index && given.values[r].is_tensor() && given.values[r].tensor.rank == 1)
      add(counting(What::elements, r, 0), one, one);
  // What a kernel writes says more of its launch than what it reads.
  std::vector<std::size_t> order;
  for (const bool output : {true, false})
    for (std::size_t r = 0; r < port.roles.size(); ++r)
      if (port.roles[r].output == output) order.push_back(r);
  for (const std::size_t r : order) {
    const Value& value = given.values[r];
    if (!value.is_tensor() || value.tensor.rank == 0) continue;
    const int rank = value.tensor.rank;
    for (const std::int64_t side : {16, 32, 8})
      if (rank > 1) {
        const LaunchForm::Axis columns = counting(What::size, r, rank - 1, side),
                               rows = counting(What::size, r, rank - 2, side),
                               threads = constant(static_cast<double>(side));
        list.push_back({{columns, rows, one}, {threads, threads, one}});
        list.push_back({{rows, columns, one}, {threads, threads, one}});
      }
    for (const std::int64_t per : {256, 1}) {
      add(counting(What::elements, r, 0, per), one, one);
      add(counting(What::rows, r, 0, per), one, one);
    }
    for (int d = 0; d < rank; ++d) add(counting(What::size, r, d), one, one);
    for (int a = 0; a < rank && rank > 1; ++a)
      for (int b = 0; b < rank; ++b)
        if (a != b) add(counting(What::size, r, a), counting(What::size, r, b), one);
    // Tiles of which a thread has several elements, by as many threads in a row.
    for (const std::int64_t side : {64, 32, 16, 128})
      if (rank > 1 && port.roles[r].output) {
        const LaunchForm::Axis columns = counting(What::size, r, rank - 1, side),
                               rows = counting(What::size, r, rank - 2, side);
        list.push_back({{columns, rows, one}, {constant(256), one, one}});
        list.push_back({{rows, columns, one}, {constant(256), one, one}});
      }
    if (rank > 2) {
      add(counting(What::size, r, 0), counting(What::size, r, 1), counting(What::size, r, 2));
      add(counting(What::size, r, 2), counting(What::size, r, 1), counting(What::size, r, 0));
    }
  }
  return list;
}

/// Accesses out of bounds that a grid of twice the size leaves as they are: the kernel's own guard lets them
/// through, not a wrong launch.
bool strays_whatever_the_grid(const Candidate& candidate, const CallRequest& request, const Called& called) {
  const auto count = [](const Trial& trial) {
    std::uint64_t all = 0;
    for (const Seen& seen : trial.answer.seen) all += seen.count;
    return all;
  };
  LaunchForm twice = *called.form.launch;
  twice.grid[0].times = 2;
  Form form = called.form;
  form.launch = std::make_shared<const LaunchForm>(twice);
  const Trial trial = try_call(candidate, form, *called.port, *called.given, request.settings);
  return trial.ok() && count(trial) == count(called.trial) &&
         share_right(*called.given, trial) >= share_right(*called.given, called.trial);
}

/// Problems of other sizes, which a launch that fits one by chance does not fit: those in which each size is
/// larger than usual tiles, and the largest of the op's.
std::vector<std::shared_ptr<const Given>> others_of(const Called& called) {
  constexpr std::size_t kOthers = 5;
  constexpr std::size_t kMostElements = 1 << 17;
  const Port asked = without_what_it_lacks(*called.port, called.form);
  const auto problem = [&](const std::string& line) -> std::shared_ptr<const Given> {
    try {
      return given_by_line(asked, line, called.dtypes);
    } catch (const Error&) {  // a size, or a regime, that there is not
      return nullptr;
    }
  };
  const auto elements = [](const Given& of) {
    std::size_t all = 0;
    for (const Value& value : of.values)
      if (value.is_tensor()) all += static_cast<std::size_t>(value.tensor.numel());
    return all;
  };
  std::vector<std::shared_ptr<const Given>> list;
  for (const std::string& line : asked.original->sizes)
    if (auto given = problem(line + "130"); given != nullptr && elements(*given) <= kMostElements)
      list.push_back(std::move(given));
  std::map<std::size_t, std::shared_ptr<const Given>, std::greater<>> by_elements;
  for (const std::string& line : asked.original->probes)
    if (auto given = problem(line); given != nullptr && elements(*given) <= kMostElements)
      by_elements.emplace(elements(*given), std::move(given));
  for (auto& [count, given] : by_elements)
    if (list.size() < kOthers && count > elements(*called.given)) list.push_back(std::move(given));
  return list;
}

/// "grid (4,1,1) block (256,1,1)", without where it came from.
std::string geometry_of(const Answer& answer) { return answer.launch.substr(0, answer.launch.find(':')); }

}  // namespace

void find_launch(const Candidate& candidate, const CallRequest& request, Called& called) {
  const Answer& answer = called.trial.answer;
  if (called.form.entry->form != Entry::Form::kernel || !answer.launch_guessed) return;
  const auto share = [&] { return called.trial.ok() ? share_right(*called.given, called.trial) : 0; };
  const double guessed = worth(*called.given, called.trial);
  if (called.trial.ok() && share() >= 0.5 && guessed >= share() + kFull) return;
  const auto begin = std::chrono::steady_clock::now();
  const Called before = called;
  double best = -3;
  int tried = 0, compared = 0;
  std::vector<std::shared_ptr<const Given>> others;
  bool own_fault = false;
  double worked = 0;
  int lost = 0;
  CallSettings settings = request.settings;
  settings.timeout_seconds = std::min(settings.timeout_seconds, kSecondsEach);
  std::vector<LaunchForm> list =
      geometries_by_steps(request.source, called.form.entry->place.line, *called.port, *called.given);
  const std::vector<LaunchForm> usual = geometries(*called.port, *called.given);
  list.insert(list.end(), usual.begin(), usual.end());
  for (const LaunchForm& launch : list) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    if (best >= (others.empty() ? kRight : kRight + 1.49) || own_fault || worked > kMostWork ||
        tried >= kMostTries || lost >= kMostLostLaunches || passed.count() > kMostSeconds)
      break;
    Form form = called.form;
    form.launch = std::make_shared<const LaunchForm>(launch);
    Trial trial = try_call(candidate, form, *called.port, *called.given, settings);
    ++tried;
    worked += trial.answer.worked_seconds;
    lost += trial.answer.end == Answer::End::timed_out;
    double now = worth(*called.given, trial);
    const double right = trial.ok() ? share_right(*called.given, trial) : 0;
    if (now >= right + kFull && compared < kMostCompared) {
      if (others.empty()) others = others_of(called);
      ++compared;
      for (const std::shared_ptr<const Given>& other : others) {
        const Trial there = try_call(candidate, form, *called.port, *other, settings);
        worked += there.answer.worked_seconds;
        if (there.ok() && worth(*other, there) >= share_right(*other, there) + kFull)
          now += (0.5 + share_right(*other, there)) / static_cast<double>(others.size());
      }
    }
    if (now <= best) continue;
    best = now;
    called.form = std::move(form);
    called.trial = std::move(trial);
    // Threads that store the same may be more than the kernel is made for: others are tried first.
    own_fault = share() >= 0.9 && best < share() + kFull && strays(called.trial) &&
                strays_whatever_the_grid(candidate, request, called);
  }
  if (!own_fault && called.trial.ok() && share() >= 0.9 && best < share() + kFull)
    own_fault = strays_whatever_the_grid(candidate, request, called);
  // Every element written and nothing touched that is not the kernel's own: then its numbers can be judged.
  // The first guess does as well as any where it is wrong in its numbers alone.
  if (before.trial.ok() && guessed >= best && guessed >= share_right(*called.given, before.trial) + kFull) {
    called = before;
    return;
  }
  // It does not end however it is launched.
  if (before.trial.answer.end == Answer::End::timed_out && lost == tried) {
    called = before;
    return;
  }
  called.callable = called.trial.answer.ok();
  if (called.callable && (best >= share() + kFull || own_fault)) {
    called.launch_note = fmt::format(
        "the source does not say how the kernel is launched; of {} geometries tried, {} fits best", tried,
        geometry_of(called.trial.answer));
    called.notes.push_back(called.launch_note);
    return;
  }
  // What is wrong however it is launched, and launched in one way alone.
  if (const std::optional<LaunchForm> said = launch_of_single_index(
          request.source, called.form.entry->place.line, *called.port, *called.given)) {
    Form form = before.form;
    form.launch = std::make_shared<const LaunchForm>(*said);
    Trial trial = try_call(candidate, form, *called.port, *called.given, request.settings);
    if (trial.ok()) {
      called.form = std::move(form);
      called.trial = std::move(trial);
      called.callable = true;
      called.launch_note = "it is launched with a thread for each element, as its one index says";
      called.notes.push_back(called.launch_note);
      return;
    }
  }
  called.unknown_launch = launch_is_unknown(called.form.entry->name);
}

std::string launch_is_unknown(const std::string& kernel) {
  return fmt::format(
      "the source does not say how {} is launched, and no usual geometry fits: add a line that launches it, "
      "or a comment above it, // launch: grid(…) block(…)",
      kernel);
}

}  // namespace isomer::lab
