#include "contain/lasting_thread.hpp"

#include <signal.h>
#include <unistd.h>

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace isomer::emulator {
namespace {

class LastingThread {
 public:
  LastingThread() {
    // Signals are for the threads that expect them.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([this, before] { serve(before); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  int run(const std::function<int()>& work) {
    const std::lock_guard one_at_a_time(callers_);
    std::unique_lock lock(mutex_);
    work_ = &work;
    changed_.notify_all();
    changed_.wait(lock, [&] { return work_ == nullptr; });
    return result_;
  }

 private:
  void serve(const sigset_t& of_children) {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return work_ != nullptr; });
      // What is started has the signals of whoever asked.
      sigset_t own;
      pthread_sigmask(SIG_SETMASK, &of_children, &own);
      result_ = (*work_)();
      pthread_sigmask(SIG_SETMASK, &own, nullptr);
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex callers_, mutex_;
  std::condition_variable changed_;
  const std::function<int()>* work_ = nullptr;
  int result_ = 0;
};

}  // namespace

int on_lasting_thread(const std::function<int()>& work) {
  // Never destroyed: the thread may outlive every static object. A fork has none of its parent's threads.
  static std::mutex mutex;
  static LastingThread* thread = nullptr;
  static pid_t owner = 0;
  std::unique_lock lock(mutex);
  if (owner != getpid()) {
    thread = new LastingThread;
    owner = getpid();
  }
  LastingThread* own = thread;
  lock.unlock();
  return own->run(work);
}

}  // namespace isomer::emulator
