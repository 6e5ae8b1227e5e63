#include "watch/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <unordered_map>

#include "execution/turns.hpp"
#include "watch/places.hpp"

namespace isomer::emulator::watch {
namespace {

constexpr std::size_t kMaxReports = 1000;

std::mutex reports_mutex;
std::vector<Raw> raws;
std::map<std::tuple<Kind, const void*, const void*>, std::size_t> known;

std::set<const void*> waiting_sites;
struct WaitingLines {
  std::string file;
  unsigned first, last;
};
std::vector<WaitingLines> waiting_lines;

/// `written` is the name by which the source was given, `known` the debugger's, which is absolute.
bool same_file(const std::string& written, const std::string& known) {
  const std::filesystem::path path = std::filesystem::path(written).lexically_normal();
  if (written == known || path == std::filesystem::path(known).lexically_normal()) return true;
  std::error_code none;
  return path.is_relative() && (known.ends_with("/" + path.string()) ||
                                std::filesystem::absolute(path, none).lexically_normal() == known);
}

bool in_waiting_loop(const Site& site, const Place& place) {
  return waiting_sites.count(site.pc) != 0 ||
         std::any_of(waiting_lines.begin(), waiting_lines.end(), [&](const WaitingLines& w) {
           return w.first <= place.line && place.line <= w.last && same_file(w.file, place.file);
         });
}

std::mutex sites_mutex;
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

bool comes_of_wrong_phase(Kind kind) {
  return kind == Kind::race || kind == Kind::in_flight || kind == Kind::early_reuse ||
         kind == Kind::uninitialised_read || kind == Kind::barrier_divergence ||
         kind == Kind::barrier_misuse || kind == Kind::byte_count || kind == Kind::missing_proxy_fence ||
         kind == Kind::unseen_barrier || kind == Kind::unfinished;
}

}  // namespace

Index3 triple(const uint3& v) { return {v.x, v.y, v.z}; }
std::string braces(const Index3& i) { return fmt::format("({},{},{})", i[0], i[1], i[2]); }

bool told(Kind kind, const void* pc, const void* other_pc) {
  run_alone();
  std::lock_guard lock(reports_mutex);
  const auto found = known.find(std::make_tuple(kind, pc, other_pc));
  if (found == known.end()) return false;
  ++raws[found->second].report.count;
  return true;
}

void add(Kind kind, Block& block, const Thread& thread, const void* pc, const void* other_pc, Raw raw,
         const std::vector<const void*>* calls) {
  if (thread.clock.guesses) return;
  block.run_alone();
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
  if (raw.earlier.pc == nullptr) raw.other.pc = other_pc;
  raws.push_back(std::move(raw));
}

void add_whole(Raw raw, const void* pc, const void* other_pc) {
  std::lock_guard lock(reports_mutex);
  if (pc != nullptr && raws.size() >= kMaxReports) return;
  if (pc != nullptr) known.emplace(std::make_tuple(raw.report.kind, pc, other_pc), raws.size());
  raws.push_back(std::move(raw));
}

bool is_found(Kind kind, const std::string& buffer) {
  std::lock_guard lock(reports_mutex);
  return std::any_of(raws.begin(), raws.end(), [&](const Raw& each) {
    return each.report.kind == kind && each.report.buffer == buffer;
  });
}

void expect_store(const void* site, const void* other_site, const void* address, std::size_t bytes) {
  std::lock_guard lock(reports_mutex);
  const auto found = known.find(std::make_tuple(Kind::race, site, other_site));
  if (found == known.end() || !raws[found->second].same_values) return;
  pending = {found->second, address, std::string(static_cast<const char*>(address), bytes)};
  any_pending_store = true;
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

std::uint32_t new_site_number(const void* pc) {
  std::lock_guard lock(sites_mutex);
  auto [it, inserted] = site_numbers.try_emplace(pc, static_cast<std::uint32_t>(sites.size()));
  if (inserted) sites.push_back(pc);
  return it->second;
}

const void* site_of(std::uint32_t number) {
  std::lock_guard lock(sites_mutex);
  return sites[number];
}

void waits_at(Block& block, const void* site) {
  if (KnownSite& known = known_site(block, site); known.pc == site) known.waits = true;
  thread_local const void* last = nullptr;
  if (site == last) return;
  block.await_turn();
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
  for (const Raw& r : taken) wanted.insert(wanted.end(), {r.site, r.other, r.earlier});
  const std::vector<Place> places = places_of(wanted);
  std::vector<Report> reports;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    Report& r = taken[i].report;
    // An assertion says its place itself.
    if (!taken[i].by_host && (r.place.line == 0 || places[3 * i].line != 0)) r.place = places[3 * i];
    r.other = places[3 * i + 1];
    if (taken[i].of_words &&
        (in_waiting_loop(taken[i].site, r.place) || in_waiting_loop(taken[i].other, r.other)))
      continue;
    // Whoever has waited for a word may read it again.
    if (taken[i].earlier.pc != nullptr && in_waiting_loop(taken[i].earlier, places[3 * i + 2])) continue;
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
    r.looks_again = swapped;
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

}  // namespace isomer::emulator::watch

extern "C" __attribute__((visibility("default"))) void isomer_emulator_register_wait(const char* file,
                                                                                     unsigned first,
                                                                                     unsigned last) {
  using namespace isomer::emulator::watch;
  std::lock_guard lock(reports_mutex);
  waiting_lines.push_back({file, first, last});
}
