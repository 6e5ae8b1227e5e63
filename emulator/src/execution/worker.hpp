// A worker is one operating-system thread that runs blocks; a launch is the grid that the workers share.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "execution/block.hpp"
#include "execution/fiber.hpp"
#include "isomer_emulator/abi.h"
#include "watch/known_sites.hpp"

namespace isomer::emulator {

/// A launch with a copy of its arguments, which runs later: when the grid whose thread asked for it has
/// ended, or in a graph.
struct KeptLaunch {
  explicit KeptLaunch(const LaunchRequest& launch);
  KeptLaunch(KeptLaunch&&) = default;
  KeptLaunch& operator=(KeptLaunch&&) = default;

  LaunchRequest request;
  std::vector<std::max_align_t> package;
  std::vector<const void*> arguments;
  std::vector<std::size_t> bytes;
};

struct Launch {
  explicit Launch(const LaunchRequest& request);
  const LaunchRequest& request;
  std::uint32_t threads_per_block = 0;
  std::uint64_t blocks = 0;   ///< that run
  std::uint64_t of_grid = 0;  ///< of which they are an even sample
  std::uint32_t cluster = 1;  ///< blocks of one
  std::uint64_t seed = 0;
  int lanes = 32;
  bool watch = false;
  bool hip = false;
  std::uint64_t step_limit = 0;
  std::size_t resident_blocks = 0;  ///< how many blocks of the launch may be under way at once, per worker

  Turns* turns = nullptr;  ///< where its blocks run side by side
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> cancelled{false};
  std::atomic<std::uint64_t> waiting{0};   ///< blocks of which every thread looks for something
  std::atomic<bool> waits_in_vain{false};  ///< every thread that is left, as far as can be shown
  std::atomic<int> error{0};
  std::atomic<std::uint32_t> wanted_cluster{0};
  std::atomic<std::uint64_t> thread_steps{0};
  std::uint64_t watched_steps = 0;  ///< of a watched launch, which runs on one worker

  // The grid barrier of a cooperative launch.
  std::atomic<std::uint64_t> grid_generation{0};
  std::atomic<std::uint64_t> grid_arrived{0};
  std::atomic<std::uint64_t> finished{0};
  std::atomic<std::int64_t> last_end{0};  ///< of a block, steady, in nanoseconds
  std::mutex grid_mutex;

  unsigned depth = 0;  ///< of launches from the device, one in the other
  std::mutex children_mutex;
  std::deque<KeptLaunch> children;

  /// The next block, or first of a cluster, in the order of the seed, and its place in that order.
  bool take(std::uint64_t& linear, std::uint64_t& ordinal);
  void fail(int code);  ///< the launch's error; the first one stays
  /// Ends it: its kernel, of which nothing else has run, says that so many blocks are a cluster.
  void run_again_in_clusters(std::uint32_t blocks_of_one);
  void arrive_at_grid_barrier();

 private:
  std::uint64_t multiplier_ = 1, offset_ = 0;
};

class Worker {
 public:
  Worker();
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  void work(Launch& launch);
  void work_on_clusters(Launch& launch);
  void work_side_by_side(Launch& launch);
  void switch_to(Fiber* fiber);
  Fiber* running() { return running_; }
  Fiber* main() { return &main_; }
  FiberPool& pool() { return pool_; }
  Block* block() { return block_; }
  void enter(Block* block) { block_ = block; }
  unsigned place() const { return place_; }  ///< in the launch's turns
  /// Where in device memory its blocks' shared arrays lie (memory/memory.hpp): a region of its own.
  unsigned region() const { return region_; }
  void set_region(unsigned region) { region_ = region; }
  watch::KnownSite* known_sites() { return known_sites_.data(); }
  watch::Numbers& numbers() { return numbers_; }
  static Worker& here();  ///< this operating-system thread's worker
  static Worker* current() { return current_; }

 private:
  static __thread Worker* current_;
  static void body(boost::context::detail::transfer_t from);
  FiberPool pool_;
  unsigned place_ = 0, region_ = 1;
  std::array<watch::KnownSite, watch::kKnownSites> known_sites_{};
  watch::Numbers numbers_;
  std::vector<char> signal_stack_;
  Fiber main_;
  Fiber* running_ = &main_;
  Block* block_ = nullptr;
};

/// The system's number of a thread that runs blocks, another for each turn where several do; 0: none does.
/// Reads nothing but memory, for a signal's handler.
int thread_at_work(unsigned turn);

/// Threads of a launch, below which waking the others costs more.
constexpr std::uint64_t kWorthSharing = 8192;
/// How many workers the settings allow.
int workers_allowed();
/// Runs the whole grid, on as many workers as the settings allow, and returns when it is finished.
void run_grid(Launch& launch);

}  // namespace isomer::emulator
