#include "hopper/copies.hpp"

#include <cstring>

#include <fmt/format.h>

#include "execution/worker.hpp"
#include "hopper/units.hpp"
#include "watch/order.hpp"
#include "watch/shadow.hpp"

namespace isomer::emulator::hopper {
namespace {

constexpr std::uint32_t kBoxAlignment = 128, kStretchAlignment = 16;

}  // namespace

void Copies::begin() {
  loads_.clear();
  stores_.clear();
  of_thread_.assign(block_.size(), {});
}

Box Copies::box_of(const void* map, int rank, const int* coordinates, std::uint32_t shared,
                   const watch::Site& site) {
  Box box;
  std::memcpy(&box.map, map, sizeof box.map);
  std::string wrong;
  if (box.map.magic != TensorMap::kMagic)
    wrong = "uses a tensor map that nobody has encoded";
  else if (box.map.rank != rank)
    wrong = fmt::format("gives {} coordinates for a tensor map of rank {}", rank, int{box.map.rank});
  else if (box.map.swizzle != 0 && box.map.row_bytes() != box.map.swizzle)
    wrong = fmt::format(
        "copies a box whose rows of {} bytes are shorter than its swizzle of {}, which is not "
        "emulated",
        box.map.row_bytes(), int{box.map.swizzle});
  else if (box.map.swizzle != 0 &&
           static_cast<std::int64_t>(box.map.stride_bytes[0]) * coordinates[0] % kStretchAlignment != 0)
    wrong =
        fmt::format("copies a box of swizzled rows from byte {} of a row on, expected a multiple of {}",
                    static_cast<std::int64_t>(box.map.stride_bytes[0]) * coordinates[0], kStretchAlignment);
  else if (shared % kBoxAlignment != 0)
    wrong = fmt::format("copies a box at {}, expected a multiple of {}", block_.units().place(shared),
                        kBoxAlignment);
  else if (block_.shared_at(shared, box.map.bytes()) == nullptr)
    wrong = fmt::format("copies a box of {} bytes at {}, behind the end of shared memory", box.map.bytes(),
                        block_.units().place(shared));
  if (!wrong.empty()) {
    block_.units().tell(Kind::copy_misuse, site, {}, wrong);
    block_.units().stop();
  }
  for (int i = 0; i < rank; ++i) box.coordinates[i] = coordinates[i];
  box.bytes = static_cast<std::uint32_t>(box.map.bytes());
  return box;
}

Box Copies::stretch_of(void* global, std::uint32_t bytes, std::uint32_t shared, const watch::Site& site) {
  if (bytes == 0 || bytes % kStretchAlignment != 0 || shared % kStretchAlignment != 0 ||
      reinterpret_cast<std::uintptr_t>(global) % kStretchAlignment != 0 ||
      block_.shared_at(shared, bytes) == nullptr) {
    block_.units().tell(
        Kind::copy_misuse, site, {},
        fmt::format("copies {} bytes at {}: bytes and both addresses are multiples of {}, and "
                    "the end lies inside of shared memory",
                    bytes, block_.units().place(shared), kStretchAlignment));
    block_.units().stop();
  }
  Box box;
  box.global = static_cast<std::byte*>(global);
  box.bytes = bytes;
  return box;
}

void Copies::look_at_global(const Box& box, bool writes, const watch::Site& site) {
  if (!block_.launch().watch) return;
  const unsigned how = writes ? watch::write : watch::read;
  if (box.map.rank == 0) return watch::access(box.global, box.bytes, how, site.pc);
  // Rows may lie behind what was written, as those past an expert's count: nobody need look at what they
  // give. A box of which nothing was written is a mistake.
  std::vector<BoxRow> unwritten;
  bool some = false;
  for (std::size_t i = 0; i < box.map.rows(); ++i) {
    const BoxRow row = row_of(box.map, box.coordinates, i);
    if (row.global == nullptr) continue;
    const Buffer* buffer = Memory::instance().page_owner(row.global);
    if (writes || buffer == nullptr || buffer->initialised || buffer->sampled ||
        watch::touches(row.global).initialised) {
      some = true;
      watch::access(row.global, row.bytes, how, site.pc);
    } else {
      unwritten.push_back(row);
    }
  }
  for (const BoxRow& row : unwritten)
    watch::access(row.global, row.bytes, some ? how | watch::exchange : how, site.pc);
}

void Copies::load(const Box& box, std::uint32_t to, std::uint32_t barrier, const watch::Site& site) {
  Units& units = block_.units();
  const bool local = current_block() == &block_;  // or a copy into several blocks of a cluster
  Barrier& b = units.barriers().at(barrier, site);
  const std::uint32_t index = units.tiles().add(
      Filling{site, local ? block_.current().linear : 0, to, box.bytes, barrier, box.map.swizzle, false});
  if (block_.launch().watch && local) {
    if (!watch::ordered(b.init_segment, block_, block_.current()) ||
        !watch::proxied(b.init_segment, block_, block_.current()))
      units.tell(Kind::unseen_barrier, site, b.init_site,
                 fmt::format("copies for the barrier at {}, which the copy engine may not see yet: no "
                             "fence.mbarrier_init, and barrier of the block behind it, since {{other}}",
                             units.place(barrier)));
    look_at_global(box, false, site);
  }
  units.tiles().fill(index);
  std::memset(block_.shared_at(to, box.bytes), Memory::instance().poison(), box.bytes);
  loads_.resize(index);
  loads_[index - 1] = {box, false};
  b.copies.push_back(index);
}

std::uint32_t Copies::land(std::uint32_t index, std::uint32_t agent, std::uint32_t tick) {
  Tiles& tiles = block_.units().tiles();
  const Box& box = loads_[index - 1].box;
  const std::uint32_t to = tiles.filling(index).to;
  std::byte* const bytes = block_.shared_at(to, box.bytes);
  if (box.map.rank == 0) {
    std::memcpy(bytes, box.global, box.bytes);
  } else {
    std::vector<std::byte> line(box.map.row_bytes());
    for (std::size_t i = 0; i < box.map.rows(); ++i) {
      const BoxRow row = row_of(box.map, box.coordinates, i);
      std::memset(line.data(), 0, line.size());
      if (row.global != nullptr) std::memcpy(line.data() + row.skip, row.global, row.bytes);
      for (std::size_t c = 0; c < line.size(); c += Tiles::kGranule) {
        const auto plain = static_cast<std::uint32_t>(to + row.offset + c);
        std::memcpy(bytes + (swizzled(plain, box.map.swizzle) - to), line.data() + c, Tiles::kGranule);
      }
    }
  }
  tiles.land(index, agent, tick);
  loads_[index - 1].landed = true;
  return box.bytes;
}

/// The tensor ends inside of a row of the box. The hardware writes sixteen bytes at a time there: what lies
/// behind the tensor's row, in the same sixteen, is lost.
void Copies::look_behind_row(const Box& box, const BoxRow& row, const watch::Site& site) {
  if (!block_.launch().watch || row.skip + row.bytes >= box.map.row_bytes()) return;
  std::byte* const end = row.global + row.bytes;
  const std::size_t behind = (Tiles::kGranule - row.bytes % Tiles::kGranule) % Tiles::kGranule;
  const Buffer* buffer = Memory::instance().page_owner(row.global);
  if (behind == 0 || buffer == nullptr || !buffer->live) return;
  bool holds = buffer->initialised || buffer->sampled || end + behind > buffer->end();
  for (std::size_t i = 0; i < behind && !holds; ++i) holds = watch::touches(end + i).initialised;
  if (!holds) return;
  block_.units().tell(
      Kind::ragged_store, site, {},
      fmt::format("stores a row that ends inside of sixteen bytes: the hardware writes the {} "
                  "bytes behind it too, at offset {} of {} of {} bytes",
                  behind, end - buffer->begin, buffer->name.empty() ? "a buffer" : "buffer " + buffer->name,
                  buffer->bytes));
}

void Copies::store(const Box& box, std::uint32_t from, const watch::Site& site) {
  const std::uint32_t index = block_.units().tiles().add(Draining{site, block_.current().linear, 0});
  look_at_global(box, true, site);
  Tiles& tiles = block_.units().tiles();
  if (box.map.rank == 0) {
    tiles.drain(index, from, box.bytes);
  } else {
    // What lies outside of the tensor is not looked at.
    for (std::size_t i = 0; i < box.map.rows(); ++i) {
      const BoxRow row = row_of(box.map, box.coordinates, i);
      if (row.global == nullptr) continue;
      look_behind_row(box, row, site);
      const auto begin = static_cast<std::uint32_t>(row.skip / Tiles::kGranule * Tiles::kGranule);
      for (auto c = begin; c < row.skip + row.bytes; c += Tiles::kGranule)
        tiles.drain(index, swizzled(static_cast<std::uint32_t>(from + row.offset + c), box.map.swizzle),
                    Tiles::kGranule);
    }
  }
  stores_.resize(index);
  stores_[index - 1] = {box, from, false};
  of_thread_[block_.current().linear].open.push_back(index);
}

void Copies::commit() {
  Stores& mine = of_thread_[block_.current().linear];
  mine.groups.push_back(std::exchange(mine.open, {}));
}

void Copies::read_out(std::uint32_t index, Thread& thread) {
  Store& s = stores_[index - 1];
  if (s.done) return;
  s.done = true;
  const std::byte* const bytes = block_.shared_at(s.from, s.box.bytes);
  if (s.box.map.rank == 0) {
    std::memcpy(s.box.global, bytes, s.box.bytes);
  } else {
    std::vector<std::byte> line(s.box.map.row_bytes());
    for (std::size_t i = 0; i < s.box.map.rows(); ++i) {
      const BoxRow row = row_of(s.box.map, s.box.coordinates, i);
      if (row.global == nullptr) continue;
      for (std::size_t c = 0; c < line.size(); c += Tiles::kGranule) {
        const auto plain = static_cast<std::uint32_t>(s.from + row.offset + c);
        std::memcpy(line.data() + c, bytes + (swizzled(plain, s.box.map.swizzle) - s.from), Tiles::kGranule);
      }
      std::memcpy(row.global, line.data() + row.skip, row.bytes);
    }
  }
  if (block_.launch().watch) block_.units().tiles().draining(index).done = watch::segment_of(block_, thread);
}

void Copies::wait(unsigned groups) {
  Thread& self = block_.current();
  Stores& mine = of_thread_[self.linear];
  while (mine.groups.size() > groups) {
    for (const std::uint32_t store : mine.groups.front()) read_out(store, self);
    mine.groups.pop_front();
  }
}

void Copies::thread_ends(Thread& thread) {
  Stores& mine = of_thread_[thread.linear];
  mine.groups.push_back(std::exchange(mine.open, {}));
  for (const auto& group : mine.groups) {
    for (const std::uint32_t store : group) {
      watch::report_violation(Kind::unfinished, block_, thread, block_.units().tiles().draining(store).site,
                              {},
                              "ends without having waited for this bulk store, whose shared memory the next "
                              "block may be given");
      read_out(store, thread);
    }
  }
  mine.groups.clear();
}

void Copies::block_ends() {
  for (std::uint32_t i = 0; i < loads_.size(); ++i) {
    const Filling& f = block_.units().tiles().filling(i + 1);
    if (loads_[i].landed) continue;
    watch::report_violation(Kind::unfinished, block_, block_.thread(f.thread), f.site, {},
                            "leaves a bulk copy behind that nobody has waited for when the block ends");
  }
}

}  // namespace isomer::emulator::hopper
