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

/// What the running device thread did wrong, at `site`; `text` is the predicate of the sentence.
void report_event(Kind kind, const void* site, const std::string& text);
void report_access(Kind kind, const void* site, const Buffer* buffer, const void* address, std::size_t bytes,
                   const std::string& text);
/// What two accesses are that race: any, a volatile and a volatile or atomic one of a word, or two atomics of
/// which one reaches its own block only. Of words it is told where neither stands in a loop that waits.
enum class RaceOf : std::uint8_t { accesses, words, scopes };
void report_race(const void* site, const Buffer& buffer, const void* address, std::size_t bytes, bool writes,
                 std::uint64_t other_block, std::uint32_t other_thread, std::uint32_t other_site,
                 bool other_writes, RaceOf what = RaceOf::accesses);
/// A thread was seen to wait at this place.
void waits_at(const void* site);
/// What `thread`, running or not, did wrong at `at`; `{other}` in the sentence stands for the second place.
void report_violation(Kind kind, Block& block, const Thread& thread, const Site& at, const Site& other,
                      const std::string& text);
void report_divergence(Block& block, const Thread& a, const Thread& b);
void report_deadlock(Block& block);
/// A canary behind a buffer was overwritten while nobody watched.
void report_canary(const Launch& launch, const Buffer& buffer, std::ptrdiff_t offset);

/// Numbers for code addresses, so that the shadow keeps four bytes instead of eight.
std::uint32_t site_number(const void* pc);
const void* site_of(std::uint32_t number);

/// How many different reports there are; the watch gives up counting at a thousand.
std::size_t report_count();
/// Resolves places (one addr2line run for each module) and hands the reports over.
std::vector<Report> take_reports();

}  // namespace isomer::emulator::watch
