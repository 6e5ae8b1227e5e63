#pragma once

#include "lab/evidence/edits/exchangeable.hpp"
#include "lab/evidence/edits/numbers.hpp"
#include "lab/evidence/edits/structs.hpp"
#include "lab/evidence/edits/variables.hpp"
#include "lab/text/cpp_tokens.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isomer::lab {

struct SourceValue;

/// A line without its indentation and what is blank at its end.
std::string without_spaces(std::string_view line);

/// Where edits of a source are collected: what each is in the source, and how the compiled one chooses it.
class EditPlaces {
 public:
  EditPlaces(const std::string& source, const CppTokens& tokens, const CppFunctions& functions,
             const RefusedEdits& refused, const OfLabel& label);

  const std::string& source() const { return source_; }
  const CppTokens& tokens() const { return tokens_; }
  const CppFunctions& functions() const { return functions_; }
  const CppStructs& structs() const { return structs_; }
  const OfLabel& label() const { return label_; }
  const AbsentNumbers& absent() const { return absent_; }
  /// Whether expressions on that token's line are exchanged at all.
  bool open(std::size_t token) const;
  /// The same where another object stands there, and no value: a function may write to it.
  bool open_object(std::size_t token) const;
  /// The same of whole statements and conditions.
  bool open_statement(std::size_t token) const;
  /// The same of values that are written anew.
  bool open_rewrites(std::size_t token) const;

  /// A part of the source that is another text with the edit.
  struct Part {
    std::size_t first, last;  ///< tokens
    std::string text;
  };
  /// Takes an edit down, and gives its number. One of whose parts spans lines, or that changes nothing, only
  /// has a number.
  int add(std::vector<Part> parts, Code code, int rank);
  /// Whether that text of a value on that line is not to be compiled.
  bool is_refused(int line, const std::string& text) const { return refused_.values.count({line, text}) > 0; }
  /// Whose texts are refused where it does not compile.
  void takes(int number, int line, std::string text) { values_[number].emplace_back(line, std::move(text)); }
  /// The number that the next edit gets.
  int next() const { return next_; }

  // What the compiled source has there. Round the same tokens what comes later stands outside.
  void replace(std::size_t token, std::string text) { replaced_[token] = std::move(text); }
  void alternative(std::size_t token, int number, std::string text) {
    alternatives_[token].emplace_back(number, std::move(text));
  }
  void surround(std::size_t first, std::size_t last, const std::string& before, const std::string& behind);

  /// Those of the values in which no edit is chosen stay as they are in each call. The last to be called.
  void keep_unedited(const std::vector<SourceValue>& values);

  Exchangeable whole() &&;

 private:
  static constexpr std::size_t kMostUnedited = 1 << 14;  ///< of isomer_emulator_edit_ways

  /// What asks which kernel is launched, or whether memory begins at a whole vector.
  void find_choices();
  /// What says how many threads a block has: a kernel with a fault of its own may be right with others.
  void find_threads();
  /// Conditions that the compiler decides.
  void find_constant();
  /// What a function of the source is given to write to: another expression there has no place in memory.
  void find_references();
  bool can_be_edited(std::size_t token) const {
    return functions_.in_body(token) && !constant_[token] && !referred_[token];
  }
  /// Nothing where a part spans lines. A line that is left with no word is an empty statement.
  std::optional<std::string> line_with(const std::vector<Part>& parts) const;

  const std::string& source_;
  const CppTokens& tokens_;
  const CppFunctions& functions_;
  const RefusedEdits& refused_;
  const OfLabel& label_;
  const AbsentNumbers absent_;
  const CppStructs structs_;
  std::vector<bool> chooses_, constant_;  ///< per token; the second stays as it is
  std::vector<bool> referred_;            ///< what stands there is written to by a function
  int next_ = 1;
  std::vector<Exchange> edits_;
  std::string unedited_;  ///< a number of what is compiled, and the value that it is in; 0: none of them
  std::map<int, std::vector<std::pair<int, std::string>>> values_;
  std::map<std::size_t, std::string> replaced_;
  struct Round {
    std::size_t first, last;
    std::string before, behind;
  };
  std::vector<Round> rounds_;
  std::map<std::size_t, std::vector<std::pair<int, std::string>>> alternatives_;
};

/// Operators, numbers and functions for others of their kind.
void add_expressions(EditPlaces& places);

/// Variables, and memory, for others of their kind.
void add_names(EditPlaces& places);

/// What may have to be one more or one less, or twice as much.
void add_one_more(EditPlaces& places);

/// Constants of the source and of templates in each other's place.
void add_constants(EditPlaces& places);

/// Elements of a table of numbers in each other's place, or with another sign.
void add_tables(EditPlaces& places);

/// x, y, z and w of a variable, and the members that an object is made of, in each other's place.
void add_members(EditPlaces& places);

/// Members of a structure in each other's place, and for whole numbers.
void add_other_members(EditPlaces& places);

/// Sizes for strides of tensors, and two dimensions of a list in each other's place.
void add_tensors(EditPlaces& places);

/// Two variables in each other's place within one part of an expression.
void add_pairs(EditPlaces& places);

/// Which group an index belongs to.
void add_groups(EditPlaces& places);
/// Sums that are multiplied where the maximum that they are made under grows.
void add_rescaled(EditPlaces& places);

/// Counts that are one less or more, or so many times another.
void add_counts(EditPlaces& places);

/// Dimensions of an index in each other's place.
void add_levels(EditPlaces& places);
/// Two statements in each other's place.
void add_order(EditPlaces& places);

/// Conditions, without each of their terms or joined in another way.
void add_conditions(EditPlaces& places);
/// What may have been left out: factors, terms and limits of values.
void add_insertions(EditPlaces& places);
/// The same of bounds and barriers.
void add_bounds(EditPlaces& places);
/// How a loop goes on, sums that many threads add to, and memory that begins as zeros.
void add_ways(EditPlaces& places);
/// Assignments, factors of what is assigned, and arguments of calls.
void add_statements(EditPlaces& places);
/// What was read and is to be kept, and what is to be done only below a size.
void add_carried(EditPlaces& places);
/// Statements that a row of alike ones lacks, or that an `else` keeps from being reached.
void add_series(EditPlaces& places);
/// Whole values that are put together in another way, or have changed places.
void add_rewrites(EditPlaces& places);
/// What a round of a loop may lack: a first value, or a factor of what is summed up.
void add_rounds(EditPlaces& places);

}  // namespace isomer::lab
