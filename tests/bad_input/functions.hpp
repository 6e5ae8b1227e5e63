#pragma once

#include <isomer/isomer.hpp>

#include "core/contract.hpp"

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace isomer::bad_input {

/// The tensors of a call as C passes them, in the order of the contract's arguments.
class CTensors {
 public:
  explicit CTensors(const core::Call& call) : call_(call) {
    for (int i = 0; i < call.count; ++i) slots[static_cast<std::size_t>(i)] = call.tensor(i).dlpack();
  }
  /// Null for an absent argument.
  const isomer_tensor* operator()(const Tensor& tensor) const {
    for (std::size_t i = 0; i < static_cast<std::size_t>(call_.count); ++i)
      if (call_.tensors[i] == &tensor) return tensor.defined() ? &slots[i] : nullptr;
    return nullptr;
  }
  /// The op, or where they are set a plan of it, or a run of a plan.
  template <class Args, class Options>
  isomer_status call(isomer_status (*function)(isomer_queue*, const Args*, const Options*),
                     isomer_status (*plan)(isomer_queue*, const Args*, const Options*, isomer_plan**),
                     isomer_queue* queue, Args args, Options options) const {
    args.size += args_growth;
    options.size += options_growth;
    const Args* given = without_args ? nullptr : &args;
    if (run != nullptr) return isomer_plan_run(run, given, nullptr);
    return planned != nullptr ? plan(queue, given, &options, planned) : function(queue, given, &options);
  }

  std::array<isomer_tensor, core::Call::kMaxArgs> slots{};
  isomer_uint64 args_growth = 0, options_growth = 0;  ///< what the structs' sizes are off by
  bool without_args = false;
  isomer_plan** planned = nullptr;
  const isomer_plan* run = nullptr;

 private:
  const core::Call& call_;
};

/// A plan of whatever op.
struct Planned {
  AnyPlan plan;
  std::function<void(const core::Call& call, void* workspace, std::size_t bytes)> run;
};

/// A function of the public API in C++, in C and explained, called with the tensors and options of one
/// core::Call.
struct Function {
  std::string op;
  /// Cases whose call is right; together they give every argument.
  std::vector<std::string> good;
  void (*cxx)(const Queue& queue, const core::Call& call);
  Explanation (*explain)(const Queue& queue, const core::Call& call);
  /// A plan of the call: what runs it with the tensors of another, in memory of the caller's where some is
  /// given.
  Planned (*plan)(const Queue& queue, const core::Call& call);
  isomer_status (*c)(isomer_queue* queue, const core::Call& call, const CTensors& tensors);
};

/// Every op of the public API.
const std::vector<Function>& functions();
const Function& function_of(std::string_view op);

}  // namespace isomer::bad_input
