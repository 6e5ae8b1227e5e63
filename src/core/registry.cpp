#include "core/registry.hpp"

#include "core/host_copy.hpp"
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

void run(const Queue& queue, const Call& call, const Implementation& implementation, const Plan& plan) {
  if (QueueAccess::preparing(queue)) plan.prepare(queue);
  const Queue::Lease workspace = queue.lease(plan.workspace_bytes());
  if (QueueAccess::preparing(queue)) return;
  if (!somebody_listens()) return plan.run(queue, call, workspace.data());
  const auto begin = std::chrono::steady_clock::now();
  plan.run(queue, call, workspace.data());
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

void check_data_on(const Queue& queue, const Call& call) {
  if (queue.device().type != DeviceType::cpu && queue.options().checked)
    check_data(HostCopy(queue, call).call());
}

/// Clauses that read tensor contents run on the CPU always, elsewhere in checked mode and on copies.
void validate_on(const Queue& queue, const Call& call) {
  const bool on_host = queue.device().type == DeviceType::cpu;
  validate(call, queue.device(), on_host);
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

Choice must_choose(const Queue& queue, const Call& call) {
  const std::string& name = call.contract->op;
  Choice choice = validate_and_choose(queue, call);
  if (choice.implementation != nullptr) return choice;
  const std::string& forced = queue.options().implementation;
  if (choice.refusals.empty() && !forced.empty())
    fail(ErrorCode::unsupported, name, ": there is no implementation '", forced, "'");
  std::string reasons;
  for (const Explanation::Refusal& refusal : choice.refusals)
    reasons += (reasons.empty() ? "" : "; ") + refusal.implementation + ": " + refusal.reason;
  fail(ErrorCode::unsupported, name, ": no implementation takes this call on ", to_string(queue.device()),
       reasons.empty() ? "" : ": ", reasons);
}

}  // namespace

void dispatch(const Queue& queue, const Call& call) {
  PlanCache& cache = PlanCache::of_this_thread();
  if (const PlanCache::Entry* entry = cache.find(queue, call)) {
    check_addresses(call, queue.device());
    check_data_on(queue, call);
    // The entry may be replaced by a call that the executor makes meanwhile.
    const std::shared_ptr<const Plan> plan = entry->plan;
    return run(queue, call, *entry->implementation, *plan);
  }
  Choice choice = must_choose(queue, call);
  const std::shared_ptr<const Plan> plan = std::move(choice.plan);
  cache.keep(*choice.implementation, plan);
  run(queue, call, *choice.implementation, *plan);
}

void dispatch(const Queue& queue, const Call& call, const Implementation& implementation) {
  validate_on(queue, call);
  PlanOrRefusal answer = ask(implementation, call, queue);
  if (const auto* refusal = std::get_if<Refusal>(&answer))
    fail(ErrorCode::unsupported, call.contract->op, ": ", implementation.name(), ": ", refusal->reason);
  run(queue, call, implementation, *std::get<std::unique_ptr<Plan>>(answer));
}

}  // namespace isomer::core
