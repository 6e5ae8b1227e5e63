#include "child/held_results.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace isomer::emulator {

std::uint64_t sum_of_storage(Storages& storages, const void* begin, std::uint64_t bytes) {
  std::vector<std::byte> host(bytes);
  storages.fetch(host.data(), static_cast<const std::byte*>(begin), bytes);
  std::uint64_t sum = 0xcbf29ce484222325u;
  for (const std::byte b : host) sum = (sum ^ static_cast<std::uint64_t>(b)) * 0x100000001b3u;
  return sum;
}

HeldResults::~HeldResults() {
  for (const Kept& kept : kept_) kept.let_go(kept.result);
}

void HeldResults::add(Storages& storages, const CallTensor& result) {
  const auto* begin = static_cast<const std::byte*>(result.storage);
  const bool argument =
      std::any_of(storages.places().begin(), storages.places().end(), [&](const StoragePlace& p) {
        return p.begin != nullptr && begin >= p.begin && begin < p.begin + p.bytes;
      });
  if (argument || result.storage_bytes == 0) return;
  results_.push_back(
      {begin, result.storage_bytes, sum_of_storage(storages, result.storage, result.storage_bytes)});
}

void HeldResults::check(Storages& storages, std::vector<Report>& reports) const {
  for (const Result& result : results_) {
    if (sum_of_storage(storages, result.begin, result.bytes) == result.sum) continue;
    const bool returned_again = std::find(last_.begin(), last_.end(), result.begin) != last_.end();
    Report r;
    r.kind = Kind::stale_state;
    r.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(result.bytes, ~std::uint32_t{0}));
    r.text = fmt::format(
        "stale-state: the tensor of {} bytes that a call returned, and that its caller still holds, is "
        "written by the next call{}",
        result.bytes, returned_again ? ", which returns the same memory" : "");
    reports.push_back(std::move(r));
  }
}

}  // namespace isomer::emulator
