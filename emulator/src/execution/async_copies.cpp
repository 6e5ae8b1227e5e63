#include "execution/async_copies.hpp"

#include <cstring>
#include <utility>

#include "execution/worker.hpp"
#include "watch/order.hpp"
#include "watch/quick.hpp"
#include "watch/reporter.hpp"
#include "watch/shadow.hpp"

namespace isomer::emulator {

void AsyncCopies::begin() { threads_.assign(block_.size(), {}); }

AsyncCopies::OfThread& AsyncCopies::mine() { return threads_[block_.current().linear]; }

void AsyncCopies::copy(void* to, const void* from, std::size_t bytes, std::size_t from_bytes,
                       const watch::Site& site) {
  constexpr std::size_t kWhole = 16;
  if (bytes == kWhole && from_bytes == kWhole) {
    watch::plain<kWhole, false>(from, site.pc);
    watch::plain<kWhole, true>(to, site.pc);
  } else {
    watch::access(from, from_bytes, watch::read, site.pc);
    watch::access(to, bytes, watch::write | watch::typed, site.pc);
  }
  std::memset(to, Memory::instance().poison(), bytes);
  watch::set_state(to, bytes, watch::kUnderWay);
  mine().open.push_back({static_cast<std::byte*>(to), from, bytes, from_bytes, site});
}

void AsyncCopies::commit() { mine().groups.push_back(std::exchange(mine().open, {})); }

void AsyncCopies::wait(std::size_t groups) {
  OfThread& of = mine();
  for (; of.groups.size() > groups; of.groups.pop_front()) land(of.groups.front());
}

void AsyncCopies::wait_for_all() {
  commit();
  wait(0);
}

void AsyncCopies::land(const Group& group) {
  Thread& self = block_.current();
  for (const Copy& c : group) {
    std::memcpy(c.to, c.from, c.from_bytes);
    std::memset(c.to + c.from_bytes, 0, c.bytes - c.from_bytes);
    watch::set_written(c.to, c.bytes, watch::segment_of(block_, self), watch::site_number(block_, c.site.pc));
    if (self.clock.guesses) watch::set_state(c.to, c.bytes, 0);
  }
}

const watch::Site* AsyncCopies::begun_at(const void* byte) const {
  const auto writes = [&](const Copy& c) { return byte >= c.to && byte < c.to + c.bytes; };
  for (const OfThread& of : threads_) {
    for (const Copy& c : of.open)
      if (writes(c)) return &c.site;
    for (const Group& group : of.groups)
      for (const Copy& c : group)
        if (writes(c)) return &c.site;
  }
  return nullptr;
}

}  // namespace isomer::emulator
