#include "lab/plan/programs.hpp"

#include "core/registry.hpp"
#include "core/sentence.hpp"
#include "lab/plan/parallel.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace isomer::lab {
namespace {

/// What one case asks for.
struct PlannedProgram {
  std::vector<Wanted> wanted;
  std::vector<Refused> refused;
  int planned = 0, untaken = 0;
};

bool named(const std::vector<std::string>& names, const std::string& implementation) {
  return names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
           return implementation == name || implementation.starts_with(name + "/");
         });
}

PlannedProgram plan_case(const ProgramSelection& selection, const oracle::Oracle& oracle,
                         const oracle::Case& c) {
  PlannedProgram answer;
  const std::string& op = oracle.contract->op;
  oracle::Problem problem(c.seed() != 0 ? c : c.with_seed(1), oracle::Contents::none);
  oracle.make(problem.made_from(), problem);
  core::validate(problem.call(), Device{}, false);
  for (const PlanDevice& backend : selection.backends) {
    const int before = answer.planned;
    for (const gpu::Implementation* implementation : implementations_for(op, *backend.vendor)) {
      if (!named(selection.implementations, implementation->name())) continue;
      core::PlanOrRefusal plan = implementation->plan(problem.call(), *backend.facts);
      if (const auto* refusal = std::get_if<core::Refusal>(&plan)) {
        answer.refused.push_back(
            {backend.facts->architecture, implementation->name(), c.line(), refusal->reason});
        continue;
      }
      ++answer.planned;
      const auto* made = dynamic_cast<const gpu::Plan*>(std::get<std::unique_ptr<core::Plan>>(plan).get());
      if (made == nullptr) continue;  // a plan with no launches of its own
      for (const gpu::Step& step : made->steps())
        answer.wanted.push_back({backend, step.program(), op, implementation->name(), c.line()});
    }
    answer.untaken += answer.planned == before ? 1 : 0;
  }
  return answer;
}

/// Keeps `count` of the programs of each kernel, spread over their list.
void thin_out(Programs& programs, std::size_t count) {
  std::map<std::string, std::pair<std::size_t, std::size_t>>
      kernels;  // programs, and how many were looked at
  const auto kernel = [](const Wanted& wanted) {
    return core::say(wanted.backend.facts->architecture, " ", wanted.program.source, " ",
                     wanted.program.kernel);
  };
  for (const Wanted& wanted : programs.wanted) ++kernels[kernel(wanted)].first;
  programs.left_out = static_cast<int>(std::erase_if(programs.wanted, [&](const Wanted& wanted) {
    auto& [all, seen] = kernels[kernel(wanted)];
    const std::size_t i = seen++;
    // The first of each stretch of the list.
    return all > count && i > 0 && i * count / all == (i - 1) * count / all;
  }));
}

}  // namespace

std::vector<const gpu::Implementation*> implementations_for(const std::string& op,
                                                            const gpu::Vendor& vendor) {
  std::vector<const gpu::Implementation*> list;
  for (const auto& implementation : core::Registry::builtin().find(op)->implementations)
    if (implementation->device() == vendor.device_type())
      if (const auto* on_gpu = dynamic_cast<const gpu::Implementation*>(implementation.get()))
        list.push_back(on_gpu);
  return list;
}

Programs programs_of(const ProgramSelection& selection) {
  std::vector<std::pair<const oracle::Oracle*, oracle::Case>> work;
  const auto wants = [&](const std::string& op) {
    return selection.ops.empty() ||
           std::find(selection.ops.begin(), selection.ops.end(), op) != selection.ops.end();
  };
  for (const oracle::Oracle& oracle : oracle::oracles()) {
    if (!wants(oracle.contract->op)) continue;
    if (std::all_of(selection.backends.begin(), selection.backends.end(), [&](const PlanDevice& backend) {
          return implementations_for(oracle.contract->op, *backend.vendor).empty();
        }))
      continue;
    for (const oracle::Case& c : selection.cases.empty() ? oracle.cases() : selection.cases)
      if (&c.schema() == oracle.schema) work.emplace_back(&oracle, c);
  }
  std::vector<PlannedProgram> answers(work.size());
  parallel(work.size(), selection.jobs,
           [&](std::size_t i) { answers[i] = plan_case(selection, *work[i].first, work[i].second); });

  Programs programs;
  std::set<std::string> seen;
  for (PlannedProgram& answer : answers) {
    programs.planned += answer.planned;
    programs.untaken += answer.untaken;
    std::move(answer.refused.begin(), answer.refused.end(), std::back_inserter(programs.refused));
    for (Wanted& wanted : answer.wanted)
      if (seen.insert(core::say(wanted.backend.facts->architecture, " ", wanted.program.source, " ",
                                wanted.program.text()))
              .second)
        programs.wanted.push_back(std::move(wanted));
  }
  if (selection.sample > 0) thin_out(programs, static_cast<std::size_t>(selection.sample));
  // One architecture after the other, as they were asked for.
  const auto place = [&](const Wanted& wanted) {
    return std::find_if(selection.backends.begin(), selection.backends.end(),
                        [&](const PlanDevice& backend) { return backend.facts == wanted.backend.facts; });
  };
  std::stable_sort(programs.wanted.begin(), programs.wanted.end(),
                   [&](const Wanted& a, const Wanted& b) { return place(a) < place(b); });
  return programs;
}

}  // namespace isomer::lab
