#include "hopper/warpgroups.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "execution/worker.hpp"
#include "hopper/units.hpp"
#include "watch/order.hpp"

namespace isomer::emulator::hopper {
namespace {

constexpr std::uint32_t kWarp = 32, kWarps = 4;
constexpr std::uint32_t kPoisonBits = 0xffffffffu;

/// Row and column of register i of a thread's share of d.
int row_of_register(std::uint32_t thread, int i) {
  return static_cast<int>(thread / kWarp * 16 + thread % kWarp / 4) + i % 4 / 2 * 8;
}
int column_of_register(std::uint32_t thread, int i) {
  return i / 4 * 8 + static_cast<int>(thread % 4) * 2 + i % 2;
}

bool is_poison(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits == kPoisonBits;
}

}  // namespace

std::uint32_t Warpgroup::members() const { return std::min(kThreads, block_.size() - number_ * kThreads); }

std::string Warpgroup::Call::text() const {
  switch (what) {
    case What::fence:
      return "fences registers for products";
    case What::product:
      return "issues a product";
    case What::commit:
      return "ends a group of products";
    case What::wait:
      break;
  }
  return groups == 0 ? "waits for all groups of products"
                     : fmt::format("waits for all groups of products but {}", groups);
}

/// These instructions are the whole warpgroup's: what its warps call in another order is undefined.
void Warpgroup::take_step(Call::What what, unsigned groups, const watch::Site& site) {
  if (!block_.launch().watch || out_of_step_) return;
  const std::uint32_t number = threads_[block_.current().linear % kThreads].calls++ - first_call_;
  if (number == calls_.size()) calls_.push_back({what, groups, site});
  Call& call = calls_[number];
  if (call.what != what || call.groups != groups) {
    out_of_step_ = true;
    block_.units().tell(
        Kind::warpgroup_divergence, site, call.site,
        fmt::format("{} where another thread of its warpgroup {} at {{other}}: all 128 have to "
                    "call the same in the same order",
                    Call{what, groups, site}.text(), call.text()));
    return;
  }
  if (++call.arrived == kThreads) {  // the first of them: nobody comes to a call before the one ahead of it
    calls_.pop_front();
    ++first_call_;
  }
}

void Warpgroup::fence(const watch::Site& site) {
  take_step(Call::What::fence, 0, site);
  threads_[block_.current().linear % kThreads].fenced = true;
}

void Warpgroup::issue(const ProductShape& shape, float* d, const std::uint32_t* a, const watch::Site& site) {
  Thread& self = block_.current();
  Units& units = block_.units();
  const std::uint32_t t = self.linear % kThreads;
  OfThread& mine = threads_[t];
  if (members() < kThreads) {
    units.tell(Kind::warpgroup_divergence, site, {},
               fmt::format("issues a product in a warpgroup of {} threads", members()));
    units.stop();
  }
  take_step(Call::What::product, 0, site);
  if (!mine.fenced)
    units.tell(Kind::missing_fence, site, {},
               "issues a product of its warpgroup with no fence behind its last wait, or at all");
  const std::uint32_t number = ++mine.issued;
  if (number > done_ + under_way_.size()) {
    Product p;
    p.shape = shape;
    if (shape.a_in_registers) p.a.resize(std::size_t{kThreads} * 4);
    for (const auto& acc : live_) {
      if (acc->d[t] == d) p.accumulators = acc;
    }
    if (!p.accumulators) {
      p.accumulators = std::make_shared<Accumulators>();
      p.accumulators->columns = shape.columns;
      p.accumulators->values.resize(static_cast<std::size_t>(kRows) * shape.columns);
      p.accumulators->site = site;
      live_.push_back(p.accumulators);
    }
    ++p.accumulators->under_way;
    under_way_.push_back(std::move(p));
    sites_.push_back(site);
  }
  Product& p = under_way_[number - done_ - 1];
  Accumulators& acc = *p.accumulators;
  if (p.shape != shape || acc.columns != shape.columns || (acc.d[t] != nullptr && acc.d[t] != d)) {
    units.tell(
        Kind::warpgroup_divergence, site, sites_[number - 1],
        acc.columns != shape.columns
            ? fmt::format("issues a product of {} columns on registers in which one of {} is under way",
                          shape.columns, acc.columns)
            : "issues another product than the warpgroup's other threads did at {other}");
    units.stop();
  }
  if (acc.d[t] == nullptr) take(acc, t, d);
  self.has_registers_in_flight = true;
  if (shape.a_in_registers) std::copy_n(a, 4, &p.a[std::size_t{t} * 4]);
  if (block_.launch().watch && self.lane == 0) read_operands(p, number, self);
  ++p.arrived;
}

void Warpgroup::take(Accumulators& acc, std::uint32_t thread, float* d) {
  acc.d[thread] = d;
  for (int i = 0; i < acc.columns / 2; ++i)
    acc.values[static_cast<std::size_t>(row_of_register(thread, i)) * acc.columns +
               column_of_register(thread, i)] = d[i];
  std::memset(d, 0xff, sizeof(float) * acc.columns / 2);
}

void Warpgroup::give(Accumulators& acc) {
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    float* const d = acc.d[t];
    Thread& thread = block_.thread(number_ * kThreads + t);
    if (thread.ended) continue;
    const bool kept = std::all_of(d, d + acc.columns / 2, is_poison);
    if (!kept && !acc.told) {
      acc.told = true;
      watch::report_violation(Kind::in_flight, block_, thread, {thread.site, thread.clock.calls}, acc.site,
                              "waits for a product at {other} whose accumulators it has written meanwhile");
    }
    for (int i = 0; i < acc.columns / 2; ++i)
      d[i] = acc.values[static_cast<std::size_t>(row_of_register(t, i)) * acc.columns +
                        column_of_register(t, i)];
  }
}

/// The chunks of an operand of `lines` rows or columns.
template <class Visit>
static void visit(const MatrixDescriptor& m, bool transposed, int lines, int depth, Visit each) {
  if (transposed) {
    for (int k = 0; k < depth; ++k)
      for (int c = 0; c < lines / 8; ++c) each(m.chunk_transposed(c, k), c * 8, k);
  } else {
    for (int line = 0; line < lines; ++line)
      for (int c = 0; c < 2; ++c) each(m.chunk(line, c), line, c);
  }
}

void Warpgroup::read_operands(const Product& p, std::uint32_t number, Thread& thread) {
  const watch::Site& site = sites_[number - 1];
  Units& units = block_.units();
  Tiles::Reading reading{number, 0, &site, 0};
  bool outside = false;
  const auto look = [&](std::uint64_t bits, bool transposed, int first, int lines) {
    const MatrixDescriptor m(bits);
    reading.swizzle = m.swizzle;
    visit(m, transposed, lines, depth_of(p.shape.element), [&](std::uint32_t address, int line, int) {
      if (outside || line < first) return;
      if (block_.shared_at(address, Tiles::kGranule) == nullptr) {
        outside = true;
        units.tell(
            Kind::out_of_bounds_read, site, {},
            fmt::format("multiplies sixteen bytes at address {:#x}, outside of shared memory", address));
        return;
      }
      units.tiles().multiply(address, reading);
    });
    if (m.base_offset != 0)
      units.tell(Kind::copy_misuse, site, {},
                 fmt::format("uses a descriptor with base offset {}: the emulator knows 0", m.base_offset));
  };
  // Each warp reads its own sixteen rows of a, and all of b.
  const int rows = static_cast<int>(thread.linear % kThreads / kWarp) * 16;
  if (!p.shape.a_in_registers)
    p.shape.a_transposed ? look(p.shape.a, true, 0, kRows) : look(p.shape.a, false, rows, rows + 16);
  look(p.shape.b, p.shape.b_transposed, 0, p.shape.columns);
  if (outside) units.stop();
}

void Warpgroup::gather(const Product& p, float* a, float* b) const {
  const Element e = p.shape.element;
  const int depth = depth_of(e), per_chunk = depth / 2, columns = p.shape.columns;
  const auto bytes = [&](std::uint32_t address) { return block_.shared_at(address, Tiles::kGranule); };
  if (p.shape.a_in_registers) {
    // Word i of a thread: row + i % 2 · 8; its bytes are 4·(thread % 4)… of the half of k that i / 2 says.
    const int per_word = depth / 8;
    for (std::uint32_t t = 0; t < kThreads; ++t) {
      for (int i = 0; i < 4; ++i) {
        const int row = static_cast<int>(t / kWarp * 16 + t % kWarp / 4) + i % 2 * 8;
        const int k = i / 2 * (depth / 2) + static_cast<int>(t % 4) * per_word;
        widen(e, reinterpret_cast<const std::byte*>(&p.a[std::size_t{t} * 4 + i]), per_word,
              a + row * depth + k);
      }
    }
  } else {
    const MatrixDescriptor m(p.shape.a);
    float wide[16];
    visit(m, p.shape.a_transposed, kRows, depth, [&](std::uint32_t address, int line, int second) {
      widen(e, bytes(address), per_chunk, wide);
      if (p.shape.a_transposed) {
        for (int i = 0; i < 8; ++i) a[(line + i) * depth + second] = wide[i];
      } else {
        std::copy_n(wide, per_chunk, a + line * depth + second * per_chunk);
      }
    });
  }
  const MatrixDescriptor m(p.shape.b);
  float wide[16];
  visit(m, p.shape.b_transposed, columns, depth, [&](std::uint32_t address, int line, int second) {
    if (p.shape.b_transposed) return widen(e, bytes(address), 8, b + second * columns + line);
    widen(e, bytes(address), per_chunk, wide);
    for (int i = 0; i < per_chunk; ++i) b[(second * per_chunk + i) * columns + line] = wide[i];
  });
}

void Warpgroup::carry_out(Product& p) {
  // On the heap: this library's thread-local storage is taken when a program that has started opens it, and
  // little is left then.
  struct alignas(64) Factors {
    float a[kRows * kMaxDepth], b[kMaxColumns * kMaxDepth];
  };
  static thread_local const std::unique_ptr<Factors> factors = std::make_unique<Factors>();
  float *a = factors->a, *b = factors->b;
  gather(p, a, b);
  if (p.shape.negative)
    for (int i = 0; i < kRows * depth_of(p.shape.element); ++i) a[i] = -a[i];
  Accumulators& acc = *p.accumulators;
  if (!p.shape.accumulate) std::fill(acc.values.begin(), acc.values.end(), 0.0f);
  add_product(acc.values.data(), a, b, p.shape.columns, depth_of(p.shape.element));
}

void Warpgroup::commit(const watch::Site& site) {
  take_step(Call::What::commit, 0, site);
  OfThread& mine = threads_[block_.current().linear % kThreads];
  const std::uint32_t number = mine.committed++;
  if (number == groups_.size()) groups_.push_back(mine.issued);
}

void Warpgroup::wait(unsigned groups, const watch::Site& site) {
  take_step(Call::What::wait, groups, site);
  Thread& self = block_.current();
  OfThread& mine = threads_[self.linear % kThreads];
  mine.fenced = false;
  if (mine.committed <= groups) return;
  const std::uint32_t up_to = groups_[mine.committed - groups - 1];
  mine.waits_for = up_to;
  if (up_to > done_) {
    block_.wait_for_units(site.pc);
    return;
  }
  tell_threads(0);
}

/// The threads that waited for products up to that one know that these are done; 0: the running one.
void Warpgroup::tell_threads(std::uint32_t up_to) {
  const bool watched = block_.launch().watch;
  for (std::uint32_t w = 0; w < kWarps; ++w) {
    const std::uint32_t agent = block_.size() + number_ * kWarps + w;
    std::vector<Thread*> members;
    watch::Carried news;
    for (std::uint32_t lane = 0; lane < kWarp; ++lane) {
      const std::uint32_t t = w * kWarp + lane;
      Thread& thread = block_.thread(number_ * kThreads + t);
      if (up_to == 0 ? &thread != &block_.current()
                     : threads_[t].waits_for == 0 || threads_[t].waits_for > up_to)
        continue;
      if (watched && members.empty()) watch::arrive(news, block_, agent, threads_[t].waits_for);
      members.push_back(&thread);
      threads_[t].waits_for = 0;
    }
    if (members.empty()) continue;
    for (Thread* thread : members) {
      thread->has_registers_in_flight = std::any_of(live_.begin(), live_.end(), [&](const auto& acc) {
        return acc->d[thread->linear % kThreads] != nullptr;
      });
      if (watched) watch::learn(news, block_, *thread);
      if (up_to != 0) block_.wake_from_units(*thread);
    }
  }
}

bool Warpgroup::advance() {
  std::uint32_t up_to = 0;
  for (const OfThread& t : threads_) {
    if (t.waits_for > done_ && (up_to == 0 || t.waits_for < up_to)) up_to = t.waits_for;
  }
  if (up_to == 0) return false;
  for (std::uint32_t n = done_; n < up_to; ++n) {
    if (under_way_[n - done_].arrived < kThreads) return false;
  }
  while (done_ < up_to) {
    Product& p = under_way_.front();
    carry_out(p);
    if (--p.accumulators->under_way == 0) {
      give(*p.accumulators);
      std::erase(live_, p.accumulators);
    }
    under_way_.pop_front();
    ++done_;
  }
  tell_threads(up_to);
  return true;
}

bool Warpgroup::known_done(Thread& thread, std::uint32_t product) const {
  if (product > done_) return false;
  for (std::uint32_t w = 0; w < kWarps; ++w) {
    if (!watch::knows(block_, thread, block_.size() + number_ * kWarps + w, product)) return false;
  }
  return true;
}

void Warpgroup::touch_registers(Thread& thread, const void* at, std::size_t bytes, bool writes,
                                const void* site) {
  const auto first = reinterpret_cast<std::uintptr_t>(at);
  for (const auto& acc : live_) {
    const float* d = acc->d[thread.linear % kThreads];
    if (d == nullptr) continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(d);
    if (first + bytes <= begin || first >= begin + sizeof(float) * acc->columns / 2) continue;
    acc->told = true;
    watch::report_violation(
        Kind::in_flight, block_, thread, {site, thread.clock.calls}, acc->site,
        fmt::format(
            "{} an accumulator of the product at {{other}}, which is under way: no wait for its group",
            writes ? "writes" : "reads"));
  }
}

void Warpgroup::thread_ends(Thread& thread) {
  const std::uint32_t t = thread.linear % kThreads;
  if (threads_[t].issued > done_)
    watch::report_violation(Kind::unfinished, block_, thread, sites_[threads_[t].issued - 1], {},
                            "ends while this product of its warpgroup is under way");
}

std::string Warpgroup::waits_for(const Thread& thread) const {
  const OfThread& mine = threads_[thread.linear % kThreads];
  if (mine.waits_for == 0 || mine.waits_for <= done_) return {};
  for (std::uint32_t n = done_; n < mine.waits_for; ++n) {
    if (under_way_[n - done_].arrived < kThreads)
      return fmt::format("a wait for a product that {} of its warpgroup's {} threads have issued",
                         under_way_[n - done_].arrived, kThreads);
  }
  return "a wait for products of its warpgroup";
}

}  // namespace isomer::emulator::hopper
