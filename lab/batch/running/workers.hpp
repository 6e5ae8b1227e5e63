#pragma once

#include "lab/batch/running/keeper.hpp"

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace isomer::lab {

/// Processes that judge one folder at a time, so that whatever ends one of them ends no other's work: what
/// judges is forked off, and what it says comes back as bytes. The process that owns them has one thread.
class Workers {
 public:
  /// What is done in a worker for a number that start() was given.
  using Work = std::function<std::string(std::size_t)>;
  /// What a worker said of a number; or, where it ended without a word, a sentence on how.
  struct Said {
    std::size_t number = 0;
    std::string bytes, trouble;
  };

  /// `not_theirs`: a descriptor that a worker closes when it begins; -1 is none.
  Workers(int count, Work work, int not_theirs = -1);
  /// Ends them and everything that they have started.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  bool idle() const;  ///< whether one of them has nothing to do
  bool busy() const;  ///< whether one of them has something to do
  void start(std::size_t number);
  /// Waits until one has spoken, at most so long, or until a signal that asks this process to stop; that is
  /// then in `stop`. Whoever works longer than `each` seconds (0: for ever) is ended.
  std::vector<Said> wait(double seconds, double each, int& stop);

 private:
  struct Worker {
    pid_t process = -1;
    int socket = -1;
    bool working = false;
    std::size_t number = 0;
    int served = 0;
    double since = 0;
    std::string received;
  };

  void begin(Worker& worker);
  void end(Worker& worker);
  [[noreturn]] void serve(int socket) const;
  bool hear(Worker& worker, Said& said);

  Work work_;
  Keeper keeper_;
  std::vector<Worker> workers_;
  int not_theirs_ = -1, signals_ = -1;
};

}  // namespace isomer::lab
