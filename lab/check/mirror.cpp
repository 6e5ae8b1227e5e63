#include "lab/check/mirror.hpp"

#include "core/sentence.hpp"
#include "gpu/queue_state.hpp"

#include <algorithm>

namespace isomer::lab {

Mirror::Mirror(const oracle::Problem& problem, const Queue& queue) : queue_(queue), copy_(problem.call()) {
  if (queue.device().type == DeviceType::cpu) return;
  try {
    place(problem);
  } catch (...) {
    release();
    throw;
  }
  for (int i = 0; i < call().count; ++i) {
    Tensor& tensor = copy_.tensor(i);
    if (!tensor.defined()) continue;
    tensor.device = queue.device();
    const auto* data = static_cast<const std::byte*>(tensor.data);
    const auto region = std::find_if(regions_.begin(), regions_.end(), [&](const Region& each) {
      return data >= each.host && data < each.host + each.bytes;
    });
    if (region != regions_.end()) tensor.data = region->device + (data - region->host);
  }
}

void Mirror::place(const oracle::Problem& problem) {
  for (const oracle::Problem::Buffer& buffer : problem.buffers()) {
    // Buffers that one tensor spans keep their distance.
    const auto same = std::find_if(regions_.begin(), regions_.end(), [&](const Region& region) {
      const core::Call& call = problem.call();
      for (int i = 0; i < call.count; ++i)
        if (call.tensor(i).defined() && oracle::Problem::spans(call.tensor(i), buffer) &&
            oracle::Problem::spans(call.tensor(i), *region.buffers.front()))
          return true;
      return false;
    });
    if (same == regions_.end()) {
      regions_.push_back({buffer.base, buffer.bytes, nullptr, {&buffer}});
      continue;
    }
    std::byte* end = std::max(same->host + same->bytes, buffer.base + buffer.bytes);
    same->host = std::min(same->host, buffer.base);
    same->bytes = static_cast<std::size_t>(end - same->host);
    same->buffers.push_back(&buffer);
  }
  const gpu::QueueState& state = gpu::state_of(queue_);
  for (Region& region : regions_) {
    const auto most = static_cast<std::size_t>(state.facts().memory_bytes);
    if (region.bytes <= most)
      region.device = static_cast<std::byte*>(state.vendor().allocate(state.device.index, region.bytes));
    if (region.device == nullptr)
      core::fail(ErrorCode::unsupported, "the case's buffers span ", region.bytes, " bytes, more than ",
                 to_string(queue_.device()), " has");
  }
}

void Mirror::release() {
  if (regions_.empty()) return;
  const gpu::QueueState& state = gpu::state_of(queue_);
  for (const Region& region : regions_)
    if (region.device != nullptr) state.vendor().release(state.device.index, region.device);
  regions_.clear();
}

Mirror::~Mirror() { release(); }

void Mirror::upload() {
  for (const Region& region : regions_)
    for (const oracle::Problem::Buffer* buffer : region.buffers) {
      const gpu::QueueState& state = gpu::state_of(queue_);
      state.vendor().copy(state.device.index, state.stream(), region.device + (buffer->base - region.host),
                          buffer->base, buffer->bytes, gpu::Vendor::Copy::to_device);
    }
}

void Mirror::download() {
  for (const Region& region : regions_)
    for (const oracle::Problem::Buffer* buffer : region.buffers) {
      const gpu::QueueState& state = gpu::state_of(queue_);
      state.vendor().copy(state.device.index, state.stream(), buffer->base,
                          region.device + (buffer->base - region.host), buffer->bytes,
                          gpu::Vendor::Copy::to_host);
    }
}

}  // namespace isomer::lab
