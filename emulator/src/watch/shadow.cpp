#include "watch/shadow.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include <fmt/format.h>

#include "execution/async_copies.hpp"
#include "execution/worker.hpp"
#include "hopper/units.hpp"
#include "memory/module_images.hpp"
#include "memory/reserve.hpp"
#include "memory/thread_sanitizer.hpp"
#include "runtime/errors.hpp"
#include "runtime/settings.hpp"
#include "watch/claims.hpp"
#include "watch/guesses.hpp"
#include "watch/host_order.hpp"
#include "watch/order.hpp"
#include "watch/reporter.hpp"
#include "watch/undo.hpp"

namespace isomer::emulator::watch {

Shadow shadow_of_memory;

namespace {

void reserve_shadow() {
  static const bool done = [] {
    const std::size_t bytes = Memory::instance().reserved();
    shadow_of_memory = {reserve<Cell>(bytes / kWord), reserve<Cell>(bytes), reserve<std::uint8_t>(bytes),
                        Memory::instance().base()};
    return true;
  }();
  (void)done;
}

inline Shadow& shadow() {
  if (shadow_of_memory.words == nullptr) reserve_shadow();
  return shadow_of_memory;
}


// Whole pages go back to the system, which hands out zeros; the rest is cleared by hand.
template <class T>
void clear(T* begin, std::size_t count) {
  auto lo = reinterpret_cast<std::uintptr_t>(begin), hi = lo + count * sizeof(T);
  const std::uintptr_t page_lo = (lo + 4095) & ~std::uintptr_t{4095}, page_hi = hi & ~std::uintptr_t{4095};
  if (page_hi > page_lo + (std::size_t{1} << 20)) {
    madvise(reinterpret_cast<void*>(page_lo), page_hi - page_lo, MADV_DONTNEED);
    std::memset(begin, 0, page_lo - lo);
    std::memset(reinterpret_cast<void*>(page_hi), 0, hi - page_hi);
  } else {
    std::memset(static_cast<void*>(begin), 0, count * sizeof(T));
  }
}

// threadIdx and its kin are variables of this operating-system thread; some compilers hook their reads.
bool is_builtin_variable(const std::byte* at) {
  const auto inside = [at](const auto& variable) {
    const auto* begin = reinterpret_cast<const std::byte*>(&variable);
    return at >= begin && at < begin + sizeof variable;
  };
  return inside(threadIdx) || inside(blockIdx) || inside(blockDim) || inside(gridDim) ||
         inside(isomer_emulator_patience);
}

bool wraps_into(const Buffer& b, const void* address, std::size_t bytes) {
  const auto offset = reinterpret_cast<std::intptr_t>(address) - reinterpret_cast<std::intptr_t>(b.begin);
  for (std::intptr_t size = 1; size <= 16; size *= 2) {
    const std::intptr_t turned = offset + (std::intptr_t{1} << 32) * size;
    if (size >= static_cast<std::intptr_t>(bytes) / 4 && turned >= 0 &&
        turned + static_cast<std::intptr_t>(bytes) <= static_cast<std::intptr_t>(b.bytes)) {
      return true;
    }
  }
  return false;
}

constexpr std::uintptr_t kFar = std::uintptr_t{1} << 30;  // bytes: no buffer is meant by such an address

std::uintptr_t away(const Buffer& b, const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address),
             begin = reinterpret_cast<std::uintptr_t>(b.begin);
  return at < begin ? begin - at : at - begin < b.bytes ? 0 : at - begin - b.bytes;
}

[[gnu::noinline]] void out_of_bounds(Block& block, Buffer* owner, const void* address, std::size_t bytes,
                                     unsigned how, const void* site) {
  Memory& memory = Memory::instance();
  const bool writes = (how & write) != 0;
  if (owner && !owner->live) {
    report_freed(site, *owner, address, bytes, writes);
    block.launch().error = error::illegal_address;
    block.kill_current();
  }
  Buffer* near = owner && owner->live ? owner : nullptr;
  // Nobody's pages between shared arrays: an index of one leads there.
  if (!near && memory.is_of_shared_arrays(address)) near = memory.nearest(address, &block);
  if (!near) near = memory.nearest(address, nullptr);
  Kind kind = writes ? Kind::out_of_bounds_write : Kind::out_of_bounds_read;
  if (!owner) {
    for (Buffer* b : memory.live_buffers()) {
      if (b->bytes > (std::size_t{1} << 31) && wraps_into(*b, address, bytes)) {
        near = b;
        kind = Kind::index_overflow;
        break;
      }
    }
  }
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const bool nowhere = at < 65536;
  // The program went on without the memory that it did not get, which was said with the refusal: so low lies
  // nothing but a null pointer with an index.
  constexpr std::uintptr_t kLowest = std::uintptr_t{1} << 40;
  if (settings().allocation_refused && at < kLowest) {
    block.launch().error = error::illegal_address;
    block.kill_current();
  }
  if (!owner && near && !nowhere && kind != Kind::index_overflow && away(*near, address) > kFar) {
    report_access(kind, site, nullptr, address, bytes, Where::nowhere);
  } else if (!owner && !memory.contains(address)) {
    if (kind != Kind::index_overflow) {
      report_access(kind, site, nowhere ? nullptr : near, address, bytes,
                    nowhere ? Where::null : Where::host_memory);
    } else {
      report_access(kind, site, near, address, bytes);
    }
  } else {
    report_access(kind, site, near, address, bytes);
  }
  // On the buffer's own pages the access does no harm and the thread may show more; elsewhere it would fault.
  if (owner && owner->live) return;
  // With a guess for an index it says nothing of the program.
  if (!current_thread()->clock.guesses) block.launch().error = error::illegal_address;
  block.kill_current();
}

/// From now on each byte of the word has a cell of its own.
void split(std::size_t word) {
  Cell& cell = shadow().words[word];
  if (cell.written.site & kSplit) return;
  std::fill_n(&shadow().bytes[word * kWord], kWord, cell);
  cell.written.site |= kSplit;
}

/// What an access is to others, as its entries carry it.
std::uint32_t marks_of(const watch::ThreadClock& clock, unsigned how) {
  return (how & atomic ? kAtomic : 0u) | (how & volatile_word ? kVolatile : 0u) |
         ((how & atomic) && clock.scope == Scope::block ? kOfBlock : 0u) |
         ((how & (atomic | volatile_word)) && clock.just_fenced ? kAfterFence : 0u);
}

void check_races(Block& block, Thread& thread, const Buffer& buffer, const void* address, std::size_t bytes,
                 unsigned how, const void* site) {
  const std::uint32_t mine = segment_of(block, thread), marks = marks_of(thread.clock, how);
  const std::uint32_t at = site_number(block, site) | marks;
  const bool strong = (marks & (kAtomic | kVolatile)) != 0;
  const bool at_once = strong || buffer.space == Space::shared;
  std::size_t at_byte = position(buffer, address);
  bool reported = false;
  // Atomics agree among themselves unless one reaches its block only and the other is of another.
  const auto conflicts = [&](const Entry& e) {
    if (e.segment == 0 || e.segment == mine) return false;
    if ((marks & kAtomic) && (e.site & kAtomic) &&
        (!((marks | e.site) & kOfBlock) || segment(e.segment).block == block.linear()))
      return false;
    return !ordered(e.segment, block, thread, at_once);
  };
  const auto tell = [&](const Entry& e, bool other_writes) {
    if (reported) return;
    reported = true;
    const bool scoped = (marks & kAtomic) && (e.site & kAtomic);
    const bool flag = strong && !scoped && (e.site & (kAtomic | kVolatile));
    // A flag that is set behind a fence and read by a volatile or atomic access.
    if (flag && !(how & write) != !other_writes && ((how & write ? marks : e.site) & kAfterFence)) return;
    const Segment& s = segment(e.segment);
    RaceOf what = scoped ? RaceOf::scopes : flag ? RaceOf::words : RaceOf::accesses;
    // A plain read of a word that an atomic of another changes may be the first look of a compare-and-swap.
    const bool one_reads = !(how & write) != !other_writes;
    if (what == RaceOf::accesses && one_reads && ((how & write ? marks : e.site) & kAtomic))
      what = RaceOf::looks;
    const bool again = what == RaceOf::words && !(how & write) && thread.clock.word == address &&
                       thread.clock.word_at != site;
    report_race(site, buffer, address, bytes, (how & write) != 0, s.block, s.thread, e.site & kNumber,
                other_writes, what, again ? thread.clock.word_at : nullptr);
  };
  const auto touch = [&](Cell& cell) {
    if (conflicts(cell.written)) tell(cell.written, true);
    if (how & write) {
      for (const Entry& e : {cell.read_first, cell.read_latest})
        if (conflicts(e) && !read_before(e.segment, block, thread)) tell(e, false);
      cell.written = {mine, at};
      cell.read_first = cell.read_latest = {0, 0};
    } else if (cell.read_latest.segment != mine) {
      if (cell.read_first.segment == 0 || ordered(cell.read_first.segment, block, thread, at_once)) {
        cell.read_first = {mine, at};
      } else {
        cell.read_latest = {mine, at};
      }
    }
  };
  const bool beside = block.is_beside() && buffer.space != Space::shared;
  for (const std::size_t end = at_byte + bytes; at_byte < end;) {
    if (beside && is_read_by_several(at_byte)) {
      at_byte = (at_byte / kWord + 1) * kWord;
      continue;
    }
    Cell& word = shadow().words[at_byte / kWord];
    if (at_byte % kWord == 0 && end - at_byte >= kWord && !(word.written.site & kSplit)) {
      touch(word);
      at_byte += kWord;
    } else {
      split(at_byte / kWord);
      touch(shadow().bytes[at_byte++]);
    }
  }
}

/// Whoever reads one word again and again and writes nothing meanwhile waits for it.
void note_polling(Block& block, watch::ThreadClock& clock, const void* address, unsigned how, const void* site) {
  if ((how & (atomic | volatile_word)) && (how & read)) {
    if (clock.polled == address && clock.polled_at == site) waits_at(block, site);
    clock.deals();
    clock.polled = address;
    clock.polled_at = site;
    if (clock.word != address) {
      clock.word = address;
      clock.word_at = site;
    }
  } else if (how & write) {
    clock.polled = nullptr;
  }
}

/// Of shared memory: whether another byte of the word around `i` was written. What fills a word up behind a
/// thread's values is only copied with them.
bool fills_word_up(const Buffer& buffer, const std::byte* at, std::size_t i, std::size_t bytes) {
  const std::size_t word = std::min<std::size_t>(bytes, 8);
  if (buffer.space != Space::shared || word < 4 || reinterpret_cast<std::uintptr_t>(at) % word != 0)
    return false;
  const std::uint8_t* written = &shadow().written[position(at + i / word * word)];
  return std::any_of(written, written + word, [](std::uint8_t w) { return w != 0; });
}

void tell_under_way(Thread& thread, const Buffer& buffer, const std::byte* at, const void* site) {
  Block& block = *current_block();
  const Site* begun = block.used_copies() ? block.used_copies()->begun_at(at) : nullptr;
  report_violation(Kind::in_flight, block, thread, {site, thread.clock.calls}, begun ? *begun : Site{},
                   fmt::format("reads shared memory at offset {} of {} that {} still writes: its thread has "
                               "not waited for it (cp.async.wait_group)",
                               at - buffer.begin, buffer.name,
                               begun ? "the copy at {other}" : "a copy of a thread that has ended"));
}

void tell_unwritten(Thread& thread, Buffer& buffer, const std::byte* at, std::size_t bytes,
                    const void* site) {
  if (buffer.initialised) return;
  const std::uint8_t* written = &shadow().written[position(at)];
  for (std::size_t i = 0; i < bytes; ++i) {
    if (written[i] == kUnderWay) return tell_under_way(thread, buffer, at + i, site);
    if (written[i] || fills_word_up(buffer, at, i, bytes)) continue;
    if (buffer.sampled) {
      thread.clock.guesses = true;
      return;
    }
    report_access(Kind::uninitialised_read, site, &buffer, at + i, bytes);
    return;
  }
}

/// An access to what is not the thread's own stack.
[[gnu::noinline]] void judge(Thread& thread, const void* address, std::size_t bytes, unsigned how,
                             const void* site) {
  const auto* at = static_cast<const std::byte*>(address);
  Block& block = *Worker::current()->block();
  Launch& launch = block.launch();
  if (!launch.watch) {
    if (how & write) mark_written(address, bytes);
    return;
  }
  if (launch.step_limit != 0 && launch.watched_steps++ >= launch.step_limit) {
    report_event(
        Kind::step_limit, site,
        "was still running after " + std::to_string(launch.step_limit) + " memory accesses of the launch");
    launch.fail(error::launch_timeout);
    block.abandon();
  }
  if (how & (atomic | volatile_word)) {
    thread.clock.deals();
    if (++thread.clock.spins % 64 == 0) block.yield(site);
  }
  Memory& memory = Memory::instance();
  Buffer* buffer = memory.page_owner(at);
  if (!buffer) buffer = variable_at(at);
  if (!buffer || !buffer->live || at < buffer->begin || at + bytes > buffer->end()) {
    if (!buffer) {
      if (is_builtin_variable(at)) return;
      const auto* package = static_cast<const std::byte*>(launch.request.package);
      if (at >= package && at < package + launch.request.package_bytes) return;
      if (in_image(at) || memory.in_host_range(at)) {
        if ((how & write) && !thread.initialises) block.run_alone();
        return;
      }
    }
    out_of_bounds(block, buffer, address, bytes, how, site);
    return;
  }
  if (buffer->space == Space::variable && buffer->input) {
    if (how & write) report_event(Kind::writes_input, site, "writes constant memory");
    return;
  }
  if (buffer->space == Space::shared && block.is_mate(buffer->owner) && buffer->owner != &block) {
    // Which accesses a cluster's barriers order is not kept: what blocks of one do to each other is taken as
    // ordered.
    if (how & write)
      set_written(at, bytes, 0, 0);
    else
      tell_unwritten(thread, *buffer, at, bytes, site);
    return;
  }
  if (buffer->space == Space::shared && buffer->owner != &block) {
    report_access(how & write ? Kind::out_of_bounds_write : Kind::out_of_bounds_read, site, buffer, address,
                  bytes, Where::shared);
  }
  if ((how & typed) && (reinterpret_cast<std::uintptr_t>(at) & (bytes - 1)) != 0) {
    report_access(Kind::misaligned, site, buffer, address, bytes);
  }
  if ((how & write) && buffer->input) report_access(Kind::writes_input, site, buffer, address, bytes);
  if (buffer->space == Space::shared) {
    if (hopper::Units* units = block.used_units()) units->touch(address, bytes, (how & write) != 0, site);
  }
  if (block.is_beside() && buffer->space != Space::shared && ((how & write) || !buffer->input)) {
    if (how & (atomic | volatile_word)) block.await_turn();
    claim(block, *buffer, at, bytes, (how & write) != 0);
  }
  std::uint8_t* written = &shadow().written[position(*buffer, at)];
  if ((how & read) && !(how & exchange)) tell_unwritten(thread, *buffer, at, bytes, site);
  if (buffer->input && !(how & write) && buffer->initialised)
    return;  // nobody may write it, so nobody can race
  note_polling(block, thread.clock, address, how, site);
  if ((how & lock) && thread.clock.looked == address) {
    block.await_turn();
    looks_before_swap(thread.clock.looked_at);
  }
  if (!(how & (write | atomic | volatile_word))) {
    thread.clock.looked = address;
    thread.clock.looked_at = site;
  }
  // What a guess has led to is no evidence against others either.
  if (!thread.clock.guesses) check_races(block, thread, *buffer, address, bytes, how, site);
  if (how & write) {
    if (!block.is_beside()) buffer->touched = true;
    // What comes of a guess is one too.
    if (thread.clock.guesses) {
      buffer->sampled = true;
      if (buffer->space != Space::managed && buffer->space != Space::variable) {
        if (buffer->initialised)
          std::memset(&shadow().written[position(*buffer, buffer->begin)], 1, buffer->bytes);
        buffer->initialised = false;
        std::memset(written, 0, bytes);
      }
    } else {
      std::memset(written, 1, bytes);
    }
    if (counts_a_sample && (how & atomic) && (how & read) && !(how & exchange)) note_count(address, bytes);
  }
  if (how & (atomic | volatile_word)) {
    const Scope scope = how & atomic ? thread.clock.scope : Scope::device;
    const bool own = buffer->space == Space::shared;
    if (how & read) pick_up(block, thread, address, own, scope, (how & lock) != 0, (how & acquire) != 0);
    if (how & write) publish(block, thread, address, own, scope, (how & release) != 0);
  }
  thread.clock.just_fenced = false;
}

}  // namespace

void access(const void* address, std::size_t bytes, unsigned how, const void* site) {
  settle_pending_store();
  Thread* const thread = current_thread();
  if (bytes == 0) return;
  if (thread == nullptr) {
    if (host_order::any_under_way.load(std::memory_order_relaxed))
      host_order::touched(address, bytes, how, site);
    return;
  }
  if (thread->fiber->contains(address)) {
    if (thread->has_registers_in_flight)
      Worker::current()->block()->units().touch_registers(*thread, address, bytes, (how & write) != 0, site);
    return;
  }
  judge(*thread, address, bytes, how, site);
  // Atomics are the emulator's own code.
  if (!(how & atomic)) tell_sanitizer(address, bytes, (how & write) != 0);
}

void misaligned(const void* address, std::size_t alignment, const void* site) {
  if (!current_thread()) return;
  const Buffer* buffer = Memory::instance().find(address);
  if (!buffer) buffer = variable_at(address);
  if (buffer) report_access(Kind::misaligned, site, buffer, address, alignment);
}

Touches touches(const void* at) {
  const Cell& word = shadow().words[position(at) / kWord];
  const Cell& c = word.written.site & kSplit ? shadow().bytes[position(at)] : word;
  return {c.written.segment,
          c.written.site & kNumber,
          c.read_first.segment,
          c.read_first.site & kNumber,
          c.read_latest.segment,
          c.read_latest.site & kNumber,
          shadow().written[position(at)] != 0};
}

void set_written(const void* at, std::size_t bytes, std::uint32_t segment, std::uint32_t site) {
  const Cell cell{{segment, site}, {0, 0}, {0, 0}};
  std::size_t at_byte = position(at);
  std::memset(&shadow().written[at_byte], 1, bytes);
  for (const std::size_t end = at_byte + bytes; at_byte < end;) {
    if (at_byte % kWord == 0 && end - at_byte >= kWord) {
      shadow().words[at_byte / kWord] = cell;
      at_byte += kWord;
    } else {
      split(at_byte / kWord);
      shadow().bytes[at_byte++] = cell;
    }
  }
}

void set_state(const void* at, std::size_t bytes, std::uint8_t state) {
  std::memset(&shadow().written[position(at)], state, bytes);
}

void reserve_all() {
  shadow();
  reserve_segments();
  reserve_claims();
  reserve_undo();
}

void expect_touches(Buffer& buffer) {
  constexpr std::size_t kLarge = std::size_t{4} << 20;
  if (buffer.bytes < kLarge || buffer.expected) return;
  buffer.expected = true;
  const std::size_t first = position(buffer, buffer.begin);
  expect_many(&shadow().words[first / kWord], buffer.bytes / kWord);
  expect_many(&shadow().written[first], buffer.bytes);
  if (claims.words != nullptr) expect_many(&claims.words[first / kWord], buffer.bytes / kWord);
}

void forget_who_touched() {
  if (shadow_of_memory.words == nullptr) return;
  const std::size_t bytes = Memory::instance().reserved();
  forget_pages(shadow_of_memory.words, bytes / kWord);
  forget_pages(shadow_of_memory.bytes, bytes);
}

void forget(Buffer& buffer) {
  clear(&shadow().words[position(buffer.begin) / kWord], (buffer.bytes + kWord - 1) / kWord);
  clear(&shadow().written[position(buffer.begin)], buffer.bytes);
}

bool host_wrote(Buffer& buffer) {
  Memory& memory = Memory::instance();
  if (!memory.is_poisoned(buffer)) return true;
  if (!buffer.in_shadow) forget(buffer);
  buffer.in_shadow = true;
  const std::uint8_t* written = &shadow().written[position(buffer.begin)];
  const std::byte poison{memory.poison()};
  bool all = true;
  for (std::size_t i = 0; i < buffer.bytes; ++i) {
    if (!written[i] && buffer.begin[i] != poison) return true;
    all &= written[i] != 0;
  }
  return all;
}

void mark_written(const void* address, std::size_t bytes) {
  Memory& memory = Memory::instance();
  Buffer* buffer = memory.find(address);
  if (!buffer) buffer = variable_at(address);
  if (!buffer || buffer->initialised) return;
  if (address == buffer->begin && bytes >= buffer->bytes) {
    buffer->initialised = true;
    // From here on they are what kernels have written since.
    if (settings().blocks != 0 && shadow_of_memory.written != nullptr)
      clear(&shadow().written[position(*buffer, buffer->begin)], buffer->bytes);
    return;
  }
  std::memset(&shadow().written[position(*buffer, address)], 1,
              std::min<std::size_t>(bytes, buffer->end() - static_cast<const std::byte*>(address)));
}

void copy_state(const void* to, const void* from, std::size_t bytes) {
  Memory& memory = Memory::instance();
  Buffer* target = memory.find(to);
  if (!target) return;
  Buffer* source = memory.find(from);
  if (!source || source->initialised) return mark_written(to, bytes);
  if (target->initialised) return;  // conservative: what was a value stays one
  target->sampled |= source->sampled;
  std::memcpy(&shadow().written[position(to)], &shadow().written[position(from)], bytes);
}

}  // namespace isomer::emulator::watch
