#pragma once

#include <isomer/export.hpp>

#include <cstdint>
#include <memory>

namespace isomer {

/// Runs the library's CPU work. An engine may give its own to a Queue, so that there is one pool in the
/// process.
class ISOMER_API Executor {
 public:
  /// One piece of work: `index` in [0, count), `worker` in [0, concurrency()); no two pieces run at once with
  /// one worker number within one parallel_for.
  using Task = void (*)(void* context, std::int64_t index, int worker);

  /// The most threads that an executor may have.
  static constexpr int kMaxConcurrency = 4096;

  virtual ~Executor() = default;

  /// Threads that work at once, the caller among them; 1 to kMaxConcurrency, and always the
  /// same number.
  virtual int concurrency() const = 0;

  /// Calls task(context, i, worker) for every i in [0, count) and returns when all have returned. Tasks do
  /// not throw. Safe to call from many threads at once; a call from inside a task runs its pieces on the
  /// calling thread.
  virtual void parallel_for(std::int64_t count, Task task, void* context) = 0;

  /// The library's own pool: the first number of OMP_NUM_THREADS where it is set, else the CPUs of the
  /// affinity mask and the cgroup's quota. Made on first use and remade in a forked child. Throws Error
  /// bad_argument where OMP_NUM_THREADS is no list of positive numbers.
  static std::shared_ptr<Executor> standard();

  /// A pool of exactly that many threads: 1, and anything below, runs everything on the caller. Throws Error
  /// bad_argument above kMaxConcurrency, out_of_memory where the system does not give that many.
  static std::shared_ptr<Executor> with_threads(int threads);
};

/// parallel_for with a callable `void(std::int64_t index, int worker)`.
template <class Function>
void parallel_for(Executor& executor, std::int64_t count, Function&& function) {
  executor.parallel_for(
      count,
      [](void* context, std::int64_t index, int worker) {
        (*static_cast<std::remove_reference_t<Function>*>(context))(index, worker);
      },
      const_cast<void*>(static_cast<const void*>(&function)));
}

}  // namespace isomer
