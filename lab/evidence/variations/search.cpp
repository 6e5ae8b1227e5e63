#include "lab/evidence/variations/search.hpp"

#include "core/codec.hpp"
#include "lab/evidence/variations/changed_answers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>

namespace isomer::lab {
namespace {

/// What the reference of a call costs, in steps.
double steps_of(const core::Call& call) {
  double steps = call.contract->work ? call.contract->work(call).flops / 2 : 0;
  for (int i = 0; i < call.count; ++i) steps += static_cast<double>(call.tensor(i).numel());
  return steps;
}

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
/// Faults of one port; more are not told apart in the time that there is.
constexpr std::size_t kLargest = 7;
constexpr std::size_t kBeam = 10;
/// What the smallest calls have wrong, before a set that makes hardly any of it right is given up.
constexpr std::size_t kFirstWrong = 64;

double error_of(const oracle::ExpectedTensor& want, std::size_t i, double got) {
  const double value = want.value[i];
  if (got == value || (std::isnan(got) && std::isnan(value))) return 0;
  if (!std::isfinite(got) || !std::isfinite(value)) return INFINITY;
  return want.bound[i] > 0 ? std::fabs(got - value) / want.bound[i] : INFINITY;
}

bool differs(const oracle::ExpectedTensor& a, const oracle::ExpectedTensor& b, std::size_t i) {
  if (a.written[i] != b.written[i]) return true;
  if (!a.written[i] || (!b.unknown.empty() && b.unknown[i] != 0)) return false;
  oracle::ExpectedTensor const& bounded = a;
  return !holds(bounded, i, core::round_to(b.dtype, b.value[i]));
}

/// Whether NaN is expected where the memory is as it was, which is a NaN as nothing computes it: all ones. A
/// byte of ones may be computed.
bool is_no_written_nan(const oracle::ExpectedTensor& want, std::size_t i) {
  return std::isnan(want.value[i]) && size_of(want.dtype) > 1;
}

}  // namespace

void Search::add(Evidence evidence) { evidence_.push_back(std::move(evidence)); }

std::vector<std::string> Search::names(const Set& set) const {
  std::vector<std::string> list;
  for (const int i : set) list.push_back(oracle_.variations[static_cast<std::size_t>(i)].name);
  return list;
}

const oracle::Expected& Search::expected(const Set& set, std::size_t evidence) const {
  const auto key = std::pair(set, evidence);
  const auto at = cache_.find(key);
  if (at != cache_.end()) return at->second;
  return cache_.emplace(key, varied_by(set, evidence)).first->second;
}

oracle::Expected Search::varied_by(const Set& set, std::size_t evidence) const {
  steps_ += steps_of(evidence_[evidence].given->problem->call());
  return varied(*evidence_[evidence].given, oracle_, oracle::Variations(names(set)));
}

/// What an element of an answer is, held against a varied reference's.
Search::Judged Search::judge(const Set& set, const Evidence& evidence, const oracle::ExpectedTensor& want,
                             std::size_t tensor, std::size_t i) {
  const bool untouched = evidence.untouched[tensor][i] != 0;
  if (!want.written[i]) return untouched ? Judged::right : Judged::wrong;
  if (!want.unknown.empty() && want.unknown[i] != 0 && evidence.outside) return Judged::unknown;
  if (!set.empty() && untouched && is_no_written_nan(want, i)) return Judged::wrong;
  return holds(want, i, evidence.outputs[tensor][i]) ? Judged::right : Judged::wrong;
}

Distance Search::of(const Set& set, const Evidence& evidence, bool open, std::size_t enough) const {
  Distance distance;
  // Single variations are asked for again and again; larger sets hardly.
  const auto index = static_cast<std::size_t>(&evidence - evidence_.data());
  oracle::Expected large =
      set.size() > 1 ? varied_by(set, index) : oracle::Expected(core::Call(evidence.given->problem->call()));
  const oracle::Expected& varied = set.size() > 1 ? large : expected(set, index);
  for (std::size_t t = 0; t < varied.tensors.size(); ++t) {
    const oracle::ExpectedTensor& want = varied.tensors[t];
    for (std::size_t i = 0; i < want.value.size(); ++i) {
      if (!open && evidence.given->open[t][i]) continue;
      ++distance.elements;
      const Judged judged = judge(set, evidence, want, t, i);
      distance.wrong += judged == Judged::wrong;
      distance.unknown += judged == Judged::unknown;
      const bool other_memory =
          !want.written[i] || (!set.empty() && evidence.untouched[t][i] && is_no_written_nan(want, i));
      if (other_memory) {
        distance.error += judged == Judged::wrong ? 1000 : 0;
      } else if (judged == Judged::wrong || (judged == Judged::right && want.bound[i] > 0)) {
        const double error = error_of(want, i, evidence.outputs[t][i]);
        distance.worst = std::max(distance.worst, error);
        distance.error += std::min(error, 1000.0);
      }
      if (distance.wrong >= enough) return distance;
    }
  }
  return distance;
}

/// The smallest calls first: most sets fail there, and of the large ones the reference takes longest.
std::vector<std::size_t> Search::smallest_first() const {
  const auto elements = [&](std::size_t at) {
    std::size_t count = 0;
    for (const oracle::ExpectedTensor& tensor : evidence_[at].given->plain.tensors)
      count += tensor.value.size();
    return count;
  };
  std::vector<std::size_t> order(evidence_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return elements(a) < elements(b); });
  return order;
}

Distance Search::distance(const Set& set, bool open, std::size_t enough) const {
  Distance sum;
  for (const Evidence& evidence : evidence_) {
    const Distance one = of(set, evidence, open, enough == kAll ? kAll : enough - sum.wrong);
    sum.wrong += one.wrong;
    sum.elements += one.elements;
    sum.unknown += one.unknown;
    sum.worst = std::max(sum.worst, one.worst);
    sum.error += one.error;
    if (sum.wrong >= enough) break;
  }
  return sum;
}

/// What is read from outside may be anything: a set that says so of nearly all that is wrong explains
/// nothing.
bool Search::explains(const Set& set, bool open) const {
  std::size_t unknown = 0;
  // And those first in which many have failed.
  std::vector<std::size_t> order = smallest_first();
  failed_.resize(evidence_.size());
  const auto failed = [&](std::size_t at) { return failed_[at] / 16; };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return failed(a) > failed(b); });
  for (const std::size_t at : order) {
    const Distance one = of(set, evidence_[at], open, 1);
    if (one.wrong > 0) {
      ++failed_[at];
      return false;
    }
    unknown += one.unknown;
  }
  return 4 * unknown <= 3 * plain_wrong_;
}

Distance Search::distance(const std::vector<std::string>& set, bool open) const {
  Set indices;
  for (std::size_t i = 0; i < oracle_.variations.size(); ++i)
    if (std::find(set.begin(), set.end(), oracle_.variations[i].name) != set.end())
      indices.push_back(static_cast<int>(i));
  return distance(indices, open, kAll);
}

/// Whether two sets give one answer on all inputs, within the op's bound.
bool Search::same(const Set& a, const Set& b) const {
  for (std::size_t e = 0; e < evidence_.size(); ++e) {
    const oracle::Expected x = varied_by(a, e), y = varied_by(b, e);
    for (std::size_t t = 0; t < x.tensors.size(); ++t)
      for (std::size_t i = 0; i < x.tensors[t].value.size(); ++i)
        if (!evidence_[e].given->open[t][i] && differs(x.tensors[t], y.tensors[t], i)) return false;
  }
  return true;
}

std::vector<int> Search::active(bool open) const {
  std::vector<int> list;
  for (int v = 0; v < static_cast<int>(oracle_.variations.size()); ++v) {
    bool shows = false;
    for (std::size_t e = 0; e < evidence_.size() && !shows; ++e) {
      const oracle::Expected &plain = evidence_[e].given->plain, &varied = expected({v}, e);
      for (std::size_t t = 0; t < plain.tensors.size() && !shows; ++t)
        for (std::size_t i = 0; i < plain.tensors[t].value.size() && !shows; ++i)
          shows =
              (open || !evidence_[e].given->open[t][i]) && differs(plain.tensors[t], varied.tensors[t], i);
    }
    if (shows) list.push_back(v);
  }
  return list;
}

/// The distance of a set that may be given up: none once it has `enough` wrong, or where it makes hardly any
/// right of what is wrong before it in the smallest calls, `wrong_before` in each; `wrong` is its own.
std::optional<Distance> Search::promising(const Set& set, bool open, std::size_t enough,
                                          const std::vector<std::size_t>& wrong_before,
                                          std::vector<std::size_t>& wrong) const {
  Distance sum;
  std::vector<std::size_t> order = smallest_first();
  std::stable_partition(order.begin(), order.end(), [&](std::size_t at) { return wrong_before[at] > 0; });
  const std::size_t telling =
      std::min(kFirstWrong, std::accumulate(wrong_before.begin(), wrong_before.end(), std::size_t{0}));
  std::size_t before = 0;
  for (const std::size_t at : order) {
    const Distance one = of(set, evidence_[at], open, enough == kAll ? kAll : enough - sum.wrong);
    wrong[at] = one.wrong;
    sum.wrong += one.wrong;
    sum.elements += one.elements;
    sum.unknown += one.unknown;
    sum.worst = std::max(sum.worst, one.worst);
    sum.error += one.error;
    before += wrong_before[at];
    const bool idle = before >= telling && 16 * sum.wrong > 15 * before;
    if (sum.wrong >= enough || idle) return std::nullopt;
  }
  return sum;
}

/// Best sets first, each grown by one variation at a time, pairs at once. It ends where larger sets come no
/// nearer.
Search::Set Search::greedy(const std::vector<int>& active, const Set& from, bool open) {
  struct Node {
    Set set;
    Distance distance;
    std::vector<std::size_t> wrong;  ///< in each call
  };
  const auto better = [](const Node& a, const Node& b) {
    return std::tuple(a.distance.wrong, a.set.size(), a.distance.error) <
           std::tuple(b.distance.wrong, b.set.size(), b.distance.error);
  };
  const double begin = steps_;
  const auto late = [&] { return steps_ - begin > patience_; };
  std::vector<std::size_t> wrong_from;
  for (const Evidence& evidence : evidence_) wrong_from.push_back(of(from, evidence, open, kAll).wrong);
  std::vector<Node> beam = {{from, distance(from, open, kAll), wrong_from}};
  Node best = beam.front();
  std::set<Set> seen = {from};
  int idle = 0;  // sizes in a row that came no nearer
  for (std::size_t size = from.size(); best.distance.wrong > 0 && size < from.size() + kLargest; ++size) {
    std::vector<Node> next;
    std::vector<std::size_t> lowest;  // of the next beam, ascending
    const std::size_t best_before = best.distance.wrong;
    for (const Node& node : beam)
      for (const int v : active) {
        if (std::find(node.set.begin(), node.set.end(), v) != node.set.end() || late()) continue;
        Set grown = node.set;
        grown.insert(std::upper_bound(grown.begin(), grown.end(), v), v);
        if (!seen.insert(grown).second) continue;
        // Two faults may each look harmless, or even harmful, until the other is there: of single ones keep
        // all. Of larger sets what cannot be of the next beam needs no count.
        std::optional<Distance> far;
        std::vector<std::size_t> wrong(evidence_.size());
        if (size == from.size())
          far = distance(grown, open, kAll);
        else
          far = promising(grown, open, lowest.size() < kBeam ? kAll : lowest.back() + 1,
                          size == from.size() + 1 ? wrong_from : node.wrong, wrong);
        if (!far) continue;
        lowest.insert(std::upper_bound(lowest.begin(), lowest.end(), far->wrong), far->wrong);
        if (lowest.size() > kBeam) lowest.pop_back();
        next.push_back({std::move(grown), *far, std::move(wrong)});
      }
    if (next.empty()) break;
    std::sort(next.begin(), next.end(), better);
    if (size > from.size() && next.size() > kBeam) next.resize(kBeam);
    if (better(next.front(), best)) best = next.front();
    idle = best.distance.wrong < best_before ? 0 : idle + 1;
    if (idle == 2) break;
    beam = std::move(next);
  }
  // What the explanation does not need.
  for (std::size_t i = 0; i < best.set.size();) {
    Set without = best.set;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    const bool needed = std::find(from.begin(), from.end(), best.set[i]) != from.end() ||
                        distance(without, open, best.distance.wrong + 1).wrong > best.distance.wrong;
    if (needed)
      ++i;
    else
      best.set = std::move(without);
  }
  return best.set;
}

/// The elements of a call that are wrong under a set.
std::vector<std::size_t> Search::wrong_elements(const Set& set, std::size_t at) const {
  const Evidence& evidence = evidence_[at];
  oracle::Expected large =
      set.size() > 1 ? varied_by(set, at) : oracle::Expected(core::Call(evidence.given->problem->call()));
  const oracle::Expected& varied = set.size() > 1 ? large : expected(set, at);
  std::vector<std::size_t> wrong;
  std::size_t flat = 0;
  for (std::size_t t = 0; t < varied.tensors.size(); ++t)
    for (std::size_t i = 0; i < varied.tensors[t].value.size(); ++i, ++flat)
      if (!evidence.given->open[t][i] && judge(set, evidence, varied.tensors[t], t, i) == Judged::wrong)
        wrong.push_back(flat);
  return wrong;
}

/// Which elements of a call each variation changes, alone or beside what explains it.
std::vector<std::vector<bool>> Search::influences(const Set& beside, const std::vector<int>& active,
                                                  std::size_t at) const {
  const auto changed = [](const oracle::Expected& a, const oracle::Expected& b, std::vector<bool>& list) {
    std::size_t flat = 0;
    for (std::size_t t = 0; t < a.tensors.size(); ++t) {
      const oracle::ExpectedTensor &x = a.tensors[t], &y = b.tensors[t];
      for (std::size_t i = 0; i < x.value.size(); ++i, ++flat)
        if (x.value[i] != y.value[i] || x.bound[i] != y.bound[i] || x.written[i] != y.written[i] ||
            x.others.count(i) != y.others.count(i) || x.nearby.count(i) != y.nearby.count(i))
          list[flat] = true;
    }
  };
  const oracle::Expected& plain = evidence_[at].given->plain;
  std::size_t elements = 0;
  for (const oracle::ExpectedTensor& tensor : plain.tensors) elements += tensor.value.size();
  std::vector<std::vector<bool>> list(active.size(), std::vector<bool>(elements));
  for (std::size_t v = 0; v < active.size(); ++v) changed(plain, expected({active[v]}, at), list[v]);
  // In place of each of those that explain it as well: what two do alike shows beside neither.
  std::vector<Set> bases(beside.size() + 1, beside);
  for (std::size_t i = 0; i < beside.size(); ++i) std::erase(bases[i], beside[i]);
  for (const Set& base : bases) {
    const oracle::Expected answer = varied_by(base, at);
    for (std::size_t v = 0; v < active.size(); ++v) {
      Set other = base;
      if (std::erase(other, active[v]) == 0)
        other.insert(std::upper_bound(other.begin(), other.end(), active[v]), active[v]);
      changed(answer, varied_by(other, at), list[v]);
    }
  }
  return list;
}

/// The other sets, none larger, that explain everything too: each is grown by what changes an element that is
/// wrong without it.
std::vector<Search::Set> Search::equals(const Set& set, const std::vector<int>& active) const {
  std::vector<Set> found;
  const double begin = steps_;
  std::set<Set> seen;
  std::map<std::size_t, std::vector<std::vector<bool>>> known;
  const std::vector<std::size_t> order = smallest_first();
  const auto grow = [&](const auto& self, const Set& partial) -> void {
    if (steps_ - begin > patience_ || !seen.insert(partial).second || partial == set) return;
    std::vector<std::size_t> wrong;
    std::size_t call = 0;
    for (; call < order.size() && wrong.empty(); ++call) wrong = wrong_elements(partial, order[call]);
    if (wrong.empty() && explains(partial)) found.push_back(partial);
    if (wrong.empty() || partial.size() == set.size()) return;
    std::vector<std::vector<bool>>& changes = known[order[call - 1]];
    if (changes.empty()) changes = influences(set, active, order[call - 1]);
    // The element that the fewest change.
    std::vector<int> fewest = active;
    for (const std::size_t element : wrong) {
      std::vector<int> of_element;
      for (std::size_t v = 0; v < active.size() && of_element.size() < fewest.size(); ++v)
        if (changes[v][element] && std::find(partial.begin(), partial.end(), active[v]) == partial.end())
          of_element.push_back(active[v]);
      if (of_element.size() < fewest.size()) fewest = std::move(of_element);
    }
    for (const int v : fewest) {
      Set grown = partial;
      grown.insert(std::upper_bound(grown.begin(), grown.end(), v), v);
      self(self, grown);
    }
  };
  grow(grow, {});
  return found;
}

/// A case of the op's own list on which the two sets give different answers, or the empty text.
std::string Search::separating_line(const Set& a, const Set& b) const {
  const double begin = steps_;
  const core::Call& like = evidence_.front().given->problem->call();
  for (const oracle::Case& c : oracle_.cases()) {
    if (steps_ - begin > patience_) break;
    try {
      const oracle::Case fixed = c.with_seed(77);
      // Its shapes say whether it is of use: no data is drawn for that.
      oracle::Problem shape(fixed, oracle::Contents::none);
      oracle_.make(fixed, shape);
      bool fits = true;
      for (int i = 0; i < like.count && fits; ++i) {
        const Tensor& tensor = shape.call().tensor(i);
        fits = tensor.dtype == like.tensor(i).dtype && tensor.numel() < 20000 && tensor.is_contiguous();
      }
      if (!fits) continue;
      oracle::Problem problem(fixed);
      oracle_.make(fixed, problem);
      steps_ += 3 * steps_of(problem.call());
      oracle::Expected x(problem.call()), y(problem.call());
      oracle_.reference(problem.call(), oracle::Variations(names(a)), x);
      oracle_.reference(problem.call(), oracle::Variations(names(b)), y);
      apply_changes(oracle::Variations(names(a)), x);
      apply_changes(oracle::Variations(names(b)), y);
      for (std::size_t t = 0; t < x.tensors.size(); ++t)
        for (std::size_t i = 0; i < x.tensors[t].value.size(); ++i)
          if (differs(x.tensors[t], y.tensors[t], i)) return fixed.line();
    } catch (const Error&) {
      continue;
    }
  }
  return {};
}

Explanation Search::run(const std::function<std::shared_ptr<Evidence>(const std::string&)>& more) {
  Explanation found;
  const auto finish = [&] {
    found.plain = distance(Set(), false, kAll);
    plain_wrong_ = found.plain.wrong;
    found.open_differs = distance(Set(), true, kAll).wrong > found.plain.wrong;
  };
  finish();
  Set set;
  if (found.plain.wrong > 0) {
    std::vector<int> live = active(false);
    set = greedy(live, {}, false);
    found.explains = explains(set);
    if (!found.explains) {
      // Beside a fault more may show than alone: what the original leaves open, in other rows; a product
      // with a reciprocal, where the scale is another. Beside a fault that nothing comes nearer to, nothing
      // does.
      std::vector<int> all(oracle_.variations.size());
      std::iota(all.begin(), all.end(), 0);
      const Set wider = set.empty() || all.size() == live.size() ? Set() : greedy(all, {}, false);
      if (!wider.empty() && explains(wider)) {
        const std::vector<int> with_open = active(true);
        for (const int v : wider)
          if (std::find(live.begin(), live.end(), v) == live.end()) {
            const bool open = std::find(with_open.begin(), with_open.end(), v) != with_open.end();
            (open ? found.beside : found.brought).push_back(names({v}).front());
          }
        set = wider;
        live = all;
        found.explains = true;
      }
    }
    // What leaves most of it wrong is no explanation, not even a near one.
    if (!found.explains && 2 * distance(set, false, kAll).wrong > found.plain.wrong) set.clear();
    for (int round = 0; found.explains && round < 6; ++round) {
      std::vector<Set> rivals = equals(set, live);
      // The smallest first: an explanation with less in it is the better one.
      std::stable_sort(rivals.begin(), rivals.end(),
                       [](const Set& a, const Set& b) { return a.size() < b.size(); });
      if (!rivals.empty() && rivals.front().size() < set.size()) {
        set = rivals.front();
        continue;
      }
      bool asked = false;
      for (const Set& rival : rivals) {
        const std::string line = more ? separating_line(set, rival) : std::string();
        if (line.empty()) continue;
        const std::shared_ptr<Evidence> answer = more(line);
        if (answer == nullptr) continue;
        cache_.clear();
        add(*answer);
        asked = true;
        break;
      }
      if (!asked) {
        found.separated = rivals.empty();
        for (const Set& rival : rivals) found.others.push_back(names(rival));
        break;
      }
      if (live.size() < oracle_.variations.size()) live = active(false);
      if (!explains(set)) {
        const auto holding =
            std::find_if(rivals.begin(), rivals.end(), [&](const Set& rival) { return explains(rival); });
        set = holding != rivals.end() ? *holding : greedy(live, {}, false);
        found.explains = explains(set);
      }
    }
    finish();
    for (const int v : live) {
      if (std::find(set.begin(), set.end(), v) != set.end()) continue;
      Set grown = set;
      grown.insert(std::upper_bound(grown.begin(), grown.end(), v), v);
      if (found.explains && !same({v}, {}) && same(set, grown)) found.masked.push_back(names({v}).front());
    }
  } else {
    found.explains = true;
    found.separated = true;
  }
  found.set = names(set);
  found.left = distance(set, false, kAll);
  if (found.explains && distance(set, true, 1).wrong > 0) {
    found.open_differs = true;
    const Set wider = greedy(active(true), set, true);
    if (explains(wider, true))
      for (const int v : wider)
        if (std::find(set.begin(), set.end(), v) == set.end()) found.open_set.push_back(names({v}).front());
  }
  found.steps = steps_;
  return found;
}

}  // namespace isomer::lab
