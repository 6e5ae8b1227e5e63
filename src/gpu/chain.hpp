// An op as the plans of other ops, which run one behind the other: fp8_linear, expert_layer. What one leaves
// to the next lies at the begin of the workspace, and behind it what the widest of them works in.
#pragma once

#include "core/ceil_div.hpp"
#include "core/registry.hpp"
#include "core/sentence.hpp"
#include "gpu/plan.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace isomer::gpu {

struct ChainStep {
  const core::Contract* contract;
  const core::Implementation* taken_by;
};

/// A part of the workspace begins at a multiple of so many bytes from its begin.
inline constexpr std::size_t kChainPart = 256;

/// The plans of all steps. `Calls` are the calls of the steps over a workspace:
///   static constexpr std::array<const char*, N> kNames;   // of the steps, for what is said of them
///   static constexpr std::size_t kLead;                   // the step whose implementation names the whole
///   std::array<core::Call, N> of;
///   std::size_t intermediates;                            // bytes in front of what the plans work in
///   Calls(const std::array<ChainStep, N>&, const core::Call&, std::byte* workspace);
template <class Calls>
struct Chained {
  static constexpr std::size_t kSteps = Calls::kNames.size();
  using Steps = std::array<ChainStep, kSteps>;

  Steps steps;
  std::array<std::unique_ptr<core::Plan>, kSteps> plans;
  std::size_t intermediates = 0;

  /// `ask` gives the plan or the refusal of an implementation for a call.
  template <class Ask>
  static std::variant<Chained, core::Refusal> of(const Steps& steps, const core::Call& call, Ask ask) {
    // Where a plan takes the workspace to lie: at a multiple of 64 and of no more.
    const Calls calls(steps, call, reinterpret_cast<std::byte*>(std::uintptr_t{64}));
    Chained chained{steps, {}, calls.intermediates};
    for (std::size_t i = 0; i < kSteps; ++i) {
      core::PlanOrRefusal answer = ask(*steps[i].taken_by, calls.of[i]);
      if (const auto* refusal = std::get_if<core::Refusal>(&answer))
        return core::Refusal{core::say(Calls::kNames[i], ": ", refusal->reason)};
      chained.plans[i] = std::move(std::get<0>(answer));
    }
    return chained;
  }

  std::size_t workspace_bytes() const {
    std::size_t most = 0;
    for (const auto& plan : plans) most = std::max(most, plan->workspace_bytes());
    return intermediates + most;
  }
  void describe(core::Description& out) const {
    for (std::size_t i = 0; i < kSteps; ++i) {
      core::Description step;
      plans[i]->describe(step);
      const auto add = [&](core::Named& to, core::Named& from) {
        for (auto& [name, value] : from)
          to.emplace_back(core::say(Calls::kNames[i], "_", name), std::move(value));
      };
      add(out.variant, step.variant);
      add(out.parameters, step.parameters);
      add(out.constants, step.constants);
      std::move(step.launches.begin(), step.launches.end(), std::back_inserter(out.launches));
    }
  }
  void run(const Queue& queue, const core::Call& call, void* workspace) const {
    auto* const begin = static_cast<std::byte*>(workspace);
    const Calls calls(steps, call, begin);
    for (std::size_t i = 0; i < kSteps; ++i) plans[i]->run(queue, calls.of[i], begin + intermediates);
  }
};

template <class Calls>
class ChainOnHost : public core::Implementation {
 public:
  explicit ChainOnHost(const typename Chained<Calls>::Steps& steps) : steps_(steps) {}
  const std::string& name() const override { return lead().name(); }
  DeviceType device() const override { return lead().device(); }
  std::string unavailable() const override {
    std::string reason = lead().unavailable();
    for (const ChainStep& step : steps_)
      if (reason.empty()) reason = step.taken_by->unavailable();
    return reason;
  }
  core::PlanOrRefusal plan(const core::Call& call, const Queue& queue) const override {
    auto made = Chained<Calls>::of(steps_, call, [&](const core::Implementation& of, const core::Call& step) {
      return of.plan(step, queue);
    });
    if (auto* refusal = std::get_if<core::Refusal>(&made)) return std::move(*refusal);
    return std::make_unique<Plan>(std::move(std::get<0>(made)));
  }

 private:
  class Plan : public core::Plan {
   public:
    explicit Plan(Chained<Calls> chained) : chained_(std::move(chained)) {}
    void describe(core::Description& out) const override { chained_.describe(out); }
    std::size_t workspace_bytes() const override { return chained_.workspace_bytes(); }
    void run(const Queue& queue, const core::Call& call, void* workspace) const override {
      chained_.run(queue, call, workspace);
    }

   private:
    Chained<Calls> chained_;
  };
  const core::Implementation& lead() const { return *steps_[Calls::kLead].taken_by; }

  typename Chained<Calls>::Steps steps_;
};

template <class Calls>
class ChainOnDevice : public Implementation {
 public:
  ChainOnDevice(const typename Chained<Calls>::Steps& steps, DeviceType device, std::string_view kind,
                const Capabilities& needs)
      : Implementation(device, kind, needs), steps_(steps) {}
  core::PlanOrRefusal plan(const core::Call& call, const Facts& facts) const override {
    if (std::string reason = lacking_on(facts); !reason.empty()) return core::Refusal{std::move(reason)};
    auto made = Chained<Calls>::of(steps_, call, [&](const core::Implementation& of, const core::Call& step) {
      return static_cast<const Implementation&>(of).plan(step, facts);
    });
    if (auto* refusal = std::get_if<core::Refusal>(&made)) return std::move(*refusal);
    return std::make_unique<Plan>(std::move(std::get<0>(made)));
  }

 private:
  /// Its own steps are for those who ask what there is to compile and what was loaded; the chained plans
  /// launch.
  class Plan : public gpu::Plan {
   public:
    explicit Plan(Chained<Calls> chained) : gpu::Plan(steps_of(chained)), chained_(std::move(chained)) {}
    void describe(core::Description& out) const override { chained_.describe(out); }
    std::size_t workspace_bytes() const override { return chained_.workspace_bytes(); }
    void prepare(const Queue& queue) const override {
      for (const auto& plan : chained_.plans) plan->prepare(queue);
    }
    void run(const Queue& queue, const core::Call& call, void* workspace) const override {
      chained_.run(queue, call, workspace);
    }

   private:
    static std::vector<Step> steps_of(const Chained<Calls>& chained) {
      std::vector<Step> all;
      for (const auto& plan : chained.plans) {
        const auto& steps = static_cast<const gpu::Plan&>(*plan).steps();
        all.insert(all.end(), steps.begin(), steps.end());
      }
      return all;
    }
    Chained<Calls> chained_;
  };

  typename Chained<Calls>::Steps steps_;
};

/// One for each implementation of `lead`, with its name, whose other steps are taken by the implementation of
/// `other` that has this name, or is the one kernel that every GPU has. `steps_of` makes the steps of the
/// two.
template <class Calls, class StepsOf>
std::vector<std::unique_ptr<const core::Implementation>> chains(const core::Registry::Op& lead,
                                                                const core::Registry::Op& other,
                                                                StepsOf steps_of) {
  std::vector<std::unique_ptr<const core::Implementation>> list;
  for (const auto& of : lead.implementations) {
    const auto slash = of->name().find('/');
    const core::Implementation* same = other.find(of->name());
    if (same == nullptr) same = other.find(of->name().substr(0, slash) + "/portable");
    if (same == nullptr) continue;
    const typename Chained<Calls>::Steps steps = steps_of(*of, *same);
    if (const auto* on_gpu = dynamic_cast<const Implementation*>(of.get()))
      list.push_back(std::make_unique<ChainOnDevice<Calls>>(steps, of->device(), of->name().substr(slash + 1),
                                                            on_gpu->needs()));
    else
      list.push_back(std::make_unique<ChainOnHost<Calls>>(steps));
  }
  return list;
}

}  // namespace isomer::gpu
