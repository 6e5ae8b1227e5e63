#include "c_api/plan.hpp"

#include "core/public_plan.hpp"
#include "core/sentence.hpp"

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

isomer_status isomer_plan_explain(const isomer_plan* plan, char* text, isomer_uint64 capacity,
                                  isomer_uint64* bytes) {
  return guarded([&] {
    check_given("plan_explain", "bytes", bytes);
    check_given("plan_explain", "plan", plan);
    const std::string json = to_json(plan->plan.explain());
    *bytes = json.size() + 1;
    if (text == nullptr && capacity == 0) return;
    check_given("plan_explain", "text", text);
    if (capacity < *bytes)
      isomer::core::fail(isomer::ErrorCode::bad_argument, "plan_explain: capacity is ", capacity,
                         " bytes, expected ", *bytes);
    std::memcpy(text, json.c_str(), json.size() + 1);
  });
}

void isomer_plan_free(isomer_plan* plan) { delete plan; }
