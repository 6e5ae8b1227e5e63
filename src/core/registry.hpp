#pragma once

#include "core/plan.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::core {

/// The ops of the library, each with its implementations in the order in which they are asked.
class Registry {
 public:
  struct Op {
    const Contract* contract = nullptr;
    std::vector<std::unique_ptr<const Implementation>> implementations;
    const Implementation* find(std::string_view name) const;
  };

  void add(const Contract& contract, std::vector<std::unique_ptr<const Implementation>> implementations);
  const std::vector<Op>& ops() const { return ops_; }
  const Op* find(std::string_view op) const;

  /// What the library ships (src/ops/ops.cpp).
  static const Registry& builtin();

 private:
  std::vector<Op> ops_;
};

/// The first implementation that accepts, its plan, and every refusal on the way.
struct Choice {
  const Implementation* implementation = nullptr;
  std::unique_ptr<Plan> plan;
  std::vector<Explanation::Refusal> refusals;
};

/// Asks the op's implementations for the queue's device in order; a queue that names one asks only that one.
/// implementation is null where none accepts. The call must be valid.
Choice choose(const Registry::Op& op, const Call& call, const Queue& queue);

/// The road of a call up to where it would run, in words. Throws Error for a call that is not valid.
Explanation explain(const Queue& queue, const Call& call);

struct KeptPlan;

/// The first half of the road, made once: validates, chooses, and keeps the plan for calls that differ in
/// addresses alone; `refusals`, where it is given, gets those of who was asked before. Throws Error.
std::shared_ptr<const KeptPlan> keep_plan(const Queue& queue, const Call& call,
                                          std::vector<Explanation::Refusal>* refusals);
/// The second half: checks the addresses and the contents, leases the workspace where none is given, runs,
/// records. Throws Error.
void run_again(const Queue& queue, const Call& call, const KeptPlan& kept, void* workspace);

/// The one road of a call: validate, choose, lease workspace, run, record. On a queue that is preparing it
/// ends where running would begin, with everything compiled, loaded and allocated. Throws Error.
void dispatch(const Queue& queue, const Call& call);
/// The same road with the implementation given: what the lab takes to run one implementation, ours or a
/// planted one.
void dispatch(const Queue& queue, const Call& call, const Implementation& implementation);

}  // namespace isomer::core
