#include "gpu/plan.hpp"

#include "core/sentence.hpp"
#include "gpu/queue_state.hpp"
#include "gpu/vendors.hpp"

#include <algorithm>
#include <cstring>

namespace isomer::gpu {

void Plan::describe(core::Description& out) const {
  for (const Step& step : steps_) {
    // The steps of one plan mostly share their variant.
    for (auto& entry : named(step.variant))
      if (std::find(out.variant.begin(), out.variant.end(), entry) == out.variant.end())
        out.variant.push_back(std::move(entry));
    out.launches.push_back({.kernel = std::string(step.kernel),
                            .grid = {step.grid[0], step.grid[1], step.grid[2]},
                            .block = {step.block[0], step.block[1], step.block[2]},
                            .cluster = {step.cluster[0], step.cluster[1], step.cluster[2]},
                            .shared_bytes = step.shared_bytes,
                            .binary = {.source = ""}});
  }
}

void Plan::describe_loaded(const Queue& queue, core::Description& out) const {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Kernel* kernel = state_of(queue).kernels().find(steps_[i].program());
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
  for (const Step& step : steps_) state.kernels().get(step.program(), state.stream());
  if (zeroed_bytes_ > 0) state.zeroed(zeroed_bytes_);
}

void* Plan::zeroed(const Queue& queue) const { return state_of(queue).zeroed(zeroed_bytes_); }

void EncodedMaps::place(Vendor& vendor, int device, std::span<const MapOfStep> maps,
                        const void* const* addresses, std::byte* parameters) const {
  const std::lock_guard lock(mutex_);
  encoded_.resize(maps.size());
  for (std::size_t i = 0; i < maps.size(); ++i) {
    Encoded& kept = encoded_[i];
    if (kept.address != addresses[i] || addresses[i] == nullptr) {
      kept.address = nullptr;  // where the vendor refuses
      vendor.encode(device, maps[i].map, addresses[i], kept.map);
      kept.address = addresses[i];
    }
    std::memcpy(parameters + maps[i].at, &kept.map, sizeof kept.map);
  }
}

void Plan::place_maps(const Queue& queue, const Step& step, const void* const* addresses, std::size_t count,
                      std::byte* parameters) {
  if (count != step.maps.size())
    core::fail(ErrorCode::internal, step.kernel, ": ", step.maps.size(), " tensor maps, got ", count,
               " addresses");
  const QueueState& state = state_of(queue);
  step.encoded.place(state.vendor(), state.device.index, step.maps, addresses, parameters);
}

void Plan::launch(const Queue& queue, const Step& step, const void* parameters, std::size_t bytes) {
  const QueueState& state = state_of(queue);
  if (step.loaded.get() == nullptr) step.loaded.set(&state.kernels().get(step.program(), state.stream()));
  const Kernel& kernel = *step.loaded.get();
  state.launch({.function = kernel.function,
                .kernel = step.kernel,
                .grid = step.grid,
                .block = step.block,
                .cluster = step.cluster,
                .shared_bytes = step.shared_bytes,
                .overlap_previous = step.overlap_previous,
                .parameters = parameters,
                .parameter_bytes = bytes});
}

Implementation::Implementation(DeviceType device, std::string_view kind, Capabilities needs)
    : device_(device), needs_(needs) {
  const std::string text = to_string(Device{device, 0});
  name_ = core::say(text.substr(0, text.find(':')), "/", kind);
}

std::string Implementation::lacking_on(const Facts& facts) const {
  const std::string missing = lacking(needs_, facts.has);
  if (missing.empty()) return {};
  return core::say("needs ", missing, ", which ", facts.name, " (", facts.architecture, ") does not have");
}

std::string Implementation::unavailable() const {
  Vendor* vendor = find_vendor(device_);
  if (vendor == nullptr) return "this program does not link the emulator";
  if (std::string reason = vendor->unavailable(); !reason.empty()) return reason;
  // One device that has what is needed is enough: a call on another is refused with the same words.
  std::string first;
  for (int device = 0; device < vendor->devices(); ++device) {
    std::string reason = lacking_on(vendor->facts(device));
    if (reason.empty()) return {};
    if (device == 0) first = std::move(reason);
  }
  return first;
}

core::PlanOrRefusal Implementation::plan_as(const core::Call&, const Facts&,
                                            std::string_view candidate) const {
  return core::Refusal{core::say("has no candidates, got '", candidate, "'")};
}

core::PlanOrRefusal Implementation::plan(const core::Call& call, const Queue& queue) const {
  return plan(call, state_of(queue).facts());
}

}  // namespace isomer::gpu
