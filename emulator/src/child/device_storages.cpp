// The storages of a call in a real device's memory, each between guards, and what the code under test
// allocates there.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "child/device_memory.hpp"
#include "child/storages.hpp"

namespace isomer::emulator {
namespace {

// What is read in a guard is NaN of every floating type, or an index of -1.
constexpr int kGuardByte = 0xff;
constexpr std::uint64_t kGuard = 4096;
constexpr int kOutOfMemory = 2;  // of both runtimes

const DeviceTable* loaded = nullptr;

// What the code under test has allocated, by its address.
struct Theirs {
  std::mutex mutex;
  std::map<std::byte*, std::uint64_t> live;
  std::uint64_t bytes = 0, limit = ~std::uint64_t{0};
  int poison = 0xff;
  bool over_limit = false;
  bool keeps = false;
  std::multimap<std::uint64_t, std::byte*> kept;  // free, by their size
};
Theirs theirs;

std::uint64_t rounded(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }

class DeviceStorages final : public Storages {
 public:
  explicit DeviceStorages(const DeviceTable& table) : table_(table) {}
  ~DeviceStorages() override { DeviceStorages::release(); }

  void place(const SessionRequest& request, const std::byte* arena) override {
    places_.clear();
    for (const WireStorage& s : request.storages) {
      StoragePlace place;
      if (s.bytes > 0) {
        void* begin = nullptr;
        must(table_.allocate(&begin, rounded(s.bytes) + 2 * kGuard),
             "the arguments do not fit the device's memory");
        must(table_.fill(begin, kGuardByte, rounded(s.bytes) + 2 * kGuard),
             "the device's memory cannot be written");
        place = {static_cast<std::byte*>(begin) + kGuard, s.bytes};
        held_.push_back(begin);
      }
      names_.push_back(s.name);
      places_.push_back(place);
    }
    restore(request, arena);
  }

  void restore(const SessionRequest& request, const std::byte* arena) override {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const WireStorage& s = request.storages[i];
      if (places_[i].bytes == 0) continue;
      std::uint64_t covered = 0;
      for (const Extent& e : s.extents) covered += e.bytes;
      if (covered < s.bytes)
        must(table_.fill(places_[i].begin, 0, s.bytes), "the device's memory cannot be written");
      for (const Extent& e : s.extents)
        must(table_.copy(places_[i].begin + e.offset, arena + s.offset + e.offset, e.bytes),
             "the device's memory cannot be written");
    }
  }

  void clear() override {
    for (const StoragePlace& p : places_)
      if (p.bytes > 0) must(table_.fill(p.begin, 0, p.bytes), "the device's memory cannot be written");
  }

  std::string settle(std::vector<Refusal>& refusals) override {
    const int launched = table_.last_error();
    const int ended = table_.wait();
    static_cast<void>(table_.last_error());
    if (ended != 0) {
      lost_ = true;
      return fmt::format("a kernel stopped on the device: {}", table_.error_text(ended));
    }
    if (launched != 0)
      refusals.push_back(
          {.kernel = {},
           .text = fmt::format("the device refuses a launch: {}", table_.error_text(launched))});
    return {};
  }

  void check_guards(std::vector<Report>& reports) override {
    if (lost_) return;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const StoragePlace& p = places_[i];
      if (p.bytes == 0) continue;
      check(p.begin - kGuard, kGuard, -static_cast<std::int64_t>(kGuard), kGuardByte, names_[i], p.bytes,
            reports);
      check(p.begin + p.bytes, rounded(p.bytes) - p.bytes + kGuard, static_cast<std::int64_t>(p.bytes),
            kGuardByte, names_[i], p.bytes, reports);
    }
    const std::lock_guard lock(theirs.mutex);
    for (const auto& [begin, bytes] : theirs.live)
      check(begin + bytes, kGuard, static_cast<std::int64_t>(bytes), theirs.poison, "(its own)", bytes,
            reports);
  }

  std::vector<Extent> fetch(std::byte* to, const std::byte* from, std::uint64_t bytes) override {
    if (bytes == 0 || lost_) return {};
    must(table_.copy(to, from, bytes), "the device's memory cannot be read");
    return {{0, bytes}};
  }

  void release() override {
    for (void* begin : held_)
      if (!lost_) table_.release(begin);
    held_.clear();
    names_.clear();
  }

  bool lost() const override { return lost_; }

 private:
  void must(int error, const char* what) {
    if (error == 0) return;
    lost_ = true;
    throw Error(fmt::format("{}: {}", what, table_.error_text(error)));
  }

  void check(const std::byte* guard, std::uint64_t bytes, std::int64_t offset, int expected,
             const std::string& name, std::uint64_t size, std::vector<Report>& reports) {
    std::vector<unsigned char> seen(bytes);
    if (table_.copy(seen.data(), guard, bytes) != 0) return;
    const auto at = std::find_if(seen.begin(), seen.end(), [&](unsigned char b) { return b != expected; });
    if (at == seen.end()) return;
    Report r;
    r.kind = Kind::out_of_bounds_write;
    r.buffer = name;
    r.offset = offset + (at - seen.begin());
    r.bytes = 1;
    r.text =
        fmt::format("out-of-bounds-write: something {} buffer {} of {} bytes was written, first at offset {}",
                    offset < 0 ? "before" : "behind", name, size, r.offset);
    reports.push_back(std::move(r));
  }

  const DeviceTable& table_;
  std::vector<void*> held_;
  std::vector<std::string> names_;
  bool lost_ = false;
};

}  // namespace

std::unique_ptr<Storages> device_storages(const DeviceTable& table, std::uint8_t poison,
                                          std::uint64_t limit) {
  const std::lock_guard lock(theirs.mutex);
  theirs.poison = poison;
  theirs.limit = theirs.bytes + limit;
  theirs.over_limit = false;
  return std::make_unique<DeviceStorages>(table);
}

const DeviceTable* real_device() { return loaded; }

bool device_memory_over_limit() { return theirs.over_limit; }

void keep_device_memory(bool keep) {
  std::multimap<std::uint64_t, std::byte*> freed;
  {
    const std::lock_guard lock(theirs.mutex);
    theirs.keeps = keep;
    if (!keep) freed.swap(theirs.kept);
  }
  // Not under the lock: the runtime's function comes back here, as everybody's does.
  for (const auto& [bytes, begin] : freed) loaded->release(begin);
}

void poison_kept_device_memory() {
  const std::lock_guard lock(theirs.mutex);
  for (const auto& [bytes, begin] : theirs.kept) loaded->fill(begin, theirs.poison, bytes + kGuard);
}

}  // namespace isomer::emulator

using namespace isomer::emulator;

__attribute__((visibility("default"))) void isomer_emulator_register_device(const DeviceTable* table) {
  loaded = table;
}

int isomer_emulator_device_allocate(void** out, unsigned long bytes, int (*allocate)(void**, unsigned long)) {
  {
    const std::lock_guard lock(theirs.mutex);
    if (theirs.bytes + bytes > theirs.limit) {
      theirs.over_limit = true;
      return kOutOfMemory;
    }
    if (const auto it = theirs.kept.find(bytes); it != theirs.kept.end()) {
      *out = it->second;
      theirs.kept.erase(it);
      theirs.live[static_cast<std::byte*>(*out)] = bytes;
      theirs.bytes += bytes;
      return 0;
    }
  }
  const int error = allocate(out, bytes + kGuard);
  if (error != 0 || !loaded) return error;
  loaded->fill(*out, theirs.poison, bytes + kGuard);
  const std::lock_guard lock(theirs.mutex);
  theirs.live[static_cast<std::byte*>(*out)] = bytes;
  theirs.bytes += bytes;
  return 0;
}

int isomer_emulator_device_release(void* p) {
  const std::lock_guard lock(theirs.mutex);
  const auto it = theirs.live.find(static_cast<std::byte*>(p));
  if (it == theirs.live.end()) return 0;
  theirs.bytes -= it->second;
  if (theirs.keeps) theirs.kept.emplace(it->second, it->first);
  theirs.live.erase(it);
  return theirs.keeps ? 1 : 0;
}
