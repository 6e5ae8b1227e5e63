// A layer of experts as the plans of three other ops, which run one behind the other. What one leaves to the
// next lies in the workspace, x | y | s | what the widest of the three works in, each part at a multiple of
// 256 bytes from its begin.
#include <isomer/fp8_gemm.hpp>
#include <isomer/silu_mul_quant.hpp>

#include "core/ceil_div.hpp"
#include "core/sentence.hpp"
#include "gpu/plan.hpp"
#include "ops/expert_layer/expert_layer.hpp"

#include <algorithm>
#include <array>

namespace isomer::ops::expert_layer {
namespace {

using core::say;

/// The three steps of a layer and who takes them.
struct Steps {
  const core::Contract *product_contract, *between_contract;
  const core::Implementation *product, *between;
};

constexpr std::size_t kPart = 256;
/// Where a plan takes the workspace to lie: at a multiple of 64 and of no more.
std::byte* const kPlaceholder = reinterpret_cast<std::byte*>(std::uintptr_t{64});

struct Layout {
  explicit Layout(const ExpertLayerArgs& args) {
    const std::int64_t rows = args.a.rank == 3 ? args.a.size(0) * args.a.size(1) : args.a.size(0);
    const std::int64_t inner = args.down.size(2);
    const auto part = [&](std::int64_t bytes) {
      const std::size_t at = total;
      total += core::align_up(static_cast<std::size_t>(bytes), kPart);
      return at;
    };
    x = part(rows * 2 * inner * size_of(DType::bf16));
    y = part(rows * inner);
    s = part(rows * (inner / kBlock) * size_of(DType::f32));
  }
  std::size_t total = 0, x, y, s;
};

/// The calls of the three steps, over a workspace.
struct Calls {
  GroupedFp8GemmArgs gate_up;
  SiluMulQuantArgs between;
  GroupedFp8GemmArgs down;
  GroupedFp8GemmOptions none = {};
  SiluMulQuantOptions options;
  std::array<core::Call, 3> of;

  Calls(const Steps& steps, const core::Call& call, std::byte* workspace)
      : options{.amax_floor = call.options<ExpertLayerOptions>().amax_floor,
                .scale_format = call.options<ExpertLayerOptions>().scale_format} {
    const auto& args = call.args<ExpertLayerArgs>();
    const Layout at(args);
    const std::int64_t inner = args.down.size(2);
    const auto between_products = [&](std::size_t offset, DType type, std::int64_t last) {
      return args.a.rank == 3
                 ? Tensor(workspace + offset, type, {args.a.size(0), args.a.size(1), last}, args.a.device)
                 : Tensor(workspace + offset, type, {args.a.size(0), last}, args.a.device);
    };
    gate_up = {.a = args.a,
               .a_s = args.a_s,
               .b = args.gate_up,
               .b_s = args.gate_up_s,
               .c = between_products(at.x, DType::bf16, 2 * inner),
               .expert_ids = args.expert_ids,
               .row_counts = args.row_counts};
    between = {.x = gate_up.c,
               .y = between_products(at.y, DType::e4m3fn, inner),
               .s = between_products(at.s, DType::f32, inner / kBlock),
               .row_counts = args.row_counts};
    down = {.a = between.y,
            .a_s = between.s,
            .b = args.down,
            .b_s = args.down_s,
            .c = args.out,
            .expert_ids = args.expert_ids,
            .row_counts = args.row_counts};
    of = {core::bind(*steps.product_contract, gate_up, none),
          core::bind(*steps.between_contract, between, options),
          core::bind(*steps.product_contract, down, none)};
  }
  Calls(const Calls&) = delete;
};

constexpr std::array<const char*, 3> kNames = {"gate_up", "between", "down"};

/// The plans of the three steps.
struct Planned {
  Steps steps;
  std::array<std::unique_ptr<core::Plan>, 3> plans;
  std::size_t intermediates = 0;  ///< bytes in front of what the plans work in

  /// `ask` gives the plan or the refusal of an implementation for a call.
  template <class Ask>
  static std::variant<Planned, core::Refusal> of(const Steps& steps, const core::Call& call, Ask ask) {
    const Calls calls(steps, call, kPlaceholder);
    Planned planned{steps, {}, Layout(call.args<ExpertLayerArgs>()).total};
    for (std::size_t i = 0; i < planned.plans.size(); ++i) {
      core::PlanOrRefusal answer = ask(i == 1 ? *steps.between : *steps.product, calls.of[i]);
      if (const auto* refusal = std::get_if<core::Refusal>(&answer))
        return core::Refusal{say(kNames[i], ": ", refusal->reason)};
      planned.plans[i] = std::move(std::get<0>(answer));
    }
    return planned;
  }

  std::size_t workspace_bytes() const {
    std::size_t most = 0;
    for (const auto& plan : plans) most = std::max(most, plan->workspace_bytes());
    return intermediates + most;
  }
  void describe(core::Description& out) const {
    for (std::size_t i = 0; i < plans.size(); ++i) {
      core::Description step;
      plans[i]->describe(step);
      const auto add = [&](core::Named& to, core::Named& from) {
        for (auto& [name, value] : from) to.emplace_back(say(kNames[i], "_", name), std::move(value));
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
    for (std::size_t i = 0; i < plans.size(); ++i) plans[i]->run(queue, calls.of[i], begin + intermediates);
  }
};

class HostPlan : public core::Plan {
 public:
  explicit HostPlan(Planned planned) : planned_(std::move(planned)) {}
  void describe(core::Description& out) const override { planned_.describe(out); }
  std::size_t workspace_bytes() const override { return planned_.workspace_bytes(); }
  void run(const Queue& queue, const core::Call& call, void* workspace) const override {
    planned_.run(queue, call, workspace);
  }

 private:
  Planned planned_;
};

/// Its own steps are for those who ask what there is to compile and what was loaded; the three plans launch.
class DevicePlan : public gpu::Plan {
 public:
  explicit DevicePlan(Planned planned) : Plan(steps_of(planned)), planned_(std::move(planned)) {}
  void describe(core::Description& out) const override { planned_.describe(out); }
  std::size_t workspace_bytes() const override { return planned_.workspace_bytes(); }
  void prepare(const Queue& queue) const override {
    for (const auto& plan : planned_.plans) plan->prepare(queue);
  }
  void run(const Queue& queue, const core::Call& call, void* workspace) const override {
    planned_.run(queue, call, workspace);
  }

 private:
  static std::vector<gpu::Step> steps_of(const Planned& planned) {
    std::vector<gpu::Step> all;
    for (const auto& plan : planned.plans) {
      const auto& steps = static_cast<const gpu::Plan&>(*plan).steps();
      all.insert(all.end(), steps.begin(), steps.end());
    }
    return all;
  }
  Planned planned_;
};

template <class PlanClass>
core::PlanOrRefusal made_of(std::variant<Planned, core::Refusal> planned) {
  if (auto* refusal = std::get_if<core::Refusal>(&planned)) return std::move(*refusal);
  return std::make_unique<PlanClass>(std::move(std::get<Planned>(planned)));
}

class OnHost : public core::Implementation {
 public:
  explicit OnHost(const Steps& steps) : steps_(steps) {}
  const std::string& name() const override { return steps_.product->name(); }
  DeviceType device() const override { return steps_.product->device(); }
  std::string unavailable() const override {
    std::string reason = steps_.product->unavailable();
    return reason.empty() ? steps_.between->unavailable() : reason;
  }
  core::PlanOrRefusal plan(const core::Call& call, const Queue& queue) const override {
    return made_of<HostPlan>(Planned::of(
        steps_, call,
        [&](const core::Implementation& of, const core::Call& step) { return of.plan(step, queue); }));
  }

 private:
  Steps steps_;
};

class OnDevice : public gpu::Implementation {
 public:
  OnDevice(const Steps& steps, std::string_view kind, const gpu::Capabilities& needs)
      : Implementation(steps.product->device(), kind, needs), steps_(steps) {}
  core::PlanOrRefusal plan(const core::Call& call, const gpu::Facts& facts) const override {
    if (std::string reason = lacking_on(facts); !reason.empty()) return core::Refusal{std::move(reason)};
    return made_of<DevicePlan>(
        Planned::of(steps_, call, [&](const core::Implementation& of, const core::Call& step) {
          return static_cast<const gpu::Implementation&>(of).plan(step, facts);
        }));
  }

 private:
  Steps steps_;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> implementations(const core::Registry& registry) {
  std::vector<std::unique_ptr<const core::Implementation>> list;
  const core::Registry::Op& product = *registry.find("grouped_fp8_gemm");
  const core::Registry::Op& between = *registry.find("silu_mul_quant");
  for (const auto& of : product.implementations) {
    const auto slash = of->name().find('/');
    const core::Implementation* same = between.find(of->name());
    // The one kernel that every GPU has.
    if (same == nullptr) same = between.find(of->name().substr(0, slash) + "/portable");
    if (same == nullptr) continue;
    const Steps steps{product.contract, between.contract, of.get(), same};
    if (const auto* on_gpu = dynamic_cast<const gpu::Implementation*>(of.get()))
      list.push_back(std::make_unique<OnDevice>(steps, of->name().substr(slash + 1), on_gpu->needs()));
    else
      list.push_back(std::make_unique<OnHost>(steps));
  }
  return list;
}

}  // namespace isomer::ops::expert_layer
