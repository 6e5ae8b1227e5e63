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
  std::set<std::string> programs, kernels;  ///< each with its architecture; of a kernel there are variants
};

Cost cost_of(const oracle::Oracle& oracle, const oracle::Case& c, const std::vector<Target>& targets) {
  Cost cost;
  oracle::Problem problem(c.seed() != 0 ? c : c.with_seed(1));
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
    for (const gpu::Step& step : steps->steps()) {
      cost.programs.insert(facts.architecture + " " + step.program().text());
      cost.kernels.insert(facts.architecture + " " + std::string(step.kernel));
    }
  }
  return cost;
}

}  // namespace

std::vector<oracle::Case> sample(const oracle::Oracle& oracle, const std::vector<Target>& targets, int count,
                                 int jobs) {
  std::vector<oracle::Case> all = oracle.cases();
  const auto wanted = static_cast<std::size_t>(count);
  if (all.size() <= wanted) return all;
  std::vector<Cost> costs(all.size());
  parallel(all.size(), jobs, [&](std::size_t i) { costs[i] = cost_of(oracle, all[i], targets); });
  std::vector<std::size_t> taken;
  std::set<std::string> compiled, run;
  const auto price_of = [&](std::size_t i) {
    const auto fresh = std::count_if(costs[i].programs.begin(), costs[i].programs.end(),
                                     [&](const std::string& program) { return !compiled.count(program); });
    return costs[i].work + kProgram * static_cast<double>(fresh);
  };
  // The cheapest from `begin` on and before `end` that has the kernel, or of all where none is named.
  const auto take = [&](std::size_t begin, std::size_t end, const std::string* kernel) {
    std::size_t best = end;
    double least = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (kernel != nullptr && !costs[i].kernels.count(*kernel)) continue;
      const double price = price_of(i);
      if (best != end && price >= least) continue;
      best = i;
      least = price;
    }
    compiled.insert(costs[best].programs.begin(), costs[best].programs.end());
    run.insert(costs[best].kernels.begin(), costs[best].kernels.end());
    taken.push_back(best);
  };
  for (std::size_t stretch = 0; stretch < wanted; ++stretch)
    take(stretch * all.size() / wanted, (stretch + 1) * all.size() / wanted, nullptr);
  std::set<std::string> kernels;
  for (const Cost& cost : costs) kernels.insert(cost.kernels.begin(), cost.kernels.end());
  for (const std::string& kernel : kernels)
    if (!run.count(kernel)) take(0, all.size(), &kernel);
  std::sort(taken.begin(), taken.end());
  std::vector<oracle::Case> cases;
  for (const std::size_t i : taken) cases.push_back(all[i]);
  return cases;
}

}  // namespace isomer::lab
