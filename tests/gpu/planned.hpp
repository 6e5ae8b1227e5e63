#pragma once

#include "core/registry.hpp"
#include "gpu/plan.hpp"

#include <memory>
#include <string>

namespace isomer::gpu {

/// What the op's portable GPU implementation plans for a call on that architecture; no device is needed.
class Planned {
 public:
  explicit Planned(const core::Call& call, std::string_view architecture = "sm_90a") {
    for (const auto& candidate : core::Registry::builtin().find(call.contract->op)->implementations) {
      const auto* implementation = dynamic_cast<const Implementation*>(candidate.get());
      if (implementation == nullptr) continue;
      if (!implementation->name().ends_with("/portable")) continue;
      auto answer = implementation->plan(call, *known_architecture(architecture));
      plan_ = std::move(std::get<std::unique_ptr<core::Plan>>(answer));
      return;
    }
  }

  const std::vector<Step>& steps() const { return dynamic_cast<const Plan&>(*plan_).steps(); }
  std::int64_t blocks() const { return steps().at(0).grid[0] * std::int64_t{steps().at(0).grid[1]}; }
  std::string variant(std::string_view name) const { return find(named(steps().at(0).variant), name); }
  /// As the plan's description has it.
  std::string parameter(std::string_view name) const {
    core::Description description;
    plan_->describe(description);
    return find(description.parameters, name);
  }
  std::size_t workspace_bytes() const { return plan_->workspace_bytes(); }

 private:
  static std::string find(const Named& list, std::string_view name) {
    for (const auto& [key, value] : list)
      if (key == name) return value;
    return "none";
  }

  std::unique_ptr<core::Plan> plan_;
};

}  // namespace isomer::gpu
