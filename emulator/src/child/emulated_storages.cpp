#include <cstring>

#include <fmt/format.h>

#include "child/storages.hpp"
#include "memory/memory.hpp"
#include "runtime/settings.hpp"
#include "runtime/stream_order.hpp"
#include "watch/shadow.hpp"

namespace isomer::emulator {
namespace {

class EmulatedStorages final : public Storages {
 public:
  void place(const SessionRequest& request, const std::byte* arena) override {
    buffers_.clear();
    places_.clear();
    for (const WireStorage& s : request.storages) {
      Buffer* b = nullptr;
      if (s.bytes > 0) {
        b = Memory::instance().allocate(s.bytes, Space::global, s.name);
        if (!b) throw Error(fmt::format("{} bytes for {} do not fit the device's memory", s.bytes, s.name));
        if (settings().watch) watch::forget(*b);
        // What is too large to be poisoned is zero where nothing travels.
        copy_extents(b->begin, arena + s.offset, s.extents);
        b->initialised = true;
      }
      buffers_.push_back(b);
      places_.push_back(b ? StoragePlace{b->begin, b->bytes} : StoragePlace{});
    }
  }

  void restore(const SessionRequest& request, const std::byte* arena) override {
    for (std::size_t i = 0; i < buffers_.size(); ++i)
      if (buffers_[i])
        copy_extents(buffers_[i]->begin, arena + request.storages[i].offset, request.storages[i].extents);
  }

  void clear() override {
    for (Buffer* b : buffers_)
      if (b) std::memset(b->begin, 0, b->bytes);
  }

  void begin_call() override { stream_order::begin_call(buffers_); }

  // Every launch has ended when it returns, and what it did wrong is kept by the runtime.
  std::string settle(std::vector<Refusal>&) override { return {}; }

  void check_guards(std::vector<Report>& reports) override {
    for (const Buffer* b : buffers_) {
      const std::ptrdiff_t at = b ? Memory::instance().broken_canary(*b) : -1;
      if (at < 0) continue;
      Report r;
      r.kind = Kind::out_of_bounds_write;
      r.buffer = b->name;
      r.offset = static_cast<std::int64_t>(b->bytes) + at;
      r.bytes = 1;
      r.text = fmt::format(
          "out-of-bounds-write: something behind buffer {} of {} bytes was written, first at offset {}",
          b->name, b->bytes, r.offset);
      reports.push_back(std::move(r));
    }
  }

  std::vector<Extent> fetch(std::byte* to, const std::byte* from, std::uint64_t bytes) override {
    std::vector<Extent> extents = touched_extents(from, bytes);
    copy_extents(to, from, extents);
    return extents;
  }

  void release() override {
    for (Buffer* b : buffers_)
      if (b && b->live) Memory::instance().release(b);
  }

 private:
  std::vector<Buffer*> buffers_;
};

}  // namespace

std::unique_ptr<Storages> emulated_storages() { return std::make_unique<EmulatedStorages>(); }

}  // namespace isomer::emulator
