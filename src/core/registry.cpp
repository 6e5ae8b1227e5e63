#include "core/registry.hpp"

#include "core/host_copy.hpp"
#include "core/kept_plan.hpp"
#include "core/plan_cache.hpp"
#include "core/queue_state.hpp"
#include "core/record.hpp"
#include "core/sentence.hpp"

#include <chrono>

namespace isomer::core {

const Implementation* Registry::Op::find(std::string_view name) const {
  for (const auto& implementation : implementations)
    if (implementation->name() == name) return implementation.get();
  return nullptr;
}

void Registry::add(const Contract& contract,
                   std::vector<std::unique_ptr<const Implementation>> implementations) {
  ops_.push_back({&contract, std::move(implementations)});
}

const Registry::Op* Registry::find(std::string_view op) const {
  for (const Op& entry : ops_)
    if (entry.contract->op == op) return &entry;
  return nullptr;
}

namespace {

/// The plan, or why there is none: wrong device, not available here, or the implementation's own refusal.
PlanOrRefusal ask(const Implementation& implementation, const Call& call, const Queue& queue) {
  if (implementation.device() != queue.device().type)
    return Refusal{say("runs on ", to_string(Device{implementation.device(), 0}), " and the queue is on ",
                       to_string(queue.device()))};
  if (std::string reason = implementation.unavailable(); !reason.empty()) return Refusal{std::move(reason)};
  return implementation.plan(call, queue);
}

void run(const Queue& queue, const Call& call, const Implementation& implementation, const Plan& plan,
         void* given = nullptr) {
  if (QueueAccess::preparing(queue)) plan.prepare(queue);
  const Queue::Lease leased = queue.lease(given == nullptr ? plan.workspace_bytes() : 0);
  if (QueueAccess::preparing(queue)) return;
  void* const workspace = given == nullptr ? leased.data() : given;
  if (!somebody_listens()) return plan.run(queue, call, workspace);
  const auto begin = std::chrono::steady_clock::now();
  plan.run(queue, call, workspace);
  LaunchRecord record;
  if (somebody_times()) {
    queue.synchronize();
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  record.op = call.contract->op;
  record.implementation = implementation.name();
  plan.describe(record.description);
  plan.describe_loaded(queue, record.description);
  publish(record);
}

/// Clauses that read tensor contents run on the CPU always, elsewhere in checked mode and on copies.
void check_data_on(const Queue& queue, const Call& call) {
  if (queue.device().type == DeviceType::cpu)
    check_data(call);
  else if (queue.options().checked)
    check_data(HostCopy(queue, call).call());
}

void validate_on(const Queue& queue, const Call& call) {
  validate(call, queue.device(), false);
  check_data_on(queue, call);
}

}  // namespace

Choice choose(const Registry::Op& op, const Call& call, const Queue& queue) {
  Choice choice;
  const std::string& forced = queue.options().implementation;
  for (const auto& implementation : op.implementations) {
    if (!forced.empty() ? implementation->name() != forced : implementation->device() != queue.device().type)
      continue;
    PlanOrRefusal answer = ask(*implementation, call, queue);
    if (auto* plan = std::get_if<std::unique_ptr<Plan>>(&answer)) {
      choice.implementation = implementation.get();
      choice.plan = std::move(*plan);
      break;
    }
    choice.refusals.push_back({implementation->name(), std::get<Refusal>(answer).reason});
  }
  return choice;
}

namespace {

Choice validate_and_choose(const Queue& queue, const Call& call) {
  validate_on(queue, call);
  const Registry::Op* op = Registry::builtin().find(call.contract->op);
  if (op == nullptr) fail(ErrorCode::internal, call.contract->op, ": not in the registry");
  return choose(*op, call, queue);
}

}  // namespace

Explanation explain(const Queue& queue, const Call& call) {
  Choice choice = validate_and_choose(queue, call);
  Explanation explanation;
  explanation.op = call.contract->op;
  explanation.refusals = std::move(choice.refusals);
  if (choice.implementation == nullptr) return explanation;
  explanation.implementation = choice.implementation->name();
  explanation.workspace_bytes = choice.plan->workspace_bytes();
  choice.plan->describe(explanation.description);
  choice.plan->describe_loaded(queue, explanation.description);
  return explanation;
}

namespace {

/// "cpu/a and cpu/b: too old; cpu/c: too new": a reason that several share stands once.
std::string reasons_of(const std::vector<Explanation::Refusal>& refusals) {
  std::string text;
  for (std::size_t i = 0; i < refusals.size();) {
    std::size_t end = i;
    while (end < refusals.size() && refusals[end].reason == refusals[i].reason) ++end;
    text += text.empty() ? "" : "; ";
    for (std::size_t j = i; j < end; ++j)
      text += (j == i ? "" : j + 1 == end ? " and " : ", ") + refusals[j].implementation;
    text += ": " + refusals[i].reason;
    i = end;
  }
  return text;
}

Choice must_choose(const Queue& queue, const Call& call) {
  const std::string& name = call.contract->op;
  Choice choice = validate_and_choose(queue, call);
  if (choice.implementation != nullptr) return choice;
  const std::string& forced = queue.options().implementation;
  if (choice.refusals.empty() && !forced.empty())
    fail(ErrorCode::unsupported, name, ": there is no implementation '", forced, "'");
  const std::string reasons = reasons_of(choice.refusals);
  fail(ErrorCode::unsupported, name, ": no implementation takes this call on ", to_string(queue.device()),
       reasons.empty() ? "" : ": ", reasons);
}

}  // namespace

std::shared_ptr<const KeptPlan> keep_plan(const Queue& queue, const Call& call,
                                          std::vector<Explanation::Refusal>* refusals) {
  Choice choice = must_choose(queue, call);
  if (refusals != nullptr) *refusals = std::move(choice.refusals);
  return std::make_shared<const KeptPlan>(*choice.implementation, std::move(choice.plan), call);
}

void run_again(const Queue& queue, const Call& call, const KeptPlan& kept, void* workspace) {
  kept.addresses.check(call, queue.device());
  if (kept.has_indices) check_data_on(queue, call);
  run(queue, call, *kept.implementation, *kept.plan, workspace);
}

void dispatch(const Queue& queue, const Call& call) {
  PlanCache& cache = PlanCache::of_this_thread();
  if (const std::shared_ptr<const KeptPlan> kept = cache.find(queue, call))
    return run_again(queue, call, *kept, nullptr);
  const std::shared_ptr<const KeptPlan> kept = keep_plan(queue, call, nullptr);
  cache.keep(kept);
  run(queue, call, *kept->implementation, *kept->plan);
}

void dispatch(const Queue& queue, const Call& call, const Implementation& implementation) {
  validate_on(queue, call);
  PlanOrRefusal answer = ask(implementation, call, queue);
  if (const auto* refusal = std::get_if<Refusal>(&answer))
    fail(ErrorCode::unsupported, call.contract->op, ": ", implementation.name(), ": ", refusal->reason);
  run(queue, call, implementation, *std::get<std::unique_ptr<Plan>>(answer));
}

}  // namespace isomer::core
