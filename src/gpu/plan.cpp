#include "gpu/plan.hpp"

#include "core/sentence.hpp"
#include "gpu/queue_state.hpp"
#include "gpu/vendors.hpp"

#include <algorithm>

namespace isomer::gpu {

void Plan::describe(core::Description& out) const {
  for (const Step& step : steps_) {
    // The steps of one plan mostly share their variant.
    for (const auto& entry : step.program.variant)
      if (std::find(out.variant.begin(), out.variant.end(), entry) == out.variant.end())
        out.variant.push_back(entry);
    out.launches.push_back({.kernel = step.program.kernel,
                            .grid = {step.grid[0], step.grid[1], step.grid[2]},
                            .block = {step.block[0], step.block[1], step.block[2]},
                            .cluster = {step.cluster[0], step.cluster[1], step.cluster[2]},
                            .shared_bytes = step.shared_bytes,
                            .binary = {.source = ""}});
  }
  out.parameters = parameters_;
  out.constants = constants_;
}

void Plan::describe_loaded(const Queue& queue, core::Description& out) const {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Kernel* kernel = state_of(queue).kernels().find(steps_[i].program);
    if (kernel == nullptr) continue;
    out.launches[i].binary = {.source = kernel->binary_source,
                              .hash = kernel->hash,
                              .registers = kernel->resources.registers,
                              .spill_bytes = kernel->resources.spill_bytes,
                              .seconds = kernel->seconds,
                              .not_kept = kernel->not_kept};
    out.launches[i].shared_bytes =
        steps_[i].shared_bytes + std::max<std::int64_t>(kernel->resources.shared_bytes, 0);
  }
}

void Plan::prepare(const Queue& queue) const {
  const QueueState& state = state_of(queue);
  for (const Step& step : steps_) state.kernels().get(step.program, state.stream());
}

void Plan::encode(const Queue& queue, const TensorMap& map, void* into) {
  state_of(queue).vendor().encode(map, into);
}

void Plan::launch(const Queue& queue, const Step& step, const void* parameters, std::size_t bytes) {
  const QueueState& state = state_of(queue);
  if (step.loaded.get() == nullptr) step.loaded.set(&state.kernels().get(step.program, state.stream()));
  const Kernel& kernel = *step.loaded.get();
  state.vendor().launch(state.device.index, state.stream(),
                        {.function = kernel.function,
                         .kernel = step.program.kernel.c_str(),
                         .grid = step.grid,
                         .block = step.block,
                         .cluster = step.cluster,
                         .shared_bytes = step.shared_bytes,
                         .overlap_previous = step.overlap_previous,
                         .parameters = parameters,
                         .parameter_bytes = bytes});
}

Implementation::Implementation(DeviceType device, std::string_view kind) : device_(device) {
  const std::string text = to_string(Device{device, 0});
  name_ = core::say(text.substr(0, text.find(':')), "/", kind);
}

std::string Implementation::unavailable() const {
  Vendor* vendor = find_vendor(device_);
  return vendor == nullptr ? "this program does not link the emulator" : vendor->unavailable();
}

core::PlanOrRefusal Implementation::plan(const core::Call& call, const Queue& queue) const {
  return plan(call, state_of(queue).facts());
}

}  // namespace isomer::gpu
