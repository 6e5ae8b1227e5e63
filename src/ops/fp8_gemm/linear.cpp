// fp8_linear as the plans of act_quant and fp8_gemm, which run one behind the other. Codes and scales lie in
// the workspace, y | s | what the wider of the two works in, each part at a multiple of 256 bytes from its
// begin. act_quant waits for what is ahead of it before it lets the product begin, so that nothing which may
// write b still runs then: the product has its promise.
#include <isomer/act_quant.hpp>

#include "core/ceil_div.hpp"
#include "core/sentence.hpp"
#include "gpu/plan.hpp"
#include "ops/fp8_gemm/fp8_gemm.hpp"

#include <algorithm>
#include <array>

namespace isomer::ops::fp8_gemm {
namespace {

using core::say;

/// The two steps and who takes them.
struct Steps {
  const core::Contract *quantise_contract, *product_contract;
  const core::Implementation *quantise, *product;
};

constexpr std::size_t kPart = 256;
/// Where a plan takes the workspace to lie: at a multiple of 64 and of no more.
std::byte* const kPlaceholder = reinterpret_cast<std::byte*>(std::uintptr_t{64});

/// The calls of the two steps, over a workspace.
struct Calls {
  ActQuantArgs quantise;
  Fp8GemmArgs product;
  ActQuantOptions quantise_options;
  Fp8GemmOptions product_options{.b_ready = 1};
  std::array<core::Call, 2> of;
  std::size_t intermediates = 0;  ///< bytes of y and s

  Calls(const Steps& steps, const core::Call& call, std::byte* workspace) {
    const auto& args = call.args<Fp8LinearArgs>();
    const auto& options = call.options<Fp8LinearOptions>();
    const auto part = [&](DType type, std::int64_t last) {
      std::vector<std::int64_t> shape(args.x.shape.begin(), args.x.shape.begin() + args.x.rank);
      shape.back() = last;
      const Tensor made(workspace + intermediates, type, shape, args.x.device);
      intermediates += core::align_up(static_cast<std::size_t>(made.numel() * size_of(type)), kPart);
      return made;
    };
    const std::int64_t depth = args.x.size(-1);
    quantise.x = args.x;
    quantise.y = part(DType::e4m3fn, depth);
    quantise.s = part(DType::f32, depth / kScaleBlock);
    quantise_options.amax_floor = options.amax_floor;
    quantise_options.scale_format = options.scale_format;
    product = {.a = quantise.y,
               .a_s = quantise.s,
               .b = args.b,
               .b_s = args.b_s,
               .c = args.c,
               .bias = args.bias,
               .addend = args.addend};
    of = {core::bind(*steps.quantise_contract, quantise, quantise_options),
          core::bind(*steps.product_contract, product, product_options)};
  }
  Calls(const Calls&) = delete;
};

constexpr std::array<const char*, 2> kNames = {"act_quant", "product"};

/// The plans of both steps.
struct Planned {
  Steps steps;
  std::array<std::unique_ptr<core::Plan>, 2> plans;
  std::size_t intermediates = 0;

  /// `ask` gives the plan or the refusal of an implementation for a call.
  template <class Ask>
  static std::variant<Planned, core::Refusal> of(const Steps& steps, const core::Call& call, Ask ask) {
    const Calls calls(steps, call, kPlaceholder);
    Planned planned{steps, {}, calls.intermediates};
    for (std::size_t i = 0; i < planned.plans.size(); ++i) {
      core::PlanOrRefusal answer = ask(i == 0 ? *steps.quantise : *steps.product, calls.of[i]);
      if (const auto* refusal = std::get_if<core::Refusal>(&answer))
        return core::Refusal{say(kNames[i], ": ", refusal->reason)};
      planned.plans[i] = std::move(std::get<0>(answer));
    }
    return planned;
  }

  std::size_t workspace_bytes() const {
    return intermediates + std::max(plans[0]->workspace_bytes(), plans[1]->workspace_bytes());
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

/// Its own steps are for those who ask what there is to compile and what was loaded; the two plans launch.
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
    return reason.empty() ? steps_.quantise->unavailable() : reason;
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

std::vector<std::unique_ptr<const core::Implementation>> linear_implementations(
    const core::Registry& registry) {
  std::vector<std::unique_ptr<const core::Implementation>> list = linear_gpu();
  const core::Registry::Op& quantise = *registry.find("act_quant");
  for (const auto& of : registry.find("fp8_gemm")->implementations) {
    const auto slash = of->name().find('/');
    const core::Implementation* same = quantise.find(of->name());
    // The one kernel that every GPU has.
    if (same == nullptr) same = quantise.find(of->name().substr(0, slash) + "/portable");
    if (same == nullptr) continue;
    const Steps steps{quantise.contract, &contract(), same, of.get()};
    if (const auto* on_gpu = dynamic_cast<const gpu::Implementation*>(of.get()))
      list.push_back(std::make_unique<OnDevice>(steps, of->name().substr(slash + 1), on_gpu->needs()));
    else
      list.push_back(std::make_unique<OnHost>(steps));
  }
  return list;
}

}  // namespace isomer::ops::fp8_gemm
