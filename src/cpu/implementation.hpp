#pragma once

#include "core/plan.hpp"
#include "cpu/target.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace isomer::cpu {

/// The CPU implementation of an op for one target: name "cpu/<target>", available where the target is.
class Implementation : public core::Implementation {
 public:
  /// `targets` has bit t set where the op has code for target t.
  Implementation(Target target, unsigned targets);
  const std::string& name() const override { return name_; }
  DeviceType device() const override { return DeviceType::cpu; }
  std::string unavailable() const override;
  Target target() const { return target_; }

 private:
  Target target_;
  unsigned targets_;
  std::string name_;
};

/// An implementation that is one plan class. It has a constructor (const core::Call&, const Queue&, Target)
/// and may have `static std::string refuse(const core::Call&, const Queue&)`, empty where it takes the call.
template <class PlanClass>
class ImplementationOf : public Implementation {
 public:
  using Implementation::Implementation;
  core::PlanOrRefusal plan(const core::Call& call, const Queue& queue) const override {
    if constexpr (requires { PlanClass::refuse(call, queue); })
      if (std::string reason = PlanClass::refuse(call, queue); !reason.empty())
        return core::Refusal{std::move(reason)};
    return std::make_unique<PlanClass>(call, queue, target());
  }
};

/// One for every target for which the table has a function, best first.
template <class PlanClass, class Function>
std::vector<std::unique_ptr<const core::Implementation>> implementations(const PerTarget<Function>& table) {
  unsigned targets = 0;
  for (int i = 0; i < kTargets; ++i)
    if (table.of[static_cast<std::size_t>(i)] != nullptr) targets |= 1u << i;
  std::vector<std::unique_ptr<const core::Implementation>> list;
  for (int i = kTargets - 1; i >= 0; --i)
    if ((targets >> i & 1) != 0)
      list.push_back(std::make_unique<ImplementationOf<PlanClass>>(static_cast<Target>(i), targets));
  return list;
}

}  // namespace isomer::cpu
