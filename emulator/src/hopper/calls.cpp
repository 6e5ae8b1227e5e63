// What a device thread calls of the asynchronous units: the C entries behind isomer_emulator/hopper.h.
#include "isomer_emulator/hopper.h"

#include <string>

#include "execution/worker.hpp"
#include "hopper/units.hpp"
#include "watch/order.hpp"
#include "watch/places.hpp"

using namespace isomer::emulator;

#define EXPORT __attribute__((visibility("default")))
#define SITE (isomer::emulator::watch::Site{__builtin_return_address(0), current_thread()->clock.calls})

namespace {

hopper::Units& units() { return current_block()->units(); }
/// The block of that rank in the cluster, which has not ended.
Block& mate(unsigned rank, const watch::Site& site) {
  Block* const block = current_block()->mate(rank);
  if (block == nullptr || block->alive() == 0) {
    units().tell(Kind::out_of_bounds_write, site, {},
                 "reaches into block " + std::to_string(rank) + " of its cluster, which " +
                     (block == nullptr ? "is not there" : "has ended"));
    units().stop();
  }
  return *block;
}

hopper::Warpgroup& warpgroup() {
  return units().warpgroup(current_thread()->linear / hopper::Warpgroup::kThreads);
}

}  // namespace

extern "C" {

EXPORT unsigned isomer_emulator_shared_address(const void* at) {
  Block& block = *current_block();
  const unsigned address = block.shared_address(at);
  if (address == 0) {
    units().tell(Kind::out_of_bounds_read, SITE, {},
                 "takes an address that is not in the block's shared memory");
    units().stop();
  }
  return address;
}
EXPORT void* isomer_emulator_shared_at(unsigned address, unsigned bytes) {
  std::byte* const at = current_block()->shared_at(address, bytes);
  if (at == nullptr) {
    units().tell(Kind::out_of_bounds_write, SITE, {},
                 "touches " + units().place(address) + ", outside of what the block has");
    units().stop();
  }
  return at;
}

EXPORT void* isomer_emulator_shared_in(unsigned rank, unsigned address, unsigned bytes) {
  const watch::Site site = SITE;
  std::byte* const at = mate(rank, site).shared_at(address, bytes);
  if (at == nullptr) {
    units().tell(Kind::out_of_bounds_write, site, {},
                 "touches " + units().place(address) + " of another block, outside of what that has");
    units().stop();
  }
  return at;
}
EXPORT unsigned isomer_emulator_cluster_rank() { return current_block()->rank(); }
EXPORT unsigned isomer_emulator_cluster_size() { return current_block()->launch().cluster; }
EXPORT void isomer_emulator_cluster_arrive() { current_block()->cluster_arrive(); }
EXPORT void isomer_emulator_cluster_wait() { current_block()->cluster_wait(__builtin_return_address(0)); }

EXPORT void isomer_emulator_barrier_init(unsigned barrier, unsigned count) {
  units().barriers().init(barrier, count, SITE);
}
EXPORT void isomer_emulator_barrier_invalidate(unsigned barrier) { units().barriers().invalidate(barrier); }
EXPORT void isomer_emulator_barrier_arrive(unsigned barrier, unsigned count, unsigned bytes) {
  units().barriers().arrive(barrier, count, bytes, current_thread(), SITE);
}
EXPORT void isomer_emulator_barrier_drop(unsigned barrier, unsigned count) {
  units().barriers().drop(barrier, count, SITE);
}
EXPORT void isomer_emulator_barrier_expect(unsigned barrier, unsigned count) {
  units().barriers().at(barrier, SITE).pending += count;
}
EXPORT void isomer_emulator_barrier_arrive_in(unsigned rank, unsigned barrier) {
  const watch::Site site = SITE;
  Block& block = mate(rank, site);
  block.units().barriers().arrive(barrier, 1, 0, &block == current_block() ? current_thread() : nullptr,
                                  site);
}
EXPORT int isomer_emulator_barrier_wait(unsigned barrier, unsigned parity, int only_look) {
  return units().barriers().wait(barrier, parity, only_look != 0, SITE);
}
EXPORT unsigned isomer_emulator_barrier_parity(unsigned barrier) {
  return static_cast<unsigned>(units().barriers().at(barrier, SITE).phase & 1);
}
EXPORT void isomer_emulator_proxy_fence() {
  if (current_block()->launch().watch) watch::proxy_fence(*current_block(), *current_thread());
}

EXPORT void isomer_emulator_box_load(const void* map, int rank, const int* coordinates, unsigned to,
                                     unsigned barrier) {
  const watch::Site site = SITE;
  hopper::Copies& copies = units().copies();
  copies.load(copies.box_of(map, rank, coordinates, to, site), to, barrier, site);
}
EXPORT void isomer_emulator_box_load_in(unsigned blocks, const void* map, int rank, const int* coordinates,
                                        unsigned to, unsigned barrier) {
  const watch::Site site = SITE;
  for (unsigned i = 0; blocks >> i != 0; ++i) {
    if ((blocks >> i & 1) == 0) continue;
    hopper::Copies& copies = mate(i, site).units().copies();
    copies.load(copies.box_of(map, rank, coordinates, to, site), to, barrier, site);
  }
}
EXPORT void isomer_emulator_box_store(const void* map, int rank, const int* coordinates, unsigned from) {
  const watch::Site site = SITE;
  hopper::Copies& copies = units().copies();
  copies.store(copies.box_of(map, rank, coordinates, from, site), from, site);
}
EXPORT void isomer_emulator_stretch_load(const void* from, unsigned bytes, unsigned to, unsigned barrier) {
  const watch::Site site = SITE;
  hopper::Copies& copies = units().copies();
  copies.load(copies.stretch_of(const_cast<void*>(from), bytes, to, site), to, barrier, site);
}
EXPORT void isomer_emulator_stretch_store(void* to, unsigned bytes, unsigned from) {
  const watch::Site site = SITE;
  hopper::Copies& copies = units().copies();
  copies.store(copies.stretch_of(to, bytes, from, site), from, site);
}
EXPORT void isomer_emulator_stores_commit() { units().copies().commit(); }
EXPORT void isomer_emulator_stores_wait(unsigned groups) { units().copies().wait(groups); }

EXPORT void isomer_emulator_product_fence() { warpgroup().fence(SITE); }
EXPORT void isomer_emulator_product_commit() { warpgroup().commit(SITE); }
EXPORT void isomer_emulator_product_wait(unsigned groups) { warpgroup().wait(groups, SITE); }
EXPORT void isomer_emulator_product(const isomer::emulator::ProductRequest* request, float* d,
                                    const unsigned* a) {
  hopper::ProductShape shape;
  shape.element = static_cast<hopper::Element>(request->element);
  shape.columns = request->columns;
  shape.a_in_registers = a != nullptr;
  shape.a_transposed = request->a_transposed;
  shape.b_transposed = request->b_transposed;
  shape.accumulate = request->accumulate;
  shape.negative = request->negative;
  shape.a = a == nullptr ? request->a : 0;
  shape.b = request->b;
  warpgroup().issue(shape, d, a, SITE);
}
EXPORT void isomer_emulator_product_scattered() {
  units().tell(Kind::copy_misuse, SITE, {},
               "issues a product whose accumulators do not lie one behind the other in one array: the emulator "
               "carries out no other");
  units().stop();
}

EXPORT void isomer_emulator_set_registers(unsigned registers, int takes) {
  units().registers().set(registers, takes != 0, SITE);
}
EXPORT void isomer_emulator_words_beside(const char* file) { watch::add_words_beside(file); }
}
