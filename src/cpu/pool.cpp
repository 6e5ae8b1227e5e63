#include <isomer/executor.hpp>

#include "core/sentence.hpp"
#include "cpu/thread_count.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace isomer {
namespace {

/// Set while a thread runs a piece of work: a parallel_for from inside runs inline.
thread_local bool inside = false;

/// All pieces on the calling thread.
void run_inline(std::int64_t count, Executor::Task task, void* context) {
  const bool outer = inside;
  inside = true;
  for (std::int64_t i = 0; i < count; ++i) task(context, i, 0);
  inside = outer;
}

/// One parallel_for: pieces are taken from a shared counter.
struct Job {
  Executor::Task task;
  void* context;
  std::int64_t count;
  std::atomic<std::int64_t> next{0};
  std::atomic<int> workers{1};  ///< the next worker number to hand out; 0 is the caller's
  std::atomic<int> running{0};  ///< pool threads inside the job
};

void work(Job& job, int worker) {
  inside = true;
  for (std::int64_t i; (i = job.next.fetch_add(1, std::memory_order_relaxed)) < job.count;)
    job.task(job.context, i, worker);
  inside = false;
}

/// Threads that wait for jobs. Jobs of several callers queue; every idle thread helps the oldest that has
/// pieces left.
class Pool : public Executor {
 public:
  explicit Pool(int threads) : threads_(threads), process_(getpid()) { start(); }

  ~Pool() override {
    if (process_ != getpid()) {
      // In a forked child the threads do not exist: their handles must not be joined.
      for (std::thread& thread : pool_) thread.detach();
      return;
    }
    stop();
  }

  int concurrency() const override { return threads_; }
  bool of_this_process() const { return process_ == getpid(); }

  void parallel_for(std::int64_t count, Task task, void* context) override {
    if (count <= 0) return;
    if (count == 1 || threads_ == 1 || inside || process_ != getpid()) {
      return run_inline(count, task, context);
    }
    Job job{task, context, count};
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(&job);
    }
    if (count == 2)
      wake_.notify_one();
    else
      wake_.notify_all();
    work(job, 0);
    std::unique_lock lock(mutex_);
    std::erase(jobs_, &job);
    done_.wait(lock, [&] { return job.running.load() == 0; });
  }

 private:
  void start() {
    try {
      for (int i = 1; i < threads_; ++i) pool_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
      stop();
      core::fail(ErrorCode::out_of_memory, "executor: the system gave ", pool_.size() + 1, " of ", threads_,
                 " threads");
    }
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : pool_) thread.join();
  }

  void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      Job* job = nullptr;
      for (Job* candidate : jobs_)
        if (candidate->next.load(std::memory_order_relaxed) < candidate->count) {
          job = candidate;
          break;
        }
      if (job == nullptr) {
        if (stopping_) return;
        wake_.wait(lock);
        continue;
      }
      job->running.fetch_add(1);
      const int worker = job->workers.fetch_add(1);
      lock.unlock();
      if (worker < threads_) work(*job, worker);
      lock.lock();
      if (job->running.fetch_sub(1) == 1) done_.notify_all();
    }
  }

  const int threads_;
  const pid_t process_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<Job*> jobs_;
  std::vector<std::thread> pool_;
  bool stopping_ = false;
};

/// The process's own pool, which stands for a new one in a forked child.
class Standard : public Executor {
 public:
  int concurrency() const override { return threads_; }
  void parallel_for(std::int64_t count, Task task, void* context) override {
    // The calls of which every microsecond counts are one piece: no pool, and no question which process it
    // is.
    if (count == 1) return run_inline(count, task, context);
    pool().parallel_for(count, task, context);
  }

 private:
  /// Takes no lock, which a thread that a fork has left behind could hold for ever.
  Executor& pool() {
    Pool* made = current_.load(std::memory_order_acquire);
    if (made != nullptr && made->of_this_process()) return *made;
    // The parent's pool, if any, is left alone in the child: its threads and locks belong to the parent.
    auto fresh = std::make_unique<Pool>(threads_);
    if (current_.compare_exchange_strong(made, fresh.get())) return *fresh.release();
    return *made;
  }

  const int threads_ = cpu::thread_count();
  std::atomic<Pool*> current_{nullptr};
};

}  // namespace

std::shared_ptr<Executor> Executor::standard() {
  // Never destroyed: its threads may outlive static destruction.
  static auto* pool = new std::shared_ptr<Executor>(std::make_shared<Standard>());
  return *pool;
}

std::shared_ptr<Executor> Executor::with_threads(int threads) {
  if (threads > kMaxConcurrency)
    core::fail(ErrorCode::bad_argument, "executor: at most ", kMaxConcurrency, " threads expected, got ",
               threads);
  return std::make_shared<Pool>(threads < 1 ? 1 : threads);
}

}  // namespace isomer
