#pragma once

#include "lab/ask/recorded/replayed.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// Calls besides the recorded ones, and what their answers show.
namespace isomer::lab {

/// What an element of that type is where all of its bytes are one.
double filled_with(DType dtype, std::uint8_t byte);
/// Whether an element of an answer changes with a tensor, in reverse order or all alike.
bool depends_on(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                std::size_t role);
/// What an argument has no influence on although the answer is wrong, or although the label indexes by it.
void probe_ignored(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                   const Facts* facts, std::vector<Finding>& findings);
/// What candidates that are right so far do with values that no recorded call has, of which the reference was
/// asked as well: exponentials that overflow, an epsilon that counts. Small differences are no matter there.
/// `numbers`: those that the label writes, by which alone it bounds values; empty: not known.
void ask_beyond(const Approach& approach, const std::vector<Replayed>& asked,
                const std::vector<std::string>& numbers, std::vector<Finding>& findings);
/// What they do with sizes that no recorded call has, of which the reference was asked: ends that no whole
/// block covers, and sizes that are refused. `calls`: the recorded ones. `all_right`: each of them is;
/// otherwise only what is wrong for one size and right for another near it is told.
void ask_sizes(const Approach& approach, const std::vector<Replayed>& calls,
               const std::vector<Replayed>& asked, bool all_right, std::vector<Finding>& findings);
/// The forms that pass the same whole numbers as the approach's in the recorded calls, and others in this.
using OtherForms = std::function<std::vector<Form>(const Replayed& replayed)>;
/// What candidates that are right so far do with sizes that are a good deal larger than every recorded
/// call's, of which the reference was asked: elements that no block, thread or round of a loop reaches. What
/// they refuse, or have no room for, is a limit. `larger`: those calls, of one size the smaller before the
/// larger.
void ask_larger(const Approach& approach, const std::vector<Replayed>& calls,
                const std::vector<Replayed>& larger, const OtherForms& other_forms,
                std::vector<Finding>& findings);
/// Exponentials that overflow for large inputs, of a label that takes a maximum before its own.
void probe_overflow(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                    const Facts* facts, std::vector<Finding>& findings);
/// Sums of exponentials that are not rescaled when a larger maximum comes, of a label that takes one: they
/// are right where the maximum of each row comes first. Whether that is so.
bool probe_rescale(const Approach& approach, const std::vector<Replayed>& calls,
                   const std::vector<CallOutcome>& outcomes, const Facts* facts,
                   std::vector<Finding>& findings);
/// Of an answer that nothing else explains: vectors that reach it along another dimension than the one that
/// is as long as they are, the ends of inputs that do not reach it at all, and of an original with a
/// `softmax` causal masks that begin with the first key where it begins later.
void probe_influence(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                     const Facts* facts, std::vector<Finding>& findings);
/// Of a wrong call the results of which all wrong elements were not written at all: the memory for them holds
/// what it held before. Whether one is not written anywhere.
bool probe_unwritten_results(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                             std::vector<Finding>& findings);
/// A right answer in memory that nobody has cleared: whether it is right with something else in it too.
void probe_fresh_results(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                         std::vector<Finding>& findings);
/// Parts of what a block has, as the upper half of its threads, that do not reach what rows are reduced to.
void probe_parts_of_blocks(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                           std::vector<Finding>& findings);
/// Whether a wrong answer is that of counts, as lengths of sequences, without their last, partial block.
void probe_short_blocks(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                        std::vector<Finding>& findings);
/// Whether the last bits of f32 inputs have no influence on an answer that is wrong: operands made narrower.
void probe_ignored_bits(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                        std::vector<Finding>& findings);
/// Strides that the label takes as they are, and the candidate does not: it is called with views of the
/// recorded values. What it refuses is left to it.
void probe_views(const Approach& approach, const std::vector<Replayed>& calls,
                 const std::vector<CallOutcome>& outcomes, std::vector<Finding>& findings);
/// Arguments that the line of a first overrun overruns as well: a thread ends with the first. Called again
/// with room around that argument it gets on to the next.
void probe_overruns(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                    std::vector<Finding>& findings);
/// Races of calls in which a tensor of indices names one place twice, where those in which it does not have
/// none: the label's own answer is not defined there, which is the test's fault.
void tell_repeated_indices(const std::vector<Replayed>& calls, const std::vector<CallOutcome>& outcomes,
                           std::vector<Finding>& findings);
/// Elements that nothing writes, and calls that depend on those before them.
void probe_memory(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                  std::vector<Finding>& findings);

/// Whether the calls that are right, of which some could not be right by chance, are the same where no thread
/// of their kernels runs.
bool are_same_without_kernels(const Approach& approach, const std::vector<Replayed>& calls,
                              const std::vector<CallOutcome>& outcomes);

}  // namespace isomer::lab
