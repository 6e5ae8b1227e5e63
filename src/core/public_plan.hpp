#pragma once

#include <isomer/plan.hpp>

#include "core/contract.hpp"

namespace isomer::core {

/// How the library makes and runs the plans of its API.
struct PlanAccess {
  /// Validates and plans a call. Throws Error as the op does.
  static AnyPlan make(const Queue& queue, const Call& call);
  template <class Args>
  static isomer::Plan<Args> make_for(const Queue& queue, const Call& call) {
    return isomer::Plan<Args>(make(queue, call));
  }

  /// Runs it with an args struct of its op.
  static void run(const AnyPlan& plan, const void* args, void* workspace = nullptr, std::size_t bytes = 0) {
    plan.run(args, workspace, bytes);
  }
  static const Contract& contract(const AnyPlan& plan);
};

}  // namespace isomer::core
