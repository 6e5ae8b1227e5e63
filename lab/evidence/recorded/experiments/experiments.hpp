#pragma once

#include "lab/ask/recorded/replayed.hpp"

#include <vector>

namespace isomer::lab {

/// What one experiment changes: the form, or what is done to a call.
struct Experiment {
  Form form = {};
  std::vector<Adaptation> adaptations = {};
  Finding finding = {};
  Finding first = {};        ///< of two faults at once, the other
  bool reads_wider = false;  ///< looked for only where the candidate reads outside
  double rtol = 0;           ///< what is given has lost that much; 0: nothing
};

/// Experiments on the memory of a call: tensors of another dtype, and answers looked for in what is returned.
void add_memory_experiments(const Approach& approach, const Replayed& replayed,
                            std::vector<Experiment>& list);

/// Results in another order, conditions the other way round, and tensors turned by their last two axes.
void add_turned_experiments(const Approach& approach, const Replayed& replayed,
                            std::vector<Experiment>& list);
/// Rows of tensors, and of the answer with them, in another order: halves for pairs of neighbours.
void add_row_order_experiments(const Approach& approach, const Replayed& replayed,
                               std::vector<Experiment>& list);
/// Numbers, indices and answers that are one more or one less.
void add_offset_experiments(const Approach& approach, const Replayed& replayed,
                            std::vector<Experiment>& list);
/// A number that bounds or shifts what another one scales, applied before that or after it.
void add_scale_order_experiments(const Approach& approach, const Replayed& replayed,
                                 std::vector<Experiment>& list);

/// Inputs made what a candidate that lacks a step of the original takes them for: rows without their mean,
/// magnitudes, angles in other units, exponents of another base.
void add_transform_experiments(const Approach& approach, const Replayed& replayed,
                               std::vector<Experiment>& list);

/// Elements beyond a number of the call made that number: of a candidate that does not bound them.
void add_bound_experiments(const Approach& approach, const Replayed& replayed, std::vector<Experiment>& list);
/// Small numbers that are packed into whole ones, in another order.
void add_packed_experiments(const Approach& approach, const Replayed& replayed,
                            std::vector<Experiment>& list);

/// Everything that a call can be done otherwise, the likeliest first: views copied, arguments in another
/// order, numbers and tensors made what a candidate with a known fault takes them for.
std::vector<Experiment> experiments(const Approach& approach, const Replayed& replayed);

/// Of these, those in which query heads are given their kv heads in turn instead of in groups.
std::vector<Experiment> head_mappings(const Approach& approach, const Replayed& replayed);

/// The arguments after which `replay_once` goes wrong, one after the other: which of the experiments makes
/// them right. Adds to `approach` and to `findings`. `spent`: seconds that this took so far, for calls of all
/// signatures.
void experiment(Approach& approach, const std::vector<Replayed>& calls, std::vector<CallOutcome>& outcomes,
                std::vector<Finding>& findings, double& spent);

}  // namespace isomer::lab
