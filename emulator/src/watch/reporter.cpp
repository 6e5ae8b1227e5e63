#include "watch/reporter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <unordered_map>

#include "hopper/units.hpp"
#include "watch/order.hpp"
#include "watch/places.hpp"

namespace isomer::emulator {

namespace watch {
namespace {

constexpr std::size_t kMaxReports = 1000;

struct Raw {
  Report report;
  Site site;
  Site other;
  bool by_host = false;        // of no thread; its place is known
  bool of_words = false;       // a race that is none where either place is in a loop that waits
  bool same_values = false;    // every one of these stores wrote what was there
  std::string value;           // that value, as bytes
  const void* look = nullptr;  // a plain read that may be the first look of a compare-and-swap
  std::string predicate;       // what the thread did; `{other}` stands for the second place
};

std::mutex reports_mutex;
std::vector<Raw> raws;
std::map<std::tuple<Kind, const void*, const void*>, std::size_t> known;

std::set<const void*> waiting_sites;
struct WaitingLines {
  std::string file;
  unsigned first, last;
};
std::vector<WaitingLines> waiting_lines;

bool in_waiting_loop(const Site& site, const Place& place) {
  return waiting_sites.count(site.pc) != 0 ||
         std::any_of(waiting_lines.begin(), waiting_lines.end(), [&](const WaitingLines& w) {
           return w.first <= place.line && place.line <= w.last && w.file == place.file;
         });
}

std::vector<const void*> sites{nullptr};
std::unordered_map<const void*, std::uint32_t> site_numbers;

/// The store that is made next: what is there before it, and the report that it belongs to.
struct PendingStore {
  std::size_t raw = 0;
  const void* address = nullptr;
  std::string before;
} pending;
std::set<const void*> looks;

std::string hexadecimal(const std::string& bytes) {
  std::string text = "0x";
  for (std::size_t i = bytes.size(); i > 0; --i)
    text += fmt::format("{:02x}", static_cast<unsigned char>(bytes[i - 1]));
  return text;
}

Index3 triple(const uint3& v) { return {v.x, v.y, v.z}; }

Index3 unravel(std::uint64_t linear, const dim3& dim) {
  return {static_cast<std::uint32_t>(linear % dim.x), static_cast<std::uint32_t>(linear / dim.x % dim.y),
          static_cast<std::uint32_t>(linear / dim.x / dim.y)};
}

// What was told already is counted, and its sentence is not made again: races come by the hundred thousand.
bool told(Kind kind, const void* pc, const void* other_pc) {
  std::lock_guard lock(reports_mutex);
  const auto found = known.find(std::make_tuple(kind, pc, other_pc));
  if (found == known.end()) return false;
  ++raws[found->second].report.count;
  return true;
}

void add(Kind kind, Block& block, const Thread& thread, const void* pc, const void* other_pc, Raw raw,
         const std::vector<const void*>* calls = nullptr) {
  std::lock_guard lock(reports_mutex);
  const auto key = std::make_tuple(kind, pc, other_pc);
  if (const auto found = known.find(key); found != known.end()) {
    ++raws[found->second].report.count;
    return;
  }
  if (raws.size() >= kMaxReports) return;
  known.emplace(key, raws.size());
  raw.report.kind = kind;
  raw.report.kernel = block.launch().request.kernel;
  raw.report.block = triple(block.index());
  raw.report.thread = triple(thread.index);
  raw.site = {pc, calls != nullptr ? *calls : thread.clock.calls};
  raw.other.pc = other_pc;
  raws.push_back(std::move(raw));
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

std::string waits_for(Block& block, const Thread& t) {
  if (t.wait == Wait::units) return block.units().waits_for(t);
  return waits_in(t);
}

bool comes_of_wrong_phase(Kind kind) {
  return kind == Kind::race || kind == Kind::in_flight || kind == Kind::early_reuse ||
         kind == Kind::uninitialised_read || kind == Kind::barrier_divergence ||
         kind == Kind::barrier_misuse || kind == Kind::byte_count || kind == Kind::missing_proxy_fence ||
         kind == Kind::unfinished;
}

std::string braces(const Index3& i) { return fmt::format("({},{},{})", i[0], i[1], i[2]); }

}  // namespace

void report_event(Kind kind, const void* site, const std::string& text) {
  Thread* thread = current_thread();
  if (!thread) return;
  Raw raw;
  raw.predicate = text;
  add(kind, *current_block(), *thread, site, nullptr, std::move(raw));
}

void report_violation(Kind kind, Block& block, const Thread& thread, const Site& at, const Site& other,
                      const std::string& text) {
  if (told(kind, at.pc, other.pc)) return;
  Raw raw;
  raw.predicate = text;
  raw.other.calls = other.calls;
  add(kind, block, thread, at.pc, other.pc, std::move(raw), &at.calls);
}

void report_access(Kind kind, const void* site, const Buffer* buffer, const void* address, std::size_t bytes,
                   const std::string& text) {
  Thread* thread = current_thread();
  if (told(kind, site, nullptr)) return;
  Raw raw;
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
          said += " " + text;
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
    said += " " + text;
  }
  raw.predicate = said;
  add(kind, *current_block(), *thread, site, nullptr, std::move(raw));
}

void report_race(const void* site, const Buffer& buffer, const void* address, std::size_t bytes, bool writes,
                 std::uint64_t other_block, std::uint32_t other_thread, std::uint32_t other_site,
                 bool other_writes, RaceOf what) {
  Block& block = *current_block();
  const LaunchRequest& request = block.launch().request;
  constexpr std::size_t kLongestValue = 16;
  const bool stores = writes && other_writes && what == RaceOf::accesses && bytes <= kLongestValue &&
                      other_thread < block.size();
  const auto wait_for_value = [&] {
    if (!stores) return;
    const auto found = known.find(std::make_tuple(Kind::race, site, site_of(other_site)));
    if (found == known.end() || !raws[found->second].same_values) return;
    pending = {found->second, address, std::string(static_cast<const char*>(address), bytes)};
    any_pending_store = true;
  };
  if (told(Kind::race, site, site_of(other_site))) return wait_for_value();
  Raw raw;
  raw.same_values = stores;
  if (what == RaceOf::looks) raw.look = writes ? site_of(other_site) : site;
  raw.report.bytes = static_cast<std::uint32_t>(bytes);
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
  add(Kind::race, block, *current_thread(), site, site_of(other_site), std::move(raw));
  wait_for_value();
}

bool any_pending_store = false;

void settle_pending_store() {
  if (!any_pending_store) return;
  any_pending_store = false;
  std::lock_guard lock(reports_mutex);
  if (pending.raw >= raws.size()) return;
  Raw& raw = raws[pending.raw];
  const std::string now(static_cast<const char*>(pending.address), pending.before.size());
  if (now != pending.before) raw.same_values = false;
  if (raw.value.empty())
    raw.value = fmt::format("the values are {} and {}", hexadecimal(pending.before), hexadecimal(now));
}

void looks_before_swap(const void* site) {
  std::lock_guard lock(reports_mutex);
  looks.insert(site);
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
  std::lock_guard lock(reports_mutex);
  for (Raw& leak : leaks) raws.push_back(std::move(leak));
}

void report_divergence(Block& block, const Thread& a, const Thread& b) {
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
  const Kind kind = first->wait == Wait::spin                            ? Kind::step_limit
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
  std::lock_guard lock(reports_mutex);
  // Who was seen to do it is told already.
  if (launch.watch && std::any_of(raws.begin(), raws.end(), [&](const Raw& each) {
        return each.report.kind == Kind::out_of_bounds_write && each.report.buffer == buffer.name;
      }))
    return;
  raws.push_back(std::move(raw));
}

KnownSite known_sites[kKnownSites];

std::uint32_t new_site_number(const void* pc) {
  auto [it, inserted] = site_numbers.try_emplace(pc, static_cast<std::uint32_t>(sites.size()));
  if (inserted) sites.push_back(pc);
  return it->second;
}

const void* site_of(std::uint32_t number) { return sites[number]; }

void waits_at(const void* site) {
  thread_local const void* last = nullptr;
  if (site == last) return;
  last = site;
  std::lock_guard lock(reports_mutex);
  waiting_sites.insert(site);
}

std::size_t report_count() {
  std::lock_guard lock(reports_mutex);
  return raws.size();
}

std::vector<Report> take_reports() {
  settle_pending_store();
  std::vector<Raw> taken;
  std::set<const void*> looked;
  {
    std::lock_guard lock(reports_mutex);
    taken = std::exchange(raws, {});
    known.clear();
    looked = looks;
  }
  std::vector<Site> wanted;
  for (const Raw& r : taken) wanted.push_back(r.site), wanted.push_back(r.other);
  const std::vector<Place> places = places_of(wanted);
  std::vector<Report> reports;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    Report& r = taken[i].report;
    if (!taken[i].by_host) r.place = places[2 * i];
    r.other = places[2 * i + 1];
    if (taken[i].of_words &&
        (in_waiting_loop(taken[i].site, r.place) || in_waiting_loop(taken[i].other, r.other)))
      continue;
    std::string predicate = taken[i].predicate;
    if (const auto at = predicate.find("{other}"); at != std::string::npos) {
      predicate.replace(at, 7,
                        r.other.line ? fmt::format("{}:{}", r.other.file, r.other.line) : "an unknown place");
    }
    // To wait twice for what is over is no fault where nothing comes of it.
    if (r.kind == Kind::wrong_phase && std::none_of(taken.begin(), taken.end(), [&](const Raw& raw) {
          return comes_of_wrong_phase(raw.report.kind) && raw.report.kernel == r.kernel;
        }))
      continue;
    const bool swapped = taken[i].look != nullptr && looked.count(taken[i].look) != 0;
    if (taken[i].same_values || swapped) r.kind = Kind::benign_race;
    if (!taken[i].value.empty()) predicate += "; " + taken[i].value;
    if (swapped) predicate += "; the read is the first look of a compare-and-swap, which looks again";
    const std::string where = r.place.line ? fmt::format("{}:{}: ", r.place.file, r.place.line) : "";
    const bool nobody = !taken[i].site.pc && r.kind == Kind::out_of_bounds_write;
    r.text = taken[i].by_host ? fmt::format("{}{}: {}", where, name(r.kind), predicate)
             : nobody         ? fmt::format("{}: kernel {} {}", name(r.kind), r.kernel, predicate)
                      : fmt::format("{}{}: kernel {}, block {}, thread {} {}", where, name(r.kind), r.kernel,
                                    braces(r.block), braces(r.thread), predicate);
    // Two addresses of one line tell the same story.
    const auto same = std::find_if(reports.begin(), reports.end(), [&](const Report& o) {
      return o.kind == r.kind && o.kernel == r.kernel && r.place.line != 0 && o.place.line == r.place.line &&
             o.place.file == r.place.file && o.other.line == r.other.line && o.buffer == r.buffer;
    });
    if (same == reports.end()) {
      reports.push_back(std::move(r));
    } else {
      same->count += r.count;
    }
  }
  return reports;
}

}  // namespace watch
}  // namespace isomer::emulator

extern "C" __attribute__((visibility("default"))) void isomer_emulator_register_wait(const char* file,
                                                                                     unsigned first,
                                                                                     unsigned last) {
  using namespace isomer::emulator::watch;
  std::lock_guard lock(reports_mutex);
  waiting_lines.push_back({file, first, last});
}
