#include "core/plan_cache.hpp"

#include "core/queue_state.hpp"

#include <algorithm>
#include <cstring>

namespace isomer::core {
namespace {

/// Of the words of one tensor: what it is, its address, sizes and strides.
constexpr std::size_t kTensorWords = 2 + 2 * static_cast<std::size_t>(Tensor::kMaxRank);

}  // namespace

PlanCache& PlanCache::of_this_thread() {
  thread_local PlanCache cache;
  return cache;
}

void PlanCache::sign(const Queue& queue, const Call& call) {
  const std::size_t option_words = (call.options_bytes + 7) / 8;
  const std::size_t most = 2 + static_cast<std::size_t>(call.count) * kTensorWords + option_words;
  if (signature_.size() < most) signature_.resize(most);
  // A plan of the CPU does not look at addresses.
  const std::uintptr_t alignment = queue.device().type == DeviceType::cpu ? 1 : kPlanAlignment;
  std::uint64_t* to = signature_.data();
  *to++ = QueueAccess::state(queue).id;
  *to++ = reinterpret_cast<std::uintptr_t>(call.contract);
  for (int i = 0; i < call.count; ++i) {
    const Tensor& t = call.tensor(i);
    const std::uint64_t null = t.data == nullptr ? 1 : 0;
    *to++ = static_cast<std::uint64_t>(t.dtype) | static_cast<std::uint64_t>(t.rank & 0xff) << 8 |
            static_cast<std::uint64_t>(t.device.type) << 16 | null << 24 |
            static_cast<std::uint64_t>(static_cast<std::uint32_t>(t.device.index)) << 32;
    if (!t.defined()) continue;
    *to++ = reinterpret_cast<std::uintptr_t>(t.data) & (alignment - 1);
    for (int d = 0; d < t.rank && d < Tensor::kMaxRank; ++d) {
      *to++ = static_cast<std::uint64_t>(t.shape[static_cast<std::size_t>(d)]);
      *to++ = static_cast<std::uint64_t>(t.strides[static_cast<std::size_t>(d)]);
    }
  }
  if (option_words > 0) {
    to[option_words - 1] = 0;
    std::memcpy(to, call.options_struct, call.options_bytes);
    to += option_words;
  }
  words_ = static_cast<std::size_t>(to - signature_.data());
}

std::shared_ptr<const KeptPlan> PlanCache::find(const Queue& queue, const Call& call) {
  sign(queue, call);
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < words_; ++i) hash = (hash ^ signature_[i]) * 0x9E3779B97F4A7C15ull ^ hash >> 29;
  place_ = hash >> 40 & (kEntries - 1);
  const Entry& entry = entries_[place_];
  const bool same = entry.signature.size() == words_ && std::memcmp(entry.signature.data(), signature_.data(),
                                                                    words_ * sizeof(std::uint64_t)) == 0;
  return same ? entry.plan : nullptr;
}

void PlanCache::keep(std::shared_ptr<const KeptPlan> plan) {
  entries_[place_].signature.assign(signature_.begin(),
                                    signature_.begin() + static_cast<std::ptrdiff_t>(words_));
  entries_[place_].plan = std::move(plan);
}

}  // namespace isomer::core
