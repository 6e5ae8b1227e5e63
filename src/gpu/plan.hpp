#pragma once

#include "core/plan.hpp"
#include "gpu/facts.hpp"
#include "gpu/program.hpp"
#include "gpu/tuned.hpp"
#include "gpu/variant.hpp"
#include "gpu/vendor.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace isomer::gpu {

struct Kernel;

/// The kernel of a step once it is loaded: plans are kept and run again.
class LoadedKernel {
 public:
  LoadedKernel() = default;
  LoadedKernel(const LoadedKernel& other) : kernel_(other.get()) {}
  LoadedKernel& operator=(const LoadedKernel& other) {
    set(other.get());
    return *this;
  }
  const Kernel* get() const { return kernel_.load(std::memory_order_acquire); }
  void set(const Kernel* kernel) const { kernel_.store(kernel, std::memory_order_release); }

 private:
  mutable std::atomic<const Kernel*> kernel_{nullptr};
};

/// The tensor maps of a step, encoded: kept with the plan, and made anew only where an address is another.
class EncodedMaps {
 public:
  EncodedMaps() = default;
  EncodedMaps(const EncodedMaps&) {}
  EncodedMaps& operator=(const EncodedMaps&) { return *this; }
  /// Into a step's parameters, map i of the tensor at addresses[i].
  void place(Vendor& vendor, int device, std::span<const MapOfStep> maps, const void* const* addresses,
             std::byte* parameters) const;

 private:
  struct Encoded {
    const void* address = nullptr;
    device::TensorMap map{};
  };
  mutable std::mutex mutex_;
  mutable std::vector<Encoded> encoded_;
};

/// One launch of a plan: everything but its parameters.
struct Step {
  std::string_view source;  ///< a literal, among the embedded device sources: "ops/sin/kernels/sin.cu"
  std::string_view kernel;  ///< a literal, the function
  Variant variant;          ///< compile-time parameters, in a fixed order
  Dim3 grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  std::uint32_t shared_bytes = 0;  ///< dynamic
  bool overlap_previous = false;
  std::vector<MapOfStep> maps = {};
  LoadedKernel loaded = {};  ///< on the device of the plan's queue
  EncodedMaps encoded = {};

  Program program() const { return {std::string(source), std::string(kernel), named(variant)}; }
};

/// Blocks of a launch along the grid's first dimension, and along each of the others.
inline constexpr std::int64_t kMostBlocks = 0x7fffffff, kMostBlocksAcross = 0xffff;
/// That many where a grid has as many; a kernel takes what is beyond them in turn.
constexpr std::uint32_t grid_of(std::int64_t blocks, std::int64_t most = kMostBlocks) {
  return static_cast<std::uint32_t>(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

/// A plan whose launches are data. A derived class is made of what its decide() has decided from shapes,
/// options, alignment and facts alone, has no text before describe() is asked for it, and in run() launches
/// each step with its parameters.
class Plan : public core::Plan {
 public:
  /// Variant and launches; a derived class adds parameters and constants.
  void describe(core::Description& out) const override;
  void describe_loaded(const Queue& queue, core::Description& out) const override;
  void prepare(const Queue& queue) const override;
  const std::vector<Step>& steps() const { return steps_; }
  /// The ways in which the call could have been run, the plan's own among them; empty where there is one
  /// alone.
  virtual std::vector<Candidate> candidates() const { return {}; }

 protected:
  /// No steps for an empty output. `zeroed_bytes` of scratch are there for run() to take with zeroed().
  explicit Plan(std::vector<Step> steps, std::size_t zeroed_bytes = 0)
      : steps_(std::move(steps)), zeroed_bytes_(zeroed_bytes) {}

  /// Puts a step into the queue. Parameters is the kernel's parameter struct.
  template <class Parameters>
  void launch(const Queue& queue, std::size_t step, const Parameters& parameters) const {
    static_assert(std::is_trivially_copyable_v<Parameters> && sizeof(Parameters) <= 4096);
    launch(queue, steps_[step], &parameters, sizeof(Parameters));
  }
  /// A step with tensor maps: addresses[i] is where the tensor of the step's map i lies. The kernel takes its
  /// parameters as `const __grid_constant__`.
  template <class Parameters, std::size_t N>
  void launch(const Queue& queue, std::size_t step, Parameters& parameters,
              const void* const (&addresses)[N]) const {
    static_assert(std::is_trivially_copyable_v<Parameters> && sizeof(Parameters) <= 4096 &&
                  alignof(Parameters) % alignof(device::TensorMap) == 0);
    place_maps(queue, steps_[step], addresses, N, reinterpret_cast<std::byte*>(&parameters));
    launch(queue, steps_[step], &parameters, sizeof(Parameters));
  }
  /// The plan's scratch on this queue: zero before the first kernel that sees it, and every kernel leaves it
  /// so. All plans of a queue have the same, one after the other: a kernel that overlaps the launch ahead of
  /// it waits for that before it touches it.
  void* zeroed(const Queue& queue) const;

 private:
  static void launch(const Queue& queue, const Step& step, const void* parameters, std::size_t bytes);
  static void place_maps(const Queue& queue, const Step& step, const void* const* addresses,
                         std::size_t count, std::byte* parameters);

  std::vector<Step> steps_;
  std::size_t zeroed_bytes_;
};

/// Base of the GPU implementations: "cuda/portable", available where a device of the vendor has what it
/// needs.
class Implementation : public core::Implementation {
 public:
  Implementation(DeviceType device, std::string_view kind, Capabilities needs = {});
  const std::string& name() const override { return name_; }
  DeviceType device() const override { return device_; }
  std::string unavailable() const override;
  core::PlanOrRefusal plan(const core::Call& call, const Queue& queue) const final;
  /// The same with no queue: what `isomer prebuild` and tests ask.
  virtual core::PlanOrRefusal plan(const core::Call& call, const Facts& facts) const = 0;
  /// The same with that candidate of the plan's, whatever the model and the table of measured choices say.
  virtual core::PlanOrRefusal plan_as(const core::Call& call, const Facts& facts,
                                      std::string_view candidate) const;
  /// What a measured choice of that call is looked up by; empty where plans have no candidates.
  virtual TunedKey tuned_key(const core::Call&, const Facts&) const { return {}; }
  const Capabilities& needs() const { return needs_; }

 protected:
  /// "needs wgmma, which NVIDIA A100 (sm_80) does not have"; empty where the device has all.
  std::string lacking_on(const Facts& facts) const;

 private:
  DeviceType device_;
  std::string name_;
  Capabilities needs_;
};

/// What is decided of a call, before anything is said or done: plain data with `std::vector<Step> steps`.
template <class Decision>
using Decided = std::variant<Decision, core::Refusal>;

/// An implementation that is one plan class. Plan is made of its Decision, which its
/// `static Decided<Decision> decide(const core::Call&, const Facts&)` makes, once for a call. A plan that has
/// candidates also has `decide(const core::Call&, const Facts&, std::string_view candidate)` and
/// `tuned_key(const core::Call&, const Facts&)`.
template <class PlanClass>
class ImplementationOf : public Implementation {
 public:
  using Implementation::Implementation;
  core::PlanOrRefusal plan(const core::Call& call, const Facts& facts) const override {
    if (std::string reason = lacking_on(facts); !reason.empty()) return core::Refusal{std::move(reason)};
    return made_of(PlanClass::decide(call, facts));
  }
  core::PlanOrRefusal plan_as(const core::Call& call, const Facts& facts,
                              std::string_view candidate) const override {
    if constexpr (requires { PlanClass::decide(call, facts, candidate); }) {
      if (std::string reason = lacking_on(facts); !reason.empty()) return core::Refusal{std::move(reason)};
      return made_of(PlanClass::decide(call, facts, candidate));
    } else {
      return Implementation::plan_as(call, facts, candidate);
    }
  }
  TunedKey tuned_key(const core::Call& call, const Facts& facts) const override {
    if constexpr (requires { PlanClass::tuned_key(call, facts); }) return PlanClass::tuned_key(call, facts);
    return {};
  }

 private:
  template <class Answer>
  static core::PlanOrRefusal made_of(Answer decided) {
    if (auto* refusal = std::get_if<core::Refusal>(&decided)) return std::move(*refusal);
    return std::make_unique<PlanClass>(std::move(std::get<0>(decided)));
  }
};

using Implementations = std::vector<std::unique_ptr<const core::Implementation>>;

/// One for each vendor: a portable kernel's source serves them all.
template <class PlanClass>
Implementations everywhere() {
  Implementations list;
  for (const DeviceType type : {DeviceType::cuda, DeviceType::hip, DeviceType::emulated})
    list.push_back(std::make_unique<ImplementationOf<PlanClass>>(type, "portable"));
  return list;
}

/// One of that vendor, for devices that have what it needs: "cuda/sm90". The same sources run on an emulated
/// device that has it too: "emulated/sm90".
template <class PlanClass>
Implementations on(DeviceType type, std::string_view kind, const Capabilities& needs) {
  Implementations list;
  list.push_back(std::make_unique<ImplementationOf<PlanClass>>(type, kind, needs));
  list.push_back(std::make_unique<ImplementationOf<PlanClass>>(DeviceType::emulated, kind, needs));
  return list;
}

/// Those of the lists, asked in this order: in_order(on<Sm90Plan>(…), everywhere<PortablePlan>()).
template <class... Lists>
Implementations in_order(Lists... lists) {
  Implementations all;
  (std::move(lists.begin(), lists.end(), std::back_inserter(all)), ...);
  return all;
}

}  // namespace isomer::gpu
