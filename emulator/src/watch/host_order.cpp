#include "watch/host_order.hpp"

#include <execinfo.h>

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>

#include "memory/memory.hpp"
#include "memory/module_images.hpp"
#include "runtime/settings.hpp"
#include "watch/places.hpp"
#include "watch/reporter.hpp"
#include "watch/shadow.hpp"

namespace isomer::emulator::watch::host_order {

std::atomic<bool> any_under_way{false};

namespace {

constexpr std::size_t kMostCopies = 4096, kMostLaunches = 100000;
constexpr int kFrames = 24;

struct Copy {
  Moment work;
  const std::byte *begin, *end;
  bool writes;
  const void* site;  ///< where the program asked for it
};
struct Ran {
  Moment work;
  std::uint32_t first, end;
  std::string kernel;
};

std::mutex mutex;
bool on = false;
StreamClocks clocks;
std::deque<Copy> copies;
std::deque<Ran> launches;  // by their segments
thread_local std::optional<Moment> last_work;

void note() {
  const auto over = [](const auto& each) { return clocks.host_knows(each.work); };
  std::erase_if(copies, over);
  std::erase_if(launches, over);
  any_under_way = !copies.empty() || !launches.empty();
}

bool is_shared_with_host(const void* at) {
  const Buffer* b = Memory::instance().find(at);
  return b != nullptr ? b->space == Space::managed : Memory::instance().in_host_range(at);
}
bool is_of_device(const void* at) {
  const Buffer* b = Memory::instance().find(at);
  return b != nullptr ? b->space != Space::managed : variable_at(at) != nullptr;
}

const Ran* launch_of(std::uint32_t segment) {
  if (segment == 0) return nullptr;
  const auto behind = std::upper_bound(launches.begin(), launches.end(), segment,
                                       [](std::uint32_t s, const Ran& each) { return s < each.first; });
  if (behind == launches.begin()) return nullptr;
  const Ran& found = *std::prev(behind);
  return segment < found.end ? &found : nullptr;
}

void add(Copy copy, const void* of) {
  if (!is_shared_with_host(of)) return;
  if (copies.size() == kMostCopies) copies.pop_front();
  copies.push_back(copy);
  any_under_way = true;
}

/// The byte as kernels left it: which of them, under way yet, the host's access meets.
bool meets_kernel(const std::byte* at, bool writes, HostTouch& touch) {
  const Touches t = touches(at);
  const std::array<std::array<std::uint32_t, 2>, 3> entries{
      {{t.written, t.written_site}, {t.read_first, t.read_first_site}, {t.read_latest, t.read_latest_site}}};
  for (std::size_t i = 0; i < (writes ? entries.size() : 1); ++i) {
    const Ran* const ran = launch_of(entries[i][0]);
    if (ran == nullptr) continue;
    touch.kernel = ran->kernel;
    touch.other_writes = i == 0;
    touch.other_site = site_of(entries[i][1]);
    return true;
  }
  return false;
}

}  // namespace

void begin() { on = settings().watch; }

void asked(OrderStep what, const void* subject, const void* event, const std::set<const void*>& apart) {
  if (!on) return;
  const std::lock_guard lock(mutex);
  switch (what) {
    case OrderStep::work:
      last_work = clocks.work(subject, apart);
      return;
    case OrderStep::record:
      return clocks.record(event, subject, apart);
    case OrderStep::stream_waits:
      return clocks.stream_waits(subject, event);
    case OrderStep::host_waits:
      clocks.host_waits(subject, apart);
      break;
    case OrderStep::host_waits_event:
      clocks.host_waits_event(subject);
      break;
    case OrderStep::host_waits_all:
      clocks.host_waits_all();
      break;
  }
  note();
}

std::optional<Moment> taken() { return std::exchange(last_work, std::nullopt); }

void copied(Moment work, const void* to, const void* from, std::size_t bytes) {
  const std::lock_guard lock(mutex);
  if (clocks.host_knows(work)) return;
  // To memory of the host that is not pinned, and between two places of the host, a copy is over when its
  // call returns.
  const bool to_device = is_of_device(to), from_device = from == nullptr || is_of_device(from);
  if ((!to_device && !is_shared_with_host(to)) || (!to_device && !from_device)) {
    clocks.host_knows_of(work.stream);
    return note();
  }
  std::array<void*, kFrames> frames;
  const void* const site = users_address(frames.data(), backtrace(frames.data(), kFrames));
  const auto* const target = static_cast<const std::byte*>(to);
  const auto* const source = static_cast<const std::byte*>(from);
  add({work, target, target + bytes, true, site}, to);
  if (source != nullptr) add({work, source, source + bytes, false, site}, from);
}

void ran(Moment work, const std::string& kernel, std::uint32_t first, std::uint32_t end) {
  const std::lock_guard lock(mutex);
  if (first == end || clocks.host_knows(work)) return;
  if (launches.size() == kMostLaunches) launches.pop_front();
  launches.push_back({work, first, end, kernel});
  any_under_way = true;
}

void touched(const void* address, std::size_t bytes, unsigned how, const void* site) {
  if (settings().host_writes_unseen || !is_shared_with_host(address)) return;
  const std::lock_guard lock(mutex);
  // A program may wait for a flag that a kernel sets, and not for the kernel.
  if ((how & (atomic | volatile_word)) != 0) {
    clocks.host_waits_all();
    return note();
  }
  const auto* const at = static_cast<const std::byte*>(address);
  const bool writes = (how & write) != 0;
  HostTouch touch;
  touch.address = address, touch.bytes = bytes, touch.writes = writes;
  for (const Copy& c : copies) {
    if (at + bytes <= c.begin || c.end <= at || !(writes || c.writes)) continue;
    touch.other_writes = c.writes;
    touch.other_site = c.site;
    return report_host_race(site, touch);
  }
  if (launches.empty() || Memory::instance().find(address) == nullptr) return;
  for (std::size_t i = 0; i < bytes; ++i)
    if (meets_kernel(at + i, writes, touch)) return report_host_race(site, touch);
}

}  // namespace isomer::emulator::watch::host_order
