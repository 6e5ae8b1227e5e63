#include "hopper/tiles.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "execution/worker.hpp"
#include "hopper/units.hpp"
#include "watch/order.hpp"
#include "watch/shadow.hpp"

namespace isomer::emulator::hopper {
namespace {

constexpr std::uint32_t kAddresses = 1 << 18;
constexpr std::uint32_t kLook = 4;  // of so many bytes the first is asked who wrote it

}  // namespace

void Tiles::begin() {
  granules_.assign(kAddresses / kGranule, {});
  products_.assign(std::size_t{kAddresses / kGranule} * warpgroups(), 0);
  fillings_.clear();
  drainings_.clear();
}

std::uint32_t Tiles::add(Filling filling) {
  fillings_.push_back(std::move(filling));
  return static_cast<std::uint32_t>(fillings_.size());
}
std::uint32_t Tiles::add(Draining draining) {
  drainings_.push_back(std::move(draining));
  return static_cast<std::uint32_t>(drainings_.size());
}

void Tiles::tell_unlanded(const Filling& filling, std::uint32_t address, const watch::Site& site,
                          const char* who) {
  watch::report_violation(
      Kind::in_flight, *current_block(), *current_thread(), site, filling.site,
      fmt::format(
          "{} shared memory at {} that the bulk copy at {{other}} still writes: nobody has waited for "
          "that phase of the barrier at {}",
          who, block_.units().place(address), block_.units().place(filling.barrier)));
}

bool Tiles::readers_done(std::size_t granule, const watch::Site& site, const char* what) {
  Thread& self = *current_thread();
  const bool local = current_block() == &block_;
  const std::uint32_t address = static_cast<std::uint32_t>(granule) * kGranule;
  if (const std::uint32_t index = granules_[granule].draining) {
    const Draining& d = drainings_[index - 1];
    if (d.done == 0 || (local && !watch::ordered(d.done, block_, self))) {
      watch::report_violation(
          Kind::early_reuse, *current_block(), self, site, d.site,
          fmt::format("{} shared memory at {} that the bulk store at {{other}} may still read: {}", what,
                      block_.units().place(address),
                      d.done == 0 ? "its thread has not waited for it"
                                  : "nothing orders this behind its thread's wait"));
      return false;
    }
  }
  for (std::uint32_t w = 0; w < warpgroups(); ++w) {
    const std::uint32_t product = products_[granule * warpgroups() + w];
    if (product == 0) continue;
    const bool flies = !block_.units().warpgroup(w).done(product);
    if (!flies && (!local || block_.units().warpgroup(w).known_done(self, product))) continue;
    watch::report_violation(
        Kind::early_reuse, *current_block(), self, site, block_.units().warpgroup(w).site(product),
        fmt::format("{} shared memory at {} that warpgroup {}'s product at {{other}} may still read: {}",
                    what, block_.units().place(address), w,
                    flies ? "it is under way" : "nothing orders this behind the wait of each of its warps"));
    return false;
  }
  return true;
}

void Tiles::fill(std::uint32_t index) {
  Filling& f = filling(index);
  Thread& self = *current_thread();
  const bool local = current_block() == &block_;
  const std::byte* bytes = block_.shared_at(f.to, f.bytes);
  if (block_.launch().watch) {
    bool told = false;
    watch::Touches fine;
    for (std::uint32_t a = f.to; a < f.to + f.bytes && !told; a += kLook) {
      if (a % kGranule == 0) {
        if (const std::uint32_t other = at(a).filling; other != 0 && !filling(other).landed) {
          tell_unlanded(filling(other), a, f.site, "copies into");
          told = true;
          break;
        }
        if (!readers_done(a / kGranule, f.site, "copies into")) {
          told = true;
          break;
        }
      }
      if (!local) continue;
      const watch::Touches t = watch::touches(bytes + (a - f.to));
      if (t.written == fine.written && t.read_first == fine.read_first && t.read_latest == fine.read_latest)
        continue;
      fine = t;
      if (t.written != 0 && !watch::ordered(t.written, block_, self)) {
        const bool agent = watch::segment(t.written).thread >= block_.size();
        watch::report_violation(
            Kind::early_reuse, *current_block(), self, f.site, {watch::site_of(t.written_site), {}},
            agent
                ? fmt::format("copies into shared memory at {} what nobody has used yet that the bulk copy "
                              "at {{other}} brought",
                              block_.units().place(a))
                : fmt::format("copies into shared memory at {} that a thread wrote at {{other}}, and nothing "
                              "orders the two",
                              block_.units().place(a)));
        told = true;
      } else if (t.written != 0 && !watch::proxied(t.written, block_, self)) {
        watch::report_violation(
            Kind::missing_proxy_fence, *current_block(), self, f.site, {watch::site_of(t.written_site), {}},
            fmt::format("copies into shared memory at {} that a thread wrote at {{other}}, with no "
                        "fence.proxy.async between",
                        block_.units().place(a)));
        told = true;
      } else {
        for (const auto [reader, site] :
             {std::pair{t.read_first, t.read_first_site}, std::pair{t.read_latest, t.read_latest_site}}) {
          if (told || reader == 0 || watch::ordered(reader, block_, self)) continue;
          watch::report_violation(
              Kind::early_reuse, *current_block(), self, f.site, {watch::site_of(site), {}},
              fmt::format(
                  "copies into shared memory at {} that a thread read at {{other}}, and nothing orders "
                  "the two",
                  block_.units().place(a)));
          told = true;
        }
      }
    }
  }
  for (std::uint32_t a = f.to; a < f.to + f.bytes; a += kGranule) {
    at(a) = {index, 0};
    for (std::uint32_t w = 0; w < warpgroups(); ++w) product(a / kGranule, w) = 0;
  }
}

void Tiles::land(std::uint32_t index, std::uint32_t agent, std::uint32_t tick) {
  Filling& f = filling(index);
  f.landed = true;
  if (!block_.launch().watch) return;
  watch::set_written(block_.shared_at(f.to, f.bytes), f.bytes, watch::segment_of_agent(block_, agent, tick),
                     watch::site_number(block_, f.site.pc));
}

bool Tiles::readable(std::uint32_t address, const watch::Site& site, const char* who, std::uint32_t& fine) {
  Thread& self = block_.current();
  if (const std::uint32_t index = at(address).filling; index != 0 && !filling(index).landed) {
    tell_unlanded(filling(index), address, site, who);
    return false;
  }
  const std::byte* bytes = block_.shared_at(address, kGranule);
  for (std::uint32_t i = 0; i < kGranule; i += kLook) {
    const watch::Touches t = watch::touches(bytes + i);
    if (t.written != 0 && t.written == fine) continue;
    if (t.written == 0) {
      if (t.initialised) continue;
      watch::report_violation(Kind::uninitialised_read, block_, self, site, {},
                              fmt::format("{} shared memory at {} that nobody has written", who,
                                          block_.units().place(address + i)));
      return false;
    }
    if (!watch::ordered(t.written, block_, self)) {
      const bool agent = watch::segment(t.written).thread >= block_.size();
      watch::report_violation(
          agent ? Kind::in_flight : Kind::race, block_, self, site, {watch::site_of(t.written_site), {}},
          fmt::format("{} shared memory at {} that {} at {{other}}, {}", who,
                      block_.units().place(address + i), agent ? "the bulk copy brings" : "a thread wrote",
                      agent ? "and has not waited for its barrier" : "with no barrier between"));
      return false;
    }
    if (!watch::proxied(t.written, block_, self)) {
      watch::report_violation(
          Kind::missing_proxy_fence, block_, self, site, {watch::site_of(t.written_site), {}},
          fmt::format("{} shared memory at {} that a thread wrote at {{other}}, with no fence.proxy.async "
                      "between",
                      who, block_.units().place(address + i)));
      return false;
    }
    fine = t.written;
  }
  return true;
}

void Tiles::drain(std::uint32_t index, std::uint32_t from, std::uint32_t bytes) {
  const bool watched = block_.launch().watch;
  bool good = true;
  std::uint32_t fine = 0;
  for (std::uint32_t a = from; a < from + bytes; a += kGranule) {
    if (watched && good) good = readable(a, draining(index).site, "copies from", fine);
    at(a).draining = index;
  }
}

void Tiles::multiply(std::uint32_t address, Reading& reading) {
  Granule& g = at(address);
  if (g.filling != 0 && filling(g.filling).swizzle != reading.swizzle) {
    const auto named = [](unsigned bytes) {
      return bytes == 0 ? std::string("no swizzle") : fmt::format("a {}-byte swizzle", bytes);
    };
    watch::report_violation(
        Kind::wrong_swizzle, block_, block_.current(), *reading.site, filling(g.filling).site,
        fmt::format("multiplies a tile at {} by a descriptor of {}, which the bulk copy at {{other}} wrote "
                    "with {}",
                    block_.units().place(address), named(reading.swizzle),
                    named(filling(g.filling).swizzle)));
  }
  readable(address, *reading.site, "multiplies", reading.fine);
  product(address / kGranule, block_.current().linear / 128) = reading.product;
}

void Tiles::touch(const void* at_byte, std::size_t bytes, bool writes, const void* site) {
  const std::uint32_t first = block_.shared_address(at_byte);
  if (first == 0 || bytes == 0) return;
  Thread& self = block_.current();
  for (std::uint32_t g = first / kGranule; g <= (first + bytes - 1) / kGranule; ++g) {
    Granule& granule = granules_[g];
    if (granule.filling != 0 && !filling(granule.filling).landed)
      tell_unlanded(filling(granule.filling), g * kGranule, {site, self.clock.calls},
                    writes ? "writes" : "reads");
    if (!writes) continue;
    const bool read_by_units =
        granule.draining != 0 ||
        std::any_of(&product(g, 0), &product(g, 0) + warpgroups(), [](std::uint32_t p) { return p != 0; });
    if (read_by_units) {
      readers_done(g, {site, self.clock.calls}, "writes");
      for (std::uint32_t w = 0; w < warpgroups(); ++w) product(g, w) = 0;
    }
    granule = {};
  }
}

}  // namespace isomer::emulator::hopper
