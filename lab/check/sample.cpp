#include "lab/check/sample.hpp"

#include "gpu/plan.hpp"
#include "gpu/vendors.hpp"
#include "lab/plan/parallel.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace isomer::lab {
namespace {

/// Compiling a kernel takes as long as so many bytes and operations of a watched run.
constexpr double kProgram = 4e6;

struct Cost {
  double work = 0;
  std::set<std::string> programs;
};

Cost cost_of(const core::Oracle& oracle, const core::Case& c, const std::vector<Target>& targets) {
  Cost cost;
  core::Problem problem(c.seed() != 0 ? c : c.with_seed(1));
  oracle.make(problem.made_from(), problem);
  if (oracle.contract->work) {
    const core::Work work = oracle.contract->work(problem.call());
    cost.work = work.bytes + work.flops;
  }
  for (const Target& target : targets) {
    const auto* on_gpu = dynamic_cast<const gpu::Implementation*>(target.implementation);
    if (on_gpu == nullptr) continue;
    const gpu::Facts& facts = gpu::find_vendor(target.device.type)->facts(target.device.index);
    core::PlanOrRefusal answer = on_gpu->plan(problem.call(), facts);
    const auto* plan = std::get_if<std::unique_ptr<core::Plan>>(&answer);
    const auto* steps = plan == nullptr ? nullptr : dynamic_cast<const gpu::Plan*>(plan->get());
    if (steps == nullptr) continue;
    for (const gpu::Step& step : steps->steps())
      cost.programs.insert(facts.architecture + " " + step.program.text());
  }
  return cost;
}

}  // namespace

std::vector<core::Case> sample(const core::Oracle& oracle, const std::vector<Target>& targets, int count,
                               int jobs) {
  const std::vector<core::Case> all = oracle.cases();
  const auto wanted = static_cast<std::size_t>(count);
  if (all.size() <= wanted) return all;
  std::vector<Cost> costs(all.size());
  parallel(all.size(), jobs, [&](std::size_t i) { costs[i] = cost_of(oracle, all[i], targets); });
  std::vector<core::Case> taken;
  std::set<std::string> compiled;
  for (std::size_t stretch = 0; stretch < wanted; ++stretch) {
    const std::size_t begin = stretch * all.size() / wanted, end = (stretch + 1) * all.size() / wanted;
    std::size_t best = begin;
    double least = -1;
    for (std::size_t i = begin; i < end; ++i) {
      const auto fresh = std::count_if(costs[i].programs.begin(), costs[i].programs.end(),
                                       [&](const std::string& program) { return !compiled.count(program); });
      const double price = costs[i].work + kProgram * static_cast<double>(fresh);
      if (least >= 0 && price >= least) continue;
      best = i;
      least = price;
    }
    compiled.insert(costs[best].programs.begin(), costs[best].programs.end());
    taken.push_back(all[best]);
  }
  return taken;
}

}  // namespace isomer::lab
