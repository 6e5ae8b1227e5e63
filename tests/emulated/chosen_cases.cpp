#include "chosen_cases.hpp"

#include "first_tier.hpp"
#include "lab/plan/parallel.hpp"

#include <algorithm>
#include <memory>
#include <variant>

namespace isomer {
namespace {

/// In units of work: what a kernel costs to compile, and a tile to run, however little of it is in use.
constexpr double kProgram = 3e9, kTile = 1e7;
/// Programs of an op that the first tier compiles, but for those that a kernel needs which has none: what
/// others alone show, two dtypes that meet or an option of few cases, is the second tier's.
constexpr std::size_t kPrograms = 8;

/// The plan, or null where it is refused.
std::unique_ptr<const gpu::Plan> plan_of(const oracle::Oracle& oracle, const oracle::Case& c,
                                         const gpu::Implementation& implementation, const gpu::Facts& facts) {
  oracle::Problem problem(c.seed() != 0 ? c : c.with_seed(1), oracle::Contents::none);
  oracle.make(problem.made_from(), problem);
  core::PlanOrRefusal answer = implementation.plan(problem.call(), facts);
  auto* plan = std::get_if<std::unique_ptr<core::Plan>>(&answer);
  return std::unique_ptr<const gpu::Plan>(plan == nullptr ? nullptr
                                                          : dynamic_cast<gpu::Plan*>(plan->release()));
}

/// Whether the device has memory for what the tensors span, pages that lie far apart included.
bool fits(const core::Call& call, const gpu::Facts& facts) {
  std::int64_t bytes = 0;
  for (int i = 0; i < call.count; ++i) {
    const Tensor& tensor = call.tensor(i);
    std::int64_t last = 0;
    for (int axis = 0; axis < tensor.rank; ++axis) last += (tensor.size(axis) - 1) * tensor.stride(axis);
    if (tensor.defined()) bytes += last * size_of(tensor.dtype);
  }
  return bytes < facts.memory_bytes;
}

Taken look_at(const oracle::Oracle& oracle, const oracle::Case& c, const gpu::Implementation& implementation,
              const gpu::Facts& facts, const std::set<std::string>& benched) {
  Taken taken;
  const std::unique_ptr<const gpu::Plan> plan = plan_of(oracle, c, implementation, facts);
  if (plan == nullptr) return taken;
  oracle::Problem problem(c.seed() != 0 ? c : c.with_seed(1));
  oracle.make(problem.made_from(), problem);
  if (!fits(problem.call(), facts)) return taken;
  taken.line = c.line();
  const core::Work work = oracle.contract->work(problem.call());
  core::Description description;
  plan->describe(description);
  taken.work = work.bytes + work.flops;
  for (const auto& [name, value] : description.constants)
    if (name == "tiles") taken.work += kTile * std::stod(value);
  for (const gpu::Step& step : plan->steps()) {
    const gpu::Program program = step.program();
    taken.programs.insert(program.text());
    // Each value asks for a program of its own, nearly: the second tier.
    for (const auto& [name, value] : tests::in_second_tier(program.variant))
      taken.shows.insert(program.kernel + " " + name + "=" + value);
    taken.shows.insert(benched.contains(program.text()) ? program.text() : program.kernel);
  }
  for (const oracle::Field& field : oracle.schema->fields) {
    if (field.kind == oracle::Field::Kind::dtype)
      taken.shows.insert(field.name + " " + std::string(name_of(c.dtype(field.name))));
    if (field.kind == oracle::Field::Kind::choice)
      taken.shows.insert(field.name + " " + c.choice(field.name));
  }
  if (oracle.features)
    for (const std::string& feature : oracle.features(c)) taken.shows.insert(feature);
  return taken;
}

}  // namespace

std::vector<Taken> taken_by(const oracle::Oracle& oracle, const gpu::Implementation& implementation,
                            const gpu::Facts& facts) {
  // Each of these has to be compiled: the second tier.
  std::set<std::string> benched;
  for (const char* line : tests::in_second_tier(oracle.device_bench_lines))
    if (const auto plan = plan_of(oracle, oracle::parse_case(line), implementation, facts))
      for (const gpu::Step& step : plan->steps()) benched.insert(step.program().text());
  // To plan all of attention's takes seconds, and what the half shows is the same.
  const std::vector<oracle::Case> all = tests::cases_of_tier(oracle, 2);
  std::vector<Taken> list(all.size());
  lab::parallel(all.size(), 0,
                [&](std::size_t i) { list[i] = look_at(oracle, all[i], implementation, facts, benched); });
  std::erase_if(list, [](const Taken& taken) { return taken.line.empty(); });
  return list;
}

std::vector<Taken> cheapest(const std::vector<Taken>& list, std::size_t count) {
  std::set<std::string> compiled, missing;
  for (const Taken& taken : list) missing.insert(taken.shows.begin(), taken.shows.end());
  std::vector<bool> in(list.size(), false);
  std::vector<Taken> chosen;
  const auto fresh_in = [&](const Taken& taken) {
    return std::count_if(taken.programs.begin(), taken.programs.end(),
                         [&](const std::string& program) { return !compiled.contains(program); });
  };
  const auto price = [&](const Taken& taken) {
    return taken.work + kProgram * static_cast<double>(fresh_in(taken));
  };
  while (chosen.size() < std::min(count, list.size()) || !missing.empty()) {
    std::size_t best = list.size();
    double least = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (in[i]) continue;
      const auto news = std::count_if(list[i].shows.begin(), list[i].shows.end(),
                                      [&](const std::string& item) { return missing.contains(item); });
      if (news == 0 && !missing.empty()) continue;
      const bool new_kernel = std::any_of(list[i].shows.begin(), list[i].shows.end(), [&](const auto& item) {
        return item.starts_with("isomer_") && missing.contains(item);
      });
      if (compiled.size() >= kPrograms && !tests::has_every_case() && !new_kernel && fresh_in(list[i]) > 0)
        continue;
      const double cost = price(list[i]) / static_cast<double>(std::max<std::ptrdiff_t>(news, 1));
      if (best != list.size() && cost >= least) continue;
      best = i;
      least = cost;
    }
    if (best == list.size()) break;
    in[best] = true;
    compiled.insert(list[best].programs.begin(), list[best].programs.end());
    for (const std::string& item : list[best].shows) missing.erase(item);
    chosen.push_back(list[best]);
  }
  return chosen;
}

}  // namespace isomer
