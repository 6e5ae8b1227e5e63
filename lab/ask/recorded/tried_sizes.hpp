#pragma once

#include "lab/ask/recorded/replayed.hpp"

#include <cstdint>
#include <vector>

/// Ways to pass the sizes of recorded calls, and what comes of one.
namespace isomer::lab {

/// Element counts, rows and sizes of the tensors; of those that are the same in every call one.
std::vector<Passing> sizes_of_calls(const std::vector<Replayed>& calls);

/// Of images by channels, [N, C, H, W], how many planes they are.
Passing planes_of(int role);

/// The tensors' sizes and element counts, however many of them are the same number.
std::vector<Passing> simple_sizes(const Replayed& call);

/// The first of the calls, small ones before large ones: most guesses go astray in the first.
std::vector<const Replayed*> by_size(const std::vector<Replayed>& calls);

/// What a way to pass sizes comes to.
struct Tried {
  double score = 0;
  bool keeps = true;    ///< each call is answered and stays in its buffers
  bool fills = true;    ///< and fills its results
  bool spoils = false;  ///< what is not the call's is written
  bool right = true;    ///< and its answers are right
  bool ends = true;     ///< false: a call of it does not
  std::vector<std::vector<std::vector<double>>> got;
};
Tried tried_with(const Approach& approach, const Form& form, const std::vector<const Replayed*>& calls);

/// The whole numbers that a form passes, call by call.
std::vector<std::int64_t> numbers_passed(const Form& form, const std::vector<Replayed>& calls);

}  // namespace isomer::lab
