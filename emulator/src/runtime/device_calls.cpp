// What a device thread calls: the C entries behind the device headers.
#include <fmt/format.h>
#include <algorithm>
#include <bit>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "execution/async_copies.hpp"
#include "execution/worker.hpp"
#include "isomer_emulator/abi.h"
#include "runtime/errors.hpp"
#include "watch/order.hpp"
#include "watch/reporter.hpp"

using namespace isomer::emulator;

#define EXPORT __attribute__((visibility("default")))
#define SITE __builtin_return_address(0)

namespace {

void tell_outside(const void* site, int what, const std::string& element) {
  static constexpr const char* kVerbs[] = {"reads", "writes", "takes the address of"};
  watch::report_event(what == 1 ? Kind::out_of_bounds_write : Kind::out_of_bounds_read, site,
                      fmt::format("{} {}", kVerbs[what], element));
}

/// The running thread goes on with what these lanes left.
void take_guesses(const Meeting& meeting, std::uint64_t lanes) {
  if (meeting.guessed & meeting.members & lanes) current_thread()->clock.guesses = true;
}

/// What lies there is another variable of the thread's, or what its calls return to.
[[noreturn]] void end_thread() {
  current_block()->launch().error = error::illegal_address;
  current_block()->kill_current();
}

}  // namespace

extern "C" {

EXPORT int isomer_emulator_barrier(int combine, int predicate) {
  return current_block()->barrier(combine, predicate, SITE);
}
EXPORT void isomer_emulator_named_barrier(unsigned id, unsigned threads) {
  current_block()->named_barrier(id, threads, true, SITE);
}
EXPORT void isomer_emulator_named_arrive(unsigned id, unsigned threads) {
  current_block()->named_barrier(id, threads, false, SITE);
}
EXPORT void isomer_emulator_shuffle(std::uint64_t mask, void* value, unsigned bytes, unsigned source) {
  Block& block = *current_block();
  Meeting* meeting = block.meet(mask, WarpOp::shuffle, value, bytes, SITE);
  if ((meeting->members >> source) & 1) {
    std::memcpy(value, meeting->values[source], bytes);
    take_guesses(*meeting, std::uint64_t{1} << source);
  } else {
    // Undefined on the device. AMD's hardware gives zero; on NVIDIA's it is whatever the register held: so
    // large a number that no maximum hides it, as it does NaN.
    std::memset(value, block.launch().hip ? 0 : 0x7f, bytes);
    if (block.launch().watch) {
      watch::report_event(
          Kind::warp_divergence, SITE,
          "reads the value of lane " + std::to_string(source) + ", which does not take part in the shuffle");
    }
  }
  block.part(meeting);
}
EXPORT Votes isomer_emulator_vote(std::uint64_t mask, int predicate) {
  Block& block = *current_block();
  const unsigned char yes = predicate != 0;
  Meeting* meeting = block.meet(mask, WarpOp::vote, &yes, 1, SITE);
  Votes votes{0, meeting->members};
  for (std::uint64_t m = meeting->members; m; m &= m - 1) {
    const int lane = std::countr_zero(m);
    if (meeting->values[lane][0]) votes.ballot |= std::uint64_t{1} << lane;
  }
  block.part(meeting);
  return votes;
}
EXPORT Votes isomer_emulator_match(std::uint64_t mask, std::uint64_t value) {
  Block& block = *current_block();
  Meeting* meeting = block.meet(mask, WarpOp::match, &value, sizeof value, SITE);
  Votes votes{0, meeting->members};
  for (std::uint64_t m = meeting->members; m; m &= m - 1) {
    const int lane = std::countr_zero(m);
    if (std::memcmp(meeting->values[lane], &value, sizeof value) == 0)
      votes.ballot |= std::uint64_t{1} << lane;
  }
  block.part(meeting);
  return votes;
}
EXPORT std::uint64_t isomer_emulator_reduce(std::uint64_t mask, int op, std::uint64_t value) {
  Block& block = *current_block();
  Meeting* meeting = block.meet(mask, WarpOp::reduce, &value, sizeof value, SITE);
  const auto at = [&](int lane) {
    std::uint64_t v;
    std::memcpy(&v, meeting->values[lane], sizeof v);
    return v;
  };
  take_guesses(*meeting, meeting->members);
  std::uint64_t m = meeting->members, result = at(std::countr_zero(m));
  for (m &= m - 1; m; m &= m - 1) {
    const std::uint64_t v = at(std::countr_zero(m));
    const auto a = static_cast<std::int64_t>(result), b = static_cast<std::int64_t>(v);
    switch (op) {
      case 0:
        result += v;
        break;
      case 1:
        result = a < b ? result : v;
        break;
      case 2:
        result = a > b ? result : v;
        break;
      case 3:
        result = std::min(result, v);
        break;
      case 4:
        result = std::max(result, v);
        break;
      case 5:
        result &= v;
        break;
      case 6:
        result |= v;
        break;
      default:
        result ^= v;
        break;
    }
  }
  block.part(meeting);
  return result;
}
EXPORT void isomer_emulator_warp_barrier(std::uint64_t mask) {
  Block& block = *current_block();
  block.part(block.meet(mask, WarpOp::sync, nullptr, 0, SITE));
}
EXPORT unsigned isomer_emulator_lane() { return current_thread()->lane; }
EXPORT void* isomer_emulator_shared(SharedSite* site) { return current_block()->shared(*site); }
EXPORT void* isomer_emulator_dynamic_shared() { return current_block()->dynamic_shared(); }
EXPORT std::size_t isomer_emulator_dynamic_shared_bytes() {
  return current_block()->launch().request.shared_bytes;
}
EXPORT void isomer_emulator_scope(int block_only) {
  Thread* const t = current_thread();
  if (!t) return;
  t->clock.deals();
  t->clock.scope = block_only ? watch::Scope::block : watch::Scope::device;
}
EXPORT void isomer_emulator_fence(int scope) {
  Thread* t = current_thread();
  if (!t) return;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (current_block()->launch().watch)
    watch::fence(*current_block(), *t, scope == 0 ? watch::Scope::block : watch::Scope::device);
}
EXPORT void isomer_emulator_yield() {
  isomer_emulator_patience = 256;
  if (current_thread()) current_block()->yield(SITE);
}
EXPORT void isomer_emulator_patient() {
  if (--isomer_emulator_patience > 0) return;
  isomer_emulator_patience = 256;
  if (current_thread()) current_block()->yield(SITE);
}
EXPORT void isomer_emulator_copy_begins(void* to, const void* from, unsigned bytes, unsigned from_bytes) {
  from_bytes = std::min(from_bytes, bytes);
  if (current_block()->launch().watch) {
    current_block()->copies().copy(to, from, bytes, from_bytes, {SITE, current_thread()->clock.calls});
    return;
  }
  std::memcpy(to, from, from_bytes);
  std::memset(static_cast<std::byte*>(to) + from_bytes, 0, bytes - from_bytes);
}
EXPORT void isomer_emulator_copies_commit() {
  if (current_block()->launch().watch) current_block()->copies().commit();
}
EXPORT void isomer_emulator_copies_wait(unsigned groups) {
  if (current_block()->launch().watch) current_block()->copies().wait(groups);
}
EXPORT void isomer_emulator_copies_wait_for_all() {
  if (current_block()->launch().watch) current_block()->copies().wait_for_all();
}
EXPORT void isomer_emulator_returns() {
  if (Thread* t = current_thread()) t->returned_early = true;
}
EXPORT void isomer_emulator_saturates(double value, const char* from, const char* to) {
  if (current_thread() && current_block()->launch().watch) watch::report_cast(SITE, value, from, to, true);
}
EXPORT void isomer_emulator_outside_array(const char* array, long long index, unsigned long long count,
                                          int what) {
  if (!current_thread() || !current_block()->launch().watch) return;
  tell_outside(SITE, what,
               fmt::format("element {} of the {}array {}, which has {}", index,
                           std::strchr(array, '.') ? "" : "local ", array, count));
  end_thread();
}
EXPORT void isomer_emulator_outside_member(const char* array, long long index, unsigned long long count,
                                           int what, const volatile void* object, const volatile void* end,
                                           const volatile void* element) {
  if (!current_thread() || !current_block()->launch().watch) return;
  const bool inside = element >= object && element < end;
  const Buffer* const buffer = Memory::instance().find(const_cast<const void*>(object));
  // What lies outside of the buffer is told by its address.
  if (buffer != nullptr && (element < buffer->begin || element >= buffer->end())) return;
  tell_outside(SITE, what,
               fmt::format("element {} of the array {}, which has {}: {}", index, array, count,
                           inside ? "another member of the structure lies there"
                                  : "it lies outside of the structure"));
  if (buffer == nullptr && !inside) end_thread();
}
EXPORT void isomer_emulator_unwritten(const char* variable, long long index) {
  if (!current_thread() || !current_block()->launch().watch) return;
  watch::report_event(Kind::uninitialised_read, SITE,
                      index < 0
                          ? fmt::format("reads its variable {}, to which nothing has been written", variable)
                          : fmt::format("reads element {} of its array {}, to which nothing has been written",
                                        index, variable),
                      Where::local);
}
EXPORT void isomer_emulator_unwritten_row(const char* variable, unsigned long long index,
                                          const unsigned long long* sizes, unsigned rank) {
  if (!current_thread() || !current_block()->launch().watch) return;
  std::string at;
  for (unsigned level = rank; level-- > 1; index /= sizes[level])
    at = fmt::format("[{}]", index % sizes[level]) + at;
  watch::report_event(Kind::uninitialised_read, SITE,
                      fmt::format("reads {}[{}]{}, to which nothing has been written", variable, index, at),
                      Where::local);
}
EXPORT void isomer_emulator_grid_barrier() { current_block()->grid_barrier(SITE); }
EXPORT void isomer_emulator_launch_bounds(unsigned threads) {
  Block* block = current_block();
  if (!block || threads == 0 || block->size() <= threads) return;
  Launch& launch = block->launch();
  refuse(error::invalid_value, std::string(launch.request.kernel) + ": launched with " +
                                   std::to_string(block->size()) +
                                   " threads a block, its launch bounds allow " + std::to_string(threads));
  launch.fail(error::invalid_value);
  block->abandon();
}
EXPORT void isomer_emulator_cluster_dims(unsigned x, unsigned y, unsigned z) {
  Block* block = current_block();
  x = std::max(x, 1u);
  if (!block || (x == block->launch().cluster && y <= 1 && z <= 1)) return;
  Launch& launch = block->launch();
  if (y > 1 || z > 1 || launch.cluster > 1) {
    refuse(error::invalid_configuration,
           fmt::format(
               "{}: its clusters are ({},{},{}), launched with {} along x; the emulator has clusters along x "
               "alone",
               launch.request.kernel, x, y, z, launch.cluster));
    launch.fail(error::invalid_configuration);
  } else {
    launch.run_again_in_clusters(x);
  }
  block->abandon();
}
EXPORT void isomer_emulator_trap(const char* what) {
  if (!current_thread()) __builtin_trap();
  watch::report_event(Kind::trap, SITE, what);
  current_block()->launch().fail(error::launch_failure);
  current_block()->abandon();
}
EXPORT int isomer_emulator_on_device() { return current_thread() != nullptr; }
EXPORT long long isomer_emulator_clock() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

// assert() of the C library, as a device thread reaches it.
EXPORT void __wrap___assert_fail(const char* expression, const char* file, unsigned line,
                                 const char* function) {
  if (!current_thread()) {
    std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, expression);
    std::abort();
  }
  watch::report_assertion(SITE, expression, {file, line});
  current_block()->launch().fail(error::assertion);
  current_block()->abandon();
}
EXPORT void __wrap_abort() {
  if (!current_thread()) std::abort();
  watch::report_event(Kind::trap, SITE, "calls abort");
  current_block()->launch().fail(error::launch_failure);
  current_block()->abandon();
}
}
