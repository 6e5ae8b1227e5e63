#pragma once

#include "functions.hpp"
#include "oracle/problem.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace isomer::bad_input {

/// A call that is right until a test spoils it.
class Attempt {
 public:
  explicit Attempt(const std::string& line);

  oracle::Problem& problem() { return *problem_; }
  const core::Call& call() const { return problem_->call(); }
  const Function& function() const { return *function_; }
  /// The tensor of that argument, to be spoiled.
  Tensor& tensor(int argument) {
    return *const_cast<Tensor*>(call().tensors[static_cast<std::size_t>(argument)]);
  }

  /// Runs the call; the sentence of the failure, "" where there is none. Counted where it failed.
  std::string cxx();
  std::string explain();
  std::string c(const CTensors& tensors);
  std::string c() { return c(CTensors(call())); }

  /// Every byte of every buffer, guards included.
  std::string bytes() const;
  void restore(const std::string& bytes);

  /// Runs the spoiled call in C++ and in C, and asks for its explanation. All three must be refused as
  /// bad_argument with the same single sentence, which begins with the op's name, and write nothing. Gives
  /// the sentence.
  std::string refused(const std::string& what);
  /// The same without C, for what a tensor of C cannot say.
  std::string refused_in_cxx(const std::string& what);
  /// The same, where C can be told apart from C++: the sentence of C.
  std::string refused_in_c(const CTensors& tensors, const std::string& what);

  /// Calls refused so far in this process.
  static int count();

 private:
  std::string sentence_of(const std::function<void()>& run);
  void check_sentence(const std::string& sentence, const std::string& what) const;

  const Function* function_;
  std::unique_ptr<oracle::Problem> problem_;
  Queue queue_ = Queue::cpu();
  std::shared_ptr<isomer_queue> c_queue_;
};

}  // namespace isomer::bad_input
