#include "core/plan_cache.hpp"

#include "core/queue_state.hpp"

#include <cstring>

namespace isomer::core {
namespace {

/// Plans look no further than at alignment to this.
constexpr std::uint64_t kAlignment = 256;

}  // namespace

PlanCache& PlanCache::of_this_thread() {
  thread_local PlanCache cache;
  return cache;
}

void PlanCache::sign(const Queue& queue, const Call& call) {
  signature_.clear();
  const auto add = [&](auto value) { signature_.push_back(static_cast<std::uint64_t>(value)); };
  add(QueueAccess::state(queue).id);
  add(reinterpret_cast<std::uintptr_t>(call.contract));
  for (int i = 0; i < call.count; ++i) {
    const Tensor& t = call.tensor(i);
    const std::uint64_t null = t.data == nullptr ? 1 : 0;
    add(static_cast<std::uint64_t>(t.dtype) | static_cast<std::uint64_t>(t.rank & 0xff) << 8 |
        static_cast<std::uint64_t>(t.device.type) << 16 | null << 24 |
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(t.device.index)) << 32);
    add(reinterpret_cast<std::uintptr_t>(t.data) % kAlignment);
    for (int d = 0; d < t.rank && d < Tensor::kMaxRank; ++d) {
      add(t.size(d));
      add(t.stride(d));
    }
  }
  const std::size_t words = (call.options_bytes + 7) / 8, begin = signature_.size();
  signature_.resize(begin + words, 0);
  std::memcpy(signature_.data() + begin, call.options_struct, call.options_bytes);
}

const PlanCache::Entry* PlanCache::find(const Queue& queue, const Call& call) {
  place_ = kEntries;
  if (queue.device().type == DeviceType::cpu) return nullptr;
  sign(queue, call);
  std::uint64_t hash = 0;
  for (const std::uint64_t word : signature_) hash = (hash ^ word) * 0x9E3779B97F4A7C15ull ^ hash >> 29;
  place_ = hash >> 40 & (kEntries - 1);
  const Entry& entry = entries_[place_];
  return entry.plan != nullptr && entry.signature == signature_ ? &entry : nullptr;
}

void PlanCache::keep(const Implementation& implementation, std::shared_ptr<const Plan> plan) {
  if (place_ < kEntries) entries_[place_] = {signature_, &implementation, std::move(plan)};
}

}  // namespace isomer::core
