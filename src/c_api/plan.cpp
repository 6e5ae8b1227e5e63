#include "c_api/plan.hpp"

#include "core/public_plan.hpp"

#include <cstring>
#include <vector>

using isomer::c::check_given;
using isomer::c::guarded;

isomer_status isomer_plan_run(const isomer_plan* plan, const void* args,
                              const isomer_plan_run_options* options) {
  return guarded([&] {
    check_given("plan_run", "plan", plan);
    const isomer::core::Contract& contract = isomer::core::PlanAccess::contract(plan->plan);
    check_given(contract.op, "args", args);
    // Every args struct is its size and then a pointer for each argument of the contract, in its order.
    const std::size_t count = contract.args.size();
    isomer_uint64 size = 0;
    std::memcpy(&size, args, sizeof size);
    isomer::c::check_size(contract.op, "args", size, sizeof size + count * sizeof(void*),
                          sizeof size + count * sizeof(void*));
    const isomer_plan_run_options defaults = ISOMER_PLAN_RUN_OPTIONS_INIT;
    const isomer_plan_run_options with =
        options == nullptr ? defaults : isomer::c::read(contract.op, "options", options, defaults);
    // An args struct in C++ is its tensors and nothing else, and each is filled in.
    std::vector<isomer::Tensor> tensors(count);
    isomer::c::fill_args(contract, args, tensors.data());
    isomer::core::PlanAccess::run(plan->plan, tensors.data(), with.workspace,
                                  static_cast<std::size_t>(with.workspace_bytes));
  });
}

isomer_status isomer_plan_prepare(const isomer_plan* plan) {
  return guarded([&] {
    check_given("plan_prepare", "plan", plan);
    plan->plan.prepare();
  });
}

isomer_status isomer_plan_workspace_bytes(const isomer_plan* plan, isomer_uint64* bytes) {
  return guarded([&] {
    check_given("plan_workspace_bytes", "bytes", bytes);
    check_given("plan_workspace_bytes", "plan", plan);
    *bytes = plan->plan.workspace_bytes();
  });
}

isomer_status isomer_plan_implementation(const isomer_plan* plan, const char** name) {
  return guarded([&] {
    check_given("plan_implementation", "name", name);
    check_given("plan_implementation", "plan", plan);
    *name = plan->plan.implementation().c_str();
  });
}

void isomer_plan_free(isomer_plan* plan) { delete plan; }
