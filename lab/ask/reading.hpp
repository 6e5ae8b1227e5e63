#pragma once

#include "lab/ask/port.hpp"
#include "lab/candidate/recording.hpp"

#include <memory>
#include <string>
#include <vector>

namespace isomer::lab {

/// What callers mean by an op, of which the name says too little.
struct Reading {
  std::vector<const Port*> ports;  ///< the originals that they may call, likeliest first
  /// Where callers have an order of their own, or never use what an op can do more, originals with that order
  /// and without probes of that: `ports` are these.
  std::vector<std::shared_ptr<const oracle::Original>> narrowed;
  std::vector<std::shared_ptr<const Port>> owned;
  bool answered =
      false;  ///< every recorded call is one of the op's, and every answer that was looked at its own
  std::string another;  ///< why it is another operation of the same name; empty where it is none
};

/// Of the op's originals, which may differ in the order of their axes, those that fit the recorded calls,
/// their answers and what instruction, label and test (`texts`) call the axes; where nobody says it, the
/// contract's order. A recorded operation whose arguments no original has, or whose answers the op nowhere
/// gives, is another one.
Reading reading_of(const std::string& op, const Recording* recording, const std::vector<std::string>& texts);

/// The op whose answers the recorded ones are, whatever its callers call it; empty where none's are.
std::string op_of_answers(const Recording& recording);

}  // namespace isomer::lab
