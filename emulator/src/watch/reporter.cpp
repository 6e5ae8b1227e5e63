#include "watch/reporter.hpp"

#include <execinfo.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "hopper/units.hpp"
#include "watch/findings.hpp"
#include "watch/order.hpp"
#include "watch/places.hpp"

namespace isomer::emulator {

namespace watch {
namespace {

constexpr int kHostFrames = 24;

Index3 unravel(std::uint64_t linear, const dim3& dim) {
  return {static_cast<std::uint32_t>(linear % dim.x), static_cast<std::uint32_t>(linear / dim.x % dim.y),
          static_cast<std::uint32_t>(linear / dim.x / dim.y)};
}

std::string title(const Buffer& buffer) {
  const char* space = buffer.space == Space::shared     ? "shared array "
                      : buffer.space == Space::variable ? "variable "
                                                        : "buffer ";
  return (buffer.name.rfind("dynamic", 0) == 0 ? "" : space) +
         (buffer.name.empty() ? "allocated with " + std::to_string(buffer.bytes) + " bytes" : buffer.name);
}

const char* waits_in(const Thread& t) {
  switch (t.wait) {
    case Wait::barrier:
      return "the block's barrier";
    case Wait::named:
      return "a named barrier";
    case Wait::grid:
      return "the grid's barrier";
    case Wait::cluster:
      return "the cluster's barrier";
    case Wait::spin:
      return "a loop on an atomic or volatile variable";
    case Wait::meeting:
      switch (t.meeting->op) {
        case WarpOp::shuffle:
          return "a shuffle";
        case WarpOp::vote:
          return "a vote";
        case WarpOp::match:
          return "a match";
        case WarpOp::reduce:
          return "a warp reduction";
        default:
          return "a warp barrier";
      }
    default:
      return "nothing";
  }
}

/// Of what is no buffer's.
std::string_view words_of(Where where) {
  switch (where) {
    case Where::shared:
      return "which belongs to another block";
    case Where::null:
      return "through a null pointer";
    case Where::nowhere:
      return "far from every buffer: its index is no index of this launch";
    case Where::host_memory:
      return "in host memory, which the device cannot see";
    default:
      return {};
  }
}

std::string waits_for(Block& block, const Thread& t) {
  if (t.wait == Wait::units) return block.units().waits_for(t);
  return waits_in(t);
}

}  // namespace

void report_event(Kind kind, const void* site, const std::string& text, Where where) {
  Thread* thread = current_thread();
  if (!thread) return;
  Raw raw;
  raw.report.where = where;
  raw.predicate = text;
  add(kind, *current_block(), *thread, site, nullptr, std::move(raw));
}

void report_assertion(const void* site, const std::string& expression, Place place) {
  Raw raw;
  raw.report.asserted = expression;
  raw.report.place = std::move(place);
  raw.predicate = "fails the assertion " + expression;
  add(Kind::assertion, *current_block(), *current_thread(), site, nullptr, std::move(raw));
}

void report_violation(Kind kind, Block& block, const Thread& thread, const Site& at, const Site& other,
                      const std::string& text) {
  if (told(kind, at.pc, other.pc)) return;
  Raw raw;
  raw.report.where = Where::shared;  // where asynchronous units bring and take what they work on
  raw.predicate = text;
  raw.other.calls = other.calls;
  add(kind, block, thread, at.pc, other.pc, std::move(raw), &at.calls);
}

void report_access(Kind kind, const void* site, const Buffer* buffer, const void* address, std::size_t bytes,
                   Where where) {
  Thread* thread = current_thread();
  if (told(kind, site, nullptr)) return;
  Raw raw;
  raw.report.where = buffer && buffer->space == Space::shared ? Where::shared : where;
  const std::string_view text = words_of(where);
  raw.report.bytes = static_cast<std::uint32_t>(bytes);
  const char* verb = kind == Kind::out_of_bounds_write || kind == Kind::writes_input ? "writes" : "reads";
  if (kind == Kind::misaligned) verb = "touches";
  if (kind == Kind::index_overflow) verb = "touches";
  std::string said = fmt::format("{} {} byte{}", verb, bytes, bytes == 1 ? "" : "s");
  if (buffer) {
    raw.report.buffer = buffer->name;
    raw.report.offset = static_cast<const std::byte*>(address) - buffer->begin;
    const auto size = static_cast<std::int64_t>(buffer->bytes);
    const std::int64_t offset = raw.report.offset;
    switch (kind) {
      case Kind::out_of_bounds_read:
      case Kind::out_of_bounds_write:
        if (!text.empty()) {
          said += fmt::format(" {}", text);
          raw.report.buffer.clear();
        } else if (offset < 0) {
          said += fmt::format(" {} bytes before {} of {} bytes", -offset, title(*buffer), size);
        } else {
          said += fmt::format(" at offset {} of {} of {} bytes", offset, title(*buffer), size);
        }
        break;
      case Kind::index_overflow:
        said += fmt::format(" at offset {} of {} of {} bytes: a 32-bit index has wrapped round", offset,
                            title(*buffer), size);
        break;
      case Kind::uninitialised_read:
        said += fmt::format(" at offset {} of {} that nobody has written", offset, title(*buffer));
        break;
      case Kind::writes_input:
        said += fmt::format(" at offset {} of input {}", offset, title(*buffer));
        break;
      default:
        said += fmt::format(" at offset {} of {}, which is not aligned", offset, title(*buffer));
    }
  } else {
    said += fmt::format(" {}", text);
  }
  raw.predicate = said;
  add(kind, *current_block(), *thread, site, nullptr, std::move(raw));
}

void report_unnamed_lane(const void* site, unsigned lane, unsigned lanes) {
  Raw raw;
  raw.report.own_lane_unnamed = true;
  raw.predicate = fmt::format("passes a mask that does not name its own lane {} of {}", lane, lanes);
  add(Kind::warp_divergence, *current_block(), *current_thread(), site, nullptr, std::move(raw));
}

void report_race(const void* site, const Buffer& buffer, const void* address, std::size_t bytes, bool writes,
                 std::uint64_t other_block, std::uint32_t other_thread, std::uint32_t other_site,
                 bool other_writes, RaceOf what, const void* earlier) {
  Block& block = *current_block();
  const LaunchRequest& request = block.launch().request;
  constexpr std::size_t kLongestValue = 16;
  const bool stores = writes && other_writes && what == RaceOf::accesses && bytes <= kLongestValue &&
                      other_thread < block.size();
  const auto wait_for_value = [&] {
    if (stores) expect_store(site, site_of(other_site), address, bytes);
  };
  const void* const known_by = earlier != nullptr ? earlier : site_of(other_site);
  if (told(Kind::race, site, known_by)) return wait_for_value();
  Raw raw;
  if (earlier != nullptr) {
    raw.earlier.pc = earlier;
    raw.other.pc = site_of(other_site);
  }
  raw.same_values = stores;
  if (what == RaceOf::looks) raw.look = writes ? site_of(other_site) : site;
  raw.report.bytes = static_cast<std::uint32_t>(bytes);
  raw.report.where = buffer.space == Space::shared ? Where::shared : Where::buffer;
  raw.report.buffer = buffer.name;
  raw.report.offset = static_cast<const std::byte*>(address) - buffer.begin;
  raw.report.other_block = unravel(other_block, request.grid);
  const bool agent = other_thread >= block.size();
  if (!agent) raw.report.other_thread = unravel(other_thread, request.block);
  raw.predicate = fmt::format(
      "{} offset {} of {} that {} of block {} {} at {{other}} with {} between", writes ? "writes" : "reads",
      raw.report.offset, title(buffer), agent ? "a bulk copy" : "thread " + braces(raw.report.other_thread),
      braces(raw.report.other_block), other_writes ? "wrote" : "read",
      what == RaceOf::scopes  ? "atomics of which one reaches its own block only and nothing"
      : what == RaceOf::words ? "no barrier (volatile orders nothing)"
                              : "no barrier");
  raw.of_words = what == RaceOf::words;
  add(Kind::race, block, *current_thread(), site, known_by, std::move(raw));
  wait_for_value();
}

void report_freed(const void* site, const Buffer& buffer, const void* address, std::size_t bytes,
                  bool writes) {
  if (told(Kind::use_after_free, site, nullptr)) return;
  const Place freed = place_of_frames(buffer.freed.data(), static_cast<int>(buffer.freed.size()));
  Raw raw;
  raw.report.bytes = static_cast<std::uint32_t>(bytes);
  raw.report.buffer = buffer.name;
  raw.report.offset = static_cast<const std::byte*>(address) - buffer.begin;
  raw.predicate =
      fmt::format("{} {} byte{} at offset {} of {}, which was freed{}", writes ? "writes" : "reads", bytes,
                  bytes == 1 ? "" : "s", raw.report.offset, title(buffer),
                  freed.line ? fmt::format(" at {}:{}", freed.file, freed.line) : " before this launch");
  add(Kind::use_after_free, *current_block(), *current_thread(), site, nullptr, std::move(raw));
}

void report_cast(const void* site, double value, const char* from, const char* to, bool saturated) {
  if (told(Kind::float_to_integer, site, nullptr)) return;
  report_event(
      Kind::float_to_integer, site,
      fmt::format("casts {:g} from {} to {}, which cannot hold it: the device gives {}{}", value, from, to,
                  value != value ? "what it has for a NaN"
                  : value > 0    ? "the largest value"
                                 : "the smallest value",
                  saturated ? "" : ", this run what the host gives"));
}

void report_host_race(const void* site, const HostTouch& touch) {
  if (told(Kind::host_race, site, touch.other_site)) return;
  Raw raw;
  raw.by_host = true;
  raw.report.kind = Kind::host_race;
  raw.report.kernel = touch.kernel;
  raw.report.bytes = static_cast<std::uint32_t>(touch.bytes);
  std::array<void*, kHostFrames> frames;
  raw.report.place = place_of_frames(frames.data(), backtrace(frames.data(), kHostFrames));
  std::string what = "registered memory";
  if (const Buffer* buffer = Memory::instance().find(touch.address)) {
    raw.report.buffer = buffer->name;
    raw.report.offset = static_cast<const std::byte*>(touch.address) - buffer->begin;
    what = fmt::format("offset {} of {}", raw.report.offset, title(*buffer));
  }
  raw.other.pc = touch.other_site;
  raw.predicate = fmt::format("host code {} {}, which {} {} at {{other}}: nothing has waited for it",
                              touch.writes ? "writes" : "reads", what,
                              touch.kernel.empty() ? "a copy of a stream" : "kernel " + touch.kernel,
                              touch.other_writes ? "writes" : "reads");
  add_whole(std::move(raw), site, touch.other_site);
}

void report_leaks() {
  std::vector<Raw> leaks;
  for (const Buffer* b : Memory::instance().live_buffers()) {
    if (b->made.empty()) continue;
    const Place made = place_of_frames(b->made.data(), static_cast<int>(b->made.size()));
    const auto same = std::find_if(leaks.begin(), leaks.end(), [&](const Raw& r) {
      return r.report.place.line == made.line && r.report.place.file == made.file &&
             r.report.bytes == b->bytes;
    });
    if (same != leaks.end()) {
      ++same->report.count;
      continue;
    }
    Raw raw;
    raw.by_host = true;
    raw.report.kind = Kind::leak;
    raw.report.place = made;
    raw.report.bytes = static_cast<std::uint32_t>(b->bytes);
    raw.predicate = fmt::format("{} is not freed when the program ends", title(*b));
    leaks.push_back(std::move(raw));
  }
  for (Raw& leak : leaks) add_whole(std::move(leak));
}

void report_divergence(Block& block, const Thread& a, const Thread& b) {
  block.await_turn();  // the debugger's tables are asked by one worker at a time
  // Two addresses may be one source line: an unrolled loop, a template. Only different lines are divergence.
  const Place first = place_of({a.site, a.clock.calls}), second = place_of({b.site, b.clock.calls});
  if (first.file == second.file && first.line == second.line) return;
  Raw raw;
  raw.report.other_block = triple(block.index());
  raw.report.other_thread = triple(b.index);
  raw.predicate = fmt::format("waits at this barrier while thread {} waits at another one, {{other}}",
                              braces(triple(b.index)));
  raw.other.calls = b.clock.calls;
  add(Kind::barrier_divergence, block, a, a.site, b.site, std::move(raw));
}

void report_left_out(Block& block, const Thread& waits, const Thread& ended) {
  Raw raw;
  raw.report.other_block = triple(block.index());
  raw.report.other_thread = triple(ended.index);
  raw.predicate =
      fmt::format("waits at this barrier, which thread {} has left out: it came to the kernel's end",
                  braces(triple(ended.index)));
  add(Kind::barrier_divergence, block, waits, waits.site, nullptr, std::move(raw));
}

void report_deadlock(Block& block) {
  const Thread* first = nullptr;
  const Thread* second = nullptr;
  for (std::uint32_t i = 0; i < block.size(); ++i) {
    const Thread& t = block.thread(i);
    if (t.ended || t.wait == Wait::none) continue;
    if (!first) {
      first = &t;
    } else if (!second && (t.wait != first->wait || t.site != first->site)) {
      second = &t;
    }
  }
  if (!first) return;
  Raw raw;
  const bool warp = first->wait == Wait::meeting;
  raw.predicate = fmt::format("waits for ever in {}", waits_for(block, *first));
  if (second) {
    raw.report.other_block = triple(block.index());
    raw.report.other_thread = triple(second->index);
    raw.predicate += fmt::format(" while thread {} waits in {} at {{other}}", braces(triple(second->index)),
                                 waits_for(block, *second));
    raw.other.calls = second->clock.calls;
  } else {
    raw.predicate += " for threads that have ended or never come";
  }
  const Launch& launch = block.launch();
  raw.report.waits_for_left_out = first->wait == Wait::spin && launch.blocks < launch.of_grid;
  if (raw.report.waits_for_left_out)
    raw.predicate = fmt::format(
        "waits in {} for a value that none of the {} blocks that run writes; {} blocks "
        "were left out",
        waits_for(block, *first), launch.blocks, launch.of_grid - launch.blocks);
  const Kind kind = raw.report.waits_for_left_out                        ? Kind::step_limit
                    : first->wait == Wait::spin                          ? Kind::endless_wait
                    : warp && (!second || second->wait == Wait::meeting) ? Kind::warp_divergence
                                                                         : Kind::barrier_divergence;
  add(kind, block, *first, first->site, second ? second->site : nullptr, std::move(raw));
}

void report_canary(const Launch& launch, const Buffer& buffer, std::ptrdiff_t offset) {
  Raw raw;
  raw.report.kind = Kind::out_of_bounds_write;
  raw.report.kernel = launch.request.kernel;
  raw.report.buffer = buffer.name;
  raw.report.offset = static_cast<std::int64_t>(buffer.bytes) + offset;
  raw.predicate =
      fmt::format("wrote behind the end of {}, at offset {}; {}", title(buffer), raw.report.offset,
                  launch.watch ? "the watch does not see the code that did" : "a watched run tells where");
  // Who was seen to do it is told already.
  if (launch.watch && is_found(Kind::out_of_bounds_write, buffer.name)) return;
  add_whole(std::move(raw));
}

}  // namespace watch
}  // namespace isomer::emulator
