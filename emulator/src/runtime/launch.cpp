// A launch: what the device would refuse is refused here, with the sentence that says why; the rest runs.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "execution/turns.hpp"
#include "execution/worker.hpp"
#include "isomer_emulator/abi.h"
#include "memory/closed.hpp"
#include "memory/memory.hpp"
#include "runtime/errors.hpp"
#include "runtime/kernels.hpp"
#include "runtime/limits.hpp"
#include "runtime/records.hpp"
#include "runtime/settings.hpp"
#include "runtime/stream_order.hpp"
#include "watch/claims.hpp"
#include "watch/guesses.hpp"
#include "watch/host_order.hpp"
#include "watch/order.hpp"
#include "watch/reporter.hpp"
#include "watch/undo.hpp"

namespace isomer::emulator {
namespace {

std::mutex record_mutex;
std::vector<LaunchRecord> launch_records;

std::string shown(const dim3& d) { return fmt::format("({},{},{})", d.x, d.y, d.z); }

int check_geometry(const LaunchRequest& r) {
  using Cause = Refusal::Cause;
  const auto refused = [&](int code, Cause cause, std::string sentence) {
    return refuse(code, Refusal{cause, r.kernel, std::move(sentence)});
  };
  const Limits& l = limits();
  const std::uint32_t block[3] = {r.block.x, r.block.y, r.block.z}, grid[3] = {r.grid.x, r.grid.y, r.grid.z};
  for (int i = 0; i < 3; ++i) {
    if (grid[i] == 0) {
      return refused(
          error::invalid_configuration, Cause::no_blocks,
          fmt::format("{}: launched with grid {}, expected at least one block", r.kernel, shown(r.grid)));
    }
    if (block[i] == 0) {
      return refused(
          error::invalid_configuration, Cause::no_threads,
          fmt::format("{}: launched with block {}, expected at least one thread", r.kernel, shown(r.block)));
    }
    if (grid[i] > l.grid[i]) {
      return refused(error::invalid_configuration, Cause::too_many_blocks,
                     fmt::format("{}: launched with grid {}, the device takes at most ({},{},{}) blocks",
                                 r.kernel, shown(r.grid), l.grid[0], l.grid[1], l.grid[2]));
    }
    if (block[i] > l.block[i]) {
      return refused(error::invalid_configuration, Cause::too_many_threads,
                     fmt::format("{}: launched with block {}, the device takes at most ({},{},{}) threads",
                                 r.kernel, shown(r.block), l.block[0], l.block[1], l.block[2]));
    }
  }
  const std::uint64_t threads = std::uint64_t{block[0]} * block[1] * block[2];
  if (threads > l.threads_per_block) {
    return refused(error::invalid_configuration, Cause::too_many_threads,
                   fmt::format("{}: launched with {} threads a block, the device takes at most {}", r.kernel,
                               threads, l.threads_per_block));
  }
  if (const std::size_t allowed = max_dynamic_shared(r.function, r.kernel); r.shared_bytes > allowed) {
    const bool opt_in = r.shared_bytes <= l.shared_bytes_opt_in;
    return refused(error::invalid_value, Cause::shared_memory,
                   fmt::format("{}: launched with {} bytes of dynamic shared memory, the {} {}{}", r.kernel,
                               r.shared_bytes, opt_in ? "kernel may use" : "device has",
                               opt_in ? allowed : l.shared_bytes_opt_in,
                               opt_in ? " without cudaFuncSetAttribute(MaxDynamicSharedMemorySize)" : ""));
  }
  constexpr unsigned kMostOfCluster = 8;
  if (r.cluster > 1 && (r.cluster > kMostOfCluster || grid[0] % r.cluster != 0 || r.cooperative)) {
    return refused(
        error::invalid_configuration, Cause::clusters,
        fmt::format("{}: launched with clusters of {} blocks along x and grid {}, expected at most {} "
                    "that divide the grid, in a launch that is not cooperative",
                    r.kernel, r.cluster, shown(r.grid), kMostOfCluster));
  }
  if (r.cooperative) {
    const std::uint64_t blocks = std::uint64_t{grid[0]} * grid[1] * grid[2];
    const std::uint64_t most = std::uint64_t{l.processors} * (l.threads_per_processor / threads);
    if (blocks > most) {
      return refused(error::cooperative_launch_too_large, Cause::too_many_blocks,
                     fmt::format("{}: cooperative launch of {} blocks, the device holds at most {} at once",
                                 r.kernel, blocks, most));
    }
  }
  return error::success;
}

// A pointer to const is a promise: as long as no other argument of the launch may write the same buffer, a
// write to it is a fault.
std::vector<Buffer*> mark_inputs(const LaunchRequest& r) {
  const std::string_view kinds = parameter_kinds(r.kernel);
  std::set<Buffer*> constant, writable;
  for (unsigned i = 0; i < r.argument_count; ++i) {
    if (r.argument_bytes[i] != sizeof(void*)) continue;
    void* pointer = *static_cast<void* const*>(r.arguments[i]);
    Buffer* buffer = Memory::instance().find(pointer);
    if (!buffer) continue;
    const char kind = kinds.size() == r.argument_count ? kinds[i] : 'p';
    (kind == 'c' ? constant : writable).insert(buffer);
  }
  std::vector<Buffer*> marked;
  for (Buffer* b : constant) {
    if (writable.count(b) || b->input) continue;
    b->input = true;
    marked.push_back(b);
  }
  return marked;
}

/// As deep as a device goes.
constexpr unsigned kDeepest = 24;

/// From a device thread: the grid runs when the one that asks for it has ended, which is no earlier than a
/// device may run it, and before anything that the host asks for next.
int launch_child(const LaunchRequest& request) {
  run_alone();
  Launch& parent = current_block()->launch();
  if (parent.depth + 1 >= kDeepest)
    return refuse(
        error::launch_max_depth_exceeded,
        fmt::format("{}: launched from the device at a depth of more than {}", request.kernel, kDeepest));
  if (const int code = check_geometry(request); code != error::success) return code;
  KeptLaunch child(request);
  child.request.stream = parent.request.stream;
  const std::lock_guard lock(parent.children_mutex);
  parent.children.push_back(std::move(child));
  return error::success;
}

/// What stands in HIP's macro for names with commas, where a launch names its kernel so.
const char* without_macro(const char* kernel) {
  constexpr std::string_view kMacro = "HIP_KERNEL_NAME(";
  const std::string_view name = kernel;
  if (name.substr(0, kMacro.size()) != kMacro || name.back() != ')') return kernel;
  static std::mutex mutex;
  static std::set<std::string> names;
  const std::lock_guard lock(mutex);
  return names.emplace(name.substr(kMacro.size(), name.size() - kMacro.size() - 1)).first->c_str();
}

/// A block along x alone, of no more threads than the run allows.
LaunchRequest with_fewer_threads(const LaunchRequest& request) {
  LaunchRequest narrow = request;
  const std::uint32_t most = settings().most_threads;
  if (most != 0 && request.block.y == 1 && request.block.z == 1 && request.block.x > most)
    narrow.block.x = most;
  return narrow;
}

/// Whether the filters of the run let the watch see this launch.
bool is_watched(const LaunchRequest& r) {
  static std::uint64_t launches = 0;
  const Settings& s = settings();
  const std::uint64_t number = ++launches;
  if (number < s.first_watched || number > s.last_watched) return false;
  return s.watched_kernel.empty() || is_named(r.kernel, s.watched_kernel);
}

/// Runs a watched launch with its blocks side by side; false where its memory is as before, and it is to run on one
/// core.
bool runs_side_by_side(Launch& run) {
  if (!may_run_side_by_side(run, workers_allowed())) return false;
  Turns turns;
  run.turns = &turns;
  watch::begin_claims(run.blocks);
  watch::begin_undo();
  run_grid(run);
  run.turns = nullptr;
  if (turns.given_up()) watch::undo_writes();
  if (turns.given_up() || !turns.has_paid()) run_alone_from_now_on(run);
  return !turns.given_up();
}

/// Runs it in the way that is fastest; whether its blocks ran side by side. `first_segment`: of the watch's.
bool run_launch(std::optional<Launch>& run, std::uint32_t& first_segment) {
  first_segment = watch::next_segment();
  if (run->watch && runs_side_by_side(*run)) return true;
  if (run->wanted_cluster != 0) return false;
  if (run->next != 0) {
    // What the attempt has noted is of a phase before the one that begins.
    const LaunchRequest& request = run->request;
    const unsigned depth = run->depth;
    run.emplace(request);
    run->depth = depth;
    run->watch = true;
    watch::begin_launch();
    first_segment = watch::next_segment();
  }
  run_grid(*run);
  return false;
}

}  // namespace

void add_record(LaunchRecord record) {
  std::lock_guard lock(record_mutex);
  if (launch_records.size() < 100000) launch_records.push_back(std::move(record));
}

std::vector<LaunchRecord> take_records() {
  std::lock_guard lock(record_mutex);
  return std::exchange(launch_records, {});
}

int launch_grid(const LaunchRequest& asked, unsigned depth) {
  const closed::Open open;
  LaunchRequest request = with_fewer_threads(asked);
  LaunchRecord record;
  record.kernel = request.kernel;
  record.grid = {request.grid.x, request.grid.y, request.grid.z};
  record.block = {request.block.x, request.block.y, request.block.z};
  record.shared_bytes = request.shared_bytes;
  record.stream = stream_order::number_of(request.stream);
  record.error = check_geometry(request);
  std::deque<KeptLaunch> children;
  // The watch follows one launch at a time: threads of the host that launch at once take turns.
  static std::mutex watched_mutex;
  std::unique_lock turn(watched_mutex, std::defer_lock);
  if (record.error == error::success && !settings().kernels_idle) {
    if (settings().watch) turn.lock();
    stream_order::launched(request, parameter_kinds(request.kernel));
    const auto work = watch::host_order::taken();
    std::optional<Launch> latest(std::in_place, request);
    latest->depth = depth;
    latest->watch = latest->watch && is_watched(request);
    std::vector<Buffer*> inputs;
    if (latest->watch) {
      watch::begin_launch();
      watch::begin_counting();
      inputs = mark_inputs(request);
      for (Buffer* b : Memory::instance().live_buffers()) {
        const auto held = Memory::instance().hold();
        if (b->live) watch::expect_touches(*b);
        if (b->live && b->tensor && !b->initialised) b->initialised = watch::host_wrote(*b);
      }
    }
    if (settings().blocks != 0)
      for (Buffer* b : Memory::instance().live_buffers()) b->touched = false;
    std::uint32_t first_segment = 0;
    const auto begin = std::chrono::steady_clock::now();
    record.side_by_side = run_launch(latest, first_segment);
    if (const std::uint32_t cluster = latest->wanted_cluster.load(); cluster != 0) {
      request.cluster = cluster;
      const int refusal = check_geometry(request);
      const bool watched = latest->watch;
      latest.emplace(request);
      latest->depth = depth;
      latest->watch = watched;
      latest->error = refusal;
      if (watched) watch::begin_launch();
      if (refusal == error::success) record.side_by_side = run_launch(latest, first_segment);
    }
    Launch& run = *latest;
    if (run.watch && work)
      watch::host_order::ran(*work, request.kernel, first_segment, watch::next_segment());
    record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    record.thread_steps = run.thread_steps.load();
    record.blocks = run.blocks;
    record.watched = run.watch;
    record.error = run.error.load();
    if (record.error == error::success) children = std::move(run.children);
    for (Buffer* b : inputs) b->input = false;
    // What the blocks that did not run would have written, nobody knows.
    if (run.watch) watch::end_counting(run.blocks < run.of_grid);
    if (run.blocks < run.of_grid) {
      for (Buffer* b : Memory::instance().live_buffers()) watch::leave_guesses(*b);
    }
    for (Buffer* b : Memory::instance().live_buffers()) {
      if (b->space == Space::shared) continue;
      if (const std::ptrdiff_t at = Memory::instance().broken_canary(*b); at >= 0) {
        if (!settings().watch || run.watch) watch::report_canary(run, *b, at);
        Memory::instance().mend_canary(*b);
      }
    }
    if (record.error != error::success) refuse(record.error, "");
  }
  if (turn.owns_lock()) turn.unlock();
  const int code = record.error;
  add_record(std::move(record));
  for (const KeptLaunch& child : children) launch_grid(child.request, depth + 1);
  return code;
}

int launch(const LaunchRequest& asked) {
  LaunchRequest request = asked;
  request.kernel = without_macro(asked.kernel);
  if (current_thread()) return launch_child(request);
  Graph* const graph = request.copyable ? isomer_emulator_captured(request.stream) : nullptr;
  if (graph == nullptr) return launch_grid(request, 0);
  const auto run = [](void* state, void* stream) {
    LaunchRequest again = static_cast<const KeptLaunch*>(state)->request;
    again.stream = stream;
    launch(again);
  };
  isomer_emulator_graph_add(graph, {run, [](void* state) { delete static_cast<KeptLaunch*>(state); },
                                    new KeptLaunch(request), NodeKind::kernel});
  return error::success;
}

KeptLaunch::KeptLaunch(const LaunchRequest& launch)
    : request(launch), package(launch.package_bytes / sizeof(std::max_align_t) + 1) {
  std::memcpy(package.data(), launch.package, launch.package_bytes);
  const auto* from = static_cast<const std::byte*>(launch.package);
  auto* to = reinterpret_cast<std::byte*>(package.data());
  for (unsigned i = 0; i < launch.argument_count; ++i) {
    arguments.push_back(to + (static_cast<const std::byte*>(launch.arguments[i]) - from));
    bytes.push_back(launch.argument_bytes[i]);
  }
  request.package = package.data();
  request.arguments = arguments.data();
  request.argument_bytes = bytes.data();
}

}  // namespace isomer::emulator

extern "C" __attribute__((visibility("default"))) int isomer_emulator_launch(
    const isomer::emulator::LaunchRequest* request) {
  return isomer::emulator::launch(*request);
}
