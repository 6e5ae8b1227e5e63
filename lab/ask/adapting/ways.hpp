#pragma once

#include "lab/ask/adapting/simpler_ports.hpp"
#include "lab/ask/find_call.hpp"

#include <memory>
#include <string>

namespace isomer::lab {

/// What became of a call, for the sentence that says which is no longer asked.
struct Outcome {
  std::string text = {};  ///< empty: there was none
  std::string line = {};  ///< the problem's
  bool strays = false;    ///< memory outside the tensors was accessed
};

struct Way {
  std::shared_ptr<Simpler> simpler;
  Form form;
  Dtypes dtypes;
  std::shared_ptr<const Given> given;
  Trial trial;
  double score = -3;
  bool elsewhere = false;  ///< right in another of its problems than this one
  bool caused = false;     ///< right but for one fault that is known
  bool speaks = false;     ///< answers, where the usual sizes have nothing written
  Outcome limit = {};      ///< of the same call of usual sizes; empty where it is one
};

/// What speaks for a way of calling, where the answer may be wrong in it too. Stores of one value by several
/// threads say nothing of sizes, nor do barriers that are missing within a block.
double likelihood(const Given& given, const Trial& trial);

/// Whether all of an answer is written, or what is written of it is right: of a tile that it does not take, a
/// function leaves more out, or strays.
bool is_right_as_far_as_written(const Given& given, const Trial& trial);

/// Whether threads of a block left out a barrier at which others waited.
bool leaves_barriers_out(const Trial& trial);

Outcome outcome(const Given& given, const Trial& trial);

/// Whether threads of a block were seen to meet in shared memory with no barrier between.
bool races_within_blocks(const Trial& trial);

/// Whether an answer is right, and kept to its memory.
bool is_right(const Given& given, const Trial& trial);

/// Two sizes that are set to one number hide who takes the one for the other. Whether the way is wrong as
/// soon as one of them is twice as large, whichever it is; who refuses that has said its limit.
bool confuses_sizes(const Candidate& candidate, const Way& way, const CallSettings& settings, double& worked);

/// Whether a way whose first problem has a wrong answer is right in another that asks for as many sizes, and
/// keeps to its memory in all of them: then these are not what is wrong.
bool right_elsewhere(const Candidate& candidate, const Way& way, const CallSettings& settings,
                     double& worked);

/// The least that speaks for a way in the first of its other problems, which have the sizes in another order.
double likelihood_of_others(const Candidate& candidate, const Way& way, const CallSettings& settings,
                            double& worked);

/// What speaks for a way where the op is asked with a flag that the function has no parameter for, such as a
/// mask that it always has; `right`: its answer is right so.
double likelihood_with_flag(const Candidate& candidate, const Way& way, const CallSettings& settings,
                            double& worked, bool& right);

/// Whether an answer is written in full, kept to its memory, and right in about half of its elements.
bool is_half_right(const Given& given, const Trial& trial);

}  // namespace isomer::lab
