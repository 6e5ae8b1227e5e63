#pragma once

#include "lab/ask/trial.hpp"
#include "lab/text/lower_case.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Ports of which less is asked than of the op's originals: without what no parameter says, and of sizes for
/// which many kernels are written.
namespace isomer::lab {

/// A port and the original that it refers to, in one.
struct Simpler {
  oracle::Original original;
  Port port;
  std::vector<std::pair<std::string, std::string>> chosen = {};  ///< sizes that were set to a common one
  bool said = false;  ///< one of these is a constant of the source, by the name of it
};

std::shared_ptr<Simpler> simpler_of(const Port& port);
std::shared_ptr<Simpler> copy_of(const Simpler& other);

/// Sets a field of every line that has it.
void choose(Simpler& simpler, const std::string& name, const std::string& value);

/// Sets the query heads of every line to so many for each of its heads of keys. Whether one has both.
bool choose_ratio(Simpler& simpler, int ratio);
/// Behind all of them the same with as many query heads for each head of keys as kernels fix.
void add_ratios(std::vector<std::shared_ptr<Simpler>>& list);

/// Whether it asks for whole tiles alone: sizes that parameters say, set to what many kernels have for a
/// tile.
bool asks_whole_tiles(const Simpler& simpler);
bool asks_one_query(const Simpler& simpler);
/// Whether one query is asked of as many keys.
bool asks_one_key(const Simpler& simpler);

/// Whether the entry's parameters say less than the original's.
bool says_less(const Entry& entry, const oracle::Original& original);

/// Whether a call of sizes that the source names kept to its memory and filled its results: then it is asked
/// for these, whatever is wrong with them, before sizes that nobody names.
bool is_made_for(const Simpler& simpler, const Given& given, const Trial& trial);

/// What is called, with the name of its file and its text.
struct Named {
  const Entry& entry;
  std::string file, source;
  bool after(const std::string& word) const {
    return holds(file, word) || holds(entry.name, word) || holds(entry.function, word);
  }
  /// Whether it is named after the word, or its numbers say that it takes one query.
  bool takes_one(const std::string& word) const;
  static bool holds(const std::string& name, const std::string& word) {
    return lower_case(name).find(word) != std::string::npos;
  }
};

Named named_of(const Candidate& candidate, const Entry& entry);

/// A simpler port, and how a function is called as it.
struct Tried {
  std::shared_ptr<Simpler> simpler;
  Form form;
};

void add_ratios(std::vector<Tried>& list);

/// Of a function over pointers and numbers, in the order in which they are tried: without what no parameter
/// says, of the usual sizes first, then of those for which many kernels are written; and of one query of any
/// number of keys, which comes first where the name says so.
std::vector<Tried> tried_ways(const Named& named, const Port& port, const Form& form);

/// Copies of what is asked first, without what no parameter says, of the usual sizes first, then of those for
/// which many kernels are written. `settled`: fields that stay as they are.
std::vector<std::shared_ptr<Simpler>> simpler_ports(const Named& named, std::shared_ptr<Simpler> first,
                                                    const std::vector<std::string>& settled = {});

/// The sizes for which many kernels are written; where one is known, tiles may be twice as large.
std::vector<std::string> common_sizes(const Named& named, const oracle::Original::Sayable& each);

/// Of a function of tensors: without fields that need not be (as many heads of k as of q, one length),
/// without leading axes, and of common sizes alone. What asks most is first.
std::vector<std::shared_ptr<Simpler>> narrower_ports(const Named& named, const Port& port);

}  // namespace isomer::lab
