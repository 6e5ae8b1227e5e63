#pragma once

#include "core/plan.hpp"
#include "gpu/facts.hpp"
#include "gpu/program.hpp"
#include "gpu/vendor.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
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

/// One launch of a plan: everything but its parameters.
struct Step {
  Program program;
  Dim3 grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  std::uint32_t shared_bytes = 0;  ///< dynamic
  bool overlap_previous = false;
  LoadedKernel loaded = {};  ///< on the device of the plan's queue
};

/// A plan whose launches are data. A derived class fills `steps` (none for an empty output), `parameters` and
/// `constants` in its constructor, from shapes, options and facts alone, and in run() launches each step with
/// its parameters.
class Plan : public core::Plan {
 public:
  void describe(core::Description& out) const override;
  void describe_loaded(const Queue& queue, core::Description& out) const override;
  void prepare(const Queue& queue) const override;
  const std::vector<Step>& steps() const { return steps_; }

 protected:
  std::vector<Step> steps_;
  core::Named parameters_;  ///< run-time sizes and scalars, for people
  core::Named constants_;   ///< what was derived from them

  /// Puts a step into the queue. Parameters is the kernel's parameter struct.
  template <class Parameters>
  void launch(const Queue& queue, std::size_t step, const Parameters& parameters) const {
    static_assert(std::is_trivially_copyable_v<Parameters> && sizeof(Parameters) <= 4096);
    launch(queue, steps_[step], &parameters, sizeof(Parameters));
  }
  /// Encodes into a parameter struct, before launch().
  static void encode(const Queue& queue, const TensorMap& map, void* into);

 private:
  static void launch(const Queue& queue, const Step& step, const void* parameters, std::size_t bytes);
};

/// Base of the GPU implementations: "cuda/portable", available where the vendor has a device.
class Implementation : public core::Implementation {
 public:
  Implementation(DeviceType device, std::string_view kind);
  const std::string& name() const override { return name_; }
  DeviceType device() const override { return device_; }
  std::string unavailable() const override;
  core::PlanOrRefusal plan(const core::Call& call, const Queue& queue) const final;
  /// The same with no queue: what `isomer prebuild` and tests ask.
  virtual core::PlanOrRefusal plan(const core::Call& call, const Facts& facts) const = 0;

 private:
  DeviceType device_;
  std::string name_;
};

/// An implementation that is one plan class. Plan has a constructor (const core::Call&, const Facts&) and may
/// have `static std::string refuse(const core::Call&, const Facts&)`, empty where it takes the call.
template <class PlanClass>
class ImplementationOf : public Implementation {
 public:
  using Implementation::Implementation;
  core::PlanOrRefusal plan(const core::Call& call, const Facts& facts) const override {
    if constexpr (requires { PlanClass::refuse(call, facts); })
      if (std::string reason = PlanClass::refuse(call, facts); !reason.empty())
        return core::Refusal{std::move(reason)};
    return std::make_unique<PlanClass>(call, facts);
  }
};

/// One for each vendor: a portable kernel's source serves them all.
template <class PlanClass>
std::vector<std::unique_ptr<const core::Implementation>> portable() {
  std::vector<std::unique_ptr<const core::Implementation>> list;
  for (const DeviceType type : {DeviceType::cuda, DeviceType::hip, DeviceType::emulated})
    list.push_back(std::make_unique<ImplementationOf<PlanClass>>(type, "portable"));
  return list;
}

}  // namespace isomer::gpu
