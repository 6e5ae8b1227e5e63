#include "core/fork_mutex.hpp"

#include <pthread.h>

namespace isomer::core {

/// All that exist, and what a fork does with them.
struct ForkMutexes {
  std::mutex mutex;
  ForkMutex* first = nullptr;

  static ForkMutexes& all() {
    // Never destroyed: a process may fork while it ends.
    static ForkMutexes& made = *[] {
      auto* list = new ForkMutexes;
      // Where the handlers cannot be put in place for lack of memory, a fork is as unsafe as without them.
      static_cast<void>(pthread_atfork([] { all().hold(); }, [] { all().let_go(); }, [] { all().let_go(); }));
      return list;
    }();
    return made;
  }

  void add(ForkMutex& added) {
    const std::lock_guard lock(mutex);
    added.after_ = first;
    if (first != nullptr) first->before_ = &added;
    first = &added;
  }

  void remove(ForkMutex& gone) {
    const std::lock_guard lock(mutex);
    (gone.before_ != nullptr ? gone.before_->after_ : first) = gone.after_;
    if (gone.after_ != nullptr) gone.after_->before_ = gone.before_;
  }

  void hold() {
    mutex.lock();
    for (ForkMutex* each = first; each != nullptr; each = each->after_) each->lock();
  }

  void let_go() {
    for (ForkMutex* each = first; each != nullptr; each = each->after_) each->unlock();
    mutex.unlock();
  }
};

ForkMutex::ForkMutex() { ForkMutexes::all().add(*this); }
ForkMutex::~ForkMutex() { ForkMutexes::all().remove(*this); }

}  // namespace isomer::core
