// Collects what went wrong while device threads run, and turns it into reports with source places afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "execution/worker.hpp"
#include "isomer/emulator/report.hpp"
#include "memory/memory.hpp"

namespace isomer::emulator::watch {

/// A position in the code: an address, and the calls that led there.
struct Site {
  const void* pc = nullptr;
  std::vector<const void*> calls;
};

/// What the running device thread did wrong, at `site`; `text` is the predicate of the sentence, `where` what
/// it touched.
void report_event(Kind kind, const void* site, const std::string& text, Where where = Where::buffer);
/// An assertion of the running thread's, which says its own place.
void report_assertion(const void* site, const std::string& expression, Place place);
void report_access(Kind kind, const void* site, const Buffer* buffer, const void* address, std::size_t bytes,
                   Where where = Where::buffer);
/// It passes a warp operation a mask that does not name its own lane.
void report_unnamed_lane(const void* site, unsigned lane, unsigned lanes);
/// What two accesses are that race: any, a volatile and a volatile or atomic one of a word, or two atomics of
/// which one reaches its own block only. Of words it is told where neither stands in a loop that waits.
/// `looks`: a plain read and an atomic that changes the word. `earlier`: where the running thread has read
/// the same word before; where that is such a loop, it is not told either.
enum class RaceOf : std::uint8_t { accesses, words, scopes, looks };
void report_race(const void* site, const Buffer& buffer, const void* address, std::size_t bytes, bool writes,
                 std::uint64_t other_block, std::uint32_t other_thread, std::uint32_t other_site,
                 bool other_writes, RaceOf what = RaceOf::accesses, const void* earlier = nullptr);
/// Two stores race whose second has not been made yet: only then its value is known.
extern bool any_pending_store;
void settle_pending_store();
/// The running thread compares and swaps the word that it has just read here.
void looks_before_swap(const void* site);
/// The running thread was seen to wait at this place.
void waits_at(Block& block, const void* site);
/// What `thread`, running or not, did wrong at `at`; `{other}` in the sentence stands for the second place.
void report_violation(Kind kind, Block& block, const Thread& thread, const Site& at, const Site& other,
                      const std::string& text);
/// The running thread casts a value to an integer that cannot hold it.
/// `saturated`: the run goes on with what the device gives.
void report_cast(const void* site, double value, const char* from, const char* to, bool saturated = false);
/// The running thread uses what the host has freed.
void report_freed(const void* site, const Buffer& buffer, const void* address, std::size_t bytes,
                  bool writes);
/// Host code touches what a copy, or the kernel that is named, may still be using.
struct HostTouch {
  const void* address = nullptr;
  std::size_t bytes = 0;
  bool writes = false, other_writes = false;
  const void* other_site = nullptr;  ///< of the copy's call, or of the kernel's access
  std::string kernel;
};
void report_host_race(const void* site, const HostTouch& touch);
/// Buffers that are live when the program ends, one for each place that allocated some.
void report_leaks();
void report_divergence(Block& block, const Thread& a, const Thread& b);
/// A thread waits at a barrier that another has left out.
void report_left_out(Block& block, const Thread& waits, const Thread& ended);
void report_deadlock(Block& block);
/// A canary behind a buffer was overwritten, and nothing that was seen explains it.
void report_canary(const Launch& launch, const Buffer& buffer, std::ptrdiff_t offset);

/// Numbers for code addresses, so that the shadow keeps four bytes instead of eight.
std::uint32_t new_site_number(const void* pc);
inline KnownSite& known_site(const Block& block, const void* pc) {
  return block.known_sites()[reinterpret_cast<std::uintptr_t>(pc) % kKnownSites];
}
inline std::uint32_t site_number(const Block& block, const void* pc) {
  KnownSite& known = known_site(block, pc);
  if (known.pc == pc && known.number != 0) return known.number;
  known = {pc, new_site_number(pc)};
  return known.number;
}
const void* site_of(std::uint32_t number);

/// How many different reports there are; the watch gives up counting at a thousand.
std::size_t report_count();
/// Resolves places (one addr2line run for each module) and hands the reports over.
std::vector<Report> take_reports();

}  // namespace isomer::emulator::watch
