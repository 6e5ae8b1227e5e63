#pragma once

#include <string>
#include <vector>

namespace isomer::lab {

/// Whether one word is the other, with an ending or with an `n` before it: shift, shifted; bits, nbits.
bool are_one_word(const std::string& one, const std::string& other);

/// The words of a name, in lower case, without those that say only that it is a number or a flag: `n_steps`
/// is {steps}, `kUseBias` {bias}.
std::vector<std::string> words_of_name(const std::string& name);

/// Whether a name says which dimension is worked along; how many of something there are, or how the original
/// is launched.
bool names_an_axis(const std::string& name);
bool names_a_size(const std::string& name);

/// Whether both have the same words, whatever their order: num_pairs and pairs, h_mask and mask_h.
bool are_of_the_same_words(const std::string& one, const std::string& other);

/// How likely two names are one thing by their words: 0 where not every word of the one is in the other.
double likeness_of_names(const std::string& one, const std::string& other);

/// The share of their words that both have, where neither has all of the other's: rho_bar and clip_rho.
double shared_words(const std::string& one, const std::string& other);

/// The words of a tensor's name, without those that say only that it is memory, or which way it goes.
std::vector<std::string> words_of_tensor(const std::string& name);

/// The same of two names of tensors, of which other words say nothing: input_indptr and indptr.
double likeness_of_tensors(const std::string& one, const std::string& other);

}  // namespace isomer::lab
