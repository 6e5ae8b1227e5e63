#include "lab/batch/totals.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace isomer::lab {
namespace {

void add(Count& count, const Diagnosis& diagnosis) {
  const std::string verdict = diagnosis.verdict();
  ++(verdict == "pass" ? count.passed : verdict == "fail" ? count.failed : count.errors);
  count.seconds += diagnosis.seconds;
}

std::set<std::string> codes_of(const Diagnosis& diagnosis) {
  std::set<std::string> codes;
  for (const Finding& finding : diagnosis.findings)
    if (finding.subject == Subject::candidate) codes.insert(name_of(finding.code));
  return codes;
}

/// 1 − C(n−c, k)/C(n, k), as a product that does not overflow.
double pass_at(std::size_t n, std::size_t c, std::size_t k) {
  if (n - c < k) return 1;
  double none = 1;
  for (std::size_t i = n - c + 1; i <= n; ++i) none *= 1 - static_cast<double>(k) / static_cast<double>(i);
  return 1 - none;
}

int rank_of(const std::string& verdict) { return verdict == "pass" ? 2 : verdict == "fail" ? 1 : 0; }

}  // namespace

Totals totals_of(const std::vector<Judged>& judged) {
  Totals totals;
  std::map<std::string, std::map<std::string, std::pair<std::size_t, std::size_t>>> answers;  // all, passed
  for (const Judged& each : judged) {
    const Diagnosis& d = each.diagnosis;
    add(totals.all, d);
    add(totals.by_op[d.op], d);
    add(totals.by_author[each.author], d);
    for (const std::string& code : codes_of(d)) ++totals.causes[code];
    auto& [all, passed] = answers[each.author][each.task];
    ++all;
    passed += d.verdict() == "pass";
  }
  for (const auto& [author, tasks] : answers)
    for (const std::size_t k : {1, 2, 5, 10, 100}) {
      PassAt at{static_cast<int>(k), 0, 0};
      for (const auto& [task, counts] : tasks) {
        if (counts.first < k) continue;
        at.share += pass_at(counts.first, counts.second, k);
        ++at.tasks;
      }
      if (at.tasks == 0) continue;
      at.share /= static_cast<double>(at.tasks);
      totals.pass_at[author].push_back(at);
    }
  return totals;
}

Comparison compare(const std::vector<Judged>& before, const std::vector<Judged>& after) {
  Comparison result;
  std::map<std::pair<std::string, std::string>, const Diagnosis*> old;
  for (const Judged& each : before) old[{each.diagnosis.folder, each.diagnosis.candidate}] = &each.diagnosis;
  for (const Judged& each : after) {
    const Diagnosis& d = each.diagnosis;
    const auto it = old.find({d.folder, d.candidate});
    if (it == old.end()) {
      ++result.only_after;
      continue;
    }
    const Diagnosis& was = *it->second;
    Comparison::Change change{d.folder, d.candidate, was.verdict(), d.verdict(), {}, {}};
    const std::set<std::string> a = codes_of(was), b = codes_of(d);
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(change.gone));
    std::set_difference(b.begin(), b.end(), a.begin(), a.end(), std::back_inserter(change.come));
    old.erase(it);
    const int step = rank_of(change.after) - rank_of(change.before);
    if (step == 0 && change.gone.empty() && change.come.empty())
      ++result.same;
    else
      (step > 0 ? result.better : step < 0 ? result.worse : result.other).push_back(std::move(change));
  }
  result.only_before = old.size();
  return result;
}

}  // namespace isomer::lab
