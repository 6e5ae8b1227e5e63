#pragma once

#include "lab/text/cpp_tokens.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isomer::lab {

/// A parameter or local variable of a function, and where it can be named.
struct CppVariable {
  std::string name;
  std::string type;  ///< as written, of a number without const; an array's has its extents
  std::size_t declared = 0, first = 0, last = 0;  ///< tokens: its name, and where it is in scope
  bool shared = false;  ///< of a block's threads: no other variable stands in its place
};

// Of CppVariable::type.
bool is_whole_type(const std::string& type);
bool is_real_type(const std::string& type);
/// Of memory with numbers.
bool is_memory_of_numbers(const std::string& type);
/// A word of the type of a number.
bool is_number_word(std::string_view word);

/// What of a source stands in functions, and which variables can be named there.
class CppFunctions {
 public:
  explicit CppFunctions(const CppTokens& tokens);

  /// Whether the token is in a function's body, where an expression may stand: in no declaration of a type, a
  /// constant, shared memory or a template's argument.
  bool in_body(std::size_t token) const { return in_body_[token]; }
  bool starts_statement(std::size_t token) const { return starts_[token]; }
  bool is_declared_here(std::size_t token) const { return declares_[token]; }
  /// Whether a declaration begins there.
  bool begins_declaration(std::size_t token) const { return declaration_[token]; }
  /// Whether anything of its function reads it, and does not only assign to it.
  bool is_used(const CppVariable& variable) const { return used_[variable.declared]; }
  bool is_parameter(const CppVariable& variable) const { return parameters_[variable.declared]; }
  /// The `{` of the function's body in which the token stands; 0: it stands in none.
  std::size_t body_of(std::size_t token) const;
  /// The innermost variable of that name that is in scope there; null: none is.
  const CppVariable* named(std::size_t token) const;
  /// The variable that is declared there; null: none.
  const CppVariable* declared_at(std::size_t token) const;
  /// The variable that a name means where that token stands; null: none.
  const CppVariable* named_as(std::size_t token, std::string_view name) const;
  /// The variables that are named from one token to another, each once.
  std::vector<const CppVariable*> named_in(std::size_t first, std::size_t last) const;
  /// Whether a variable of any function is called so.
  bool is_any(std::string_view name) const;
  /// Whole numbers that are declared before the token and in scope there, inner ones first: those that count
  /// or address, and the parameters, which are sizes.
  std::pair<std::vector<std::string>, std::vector<std::string>> counts_and_sizes(std::size_t token) const;
  /// All variables in scope at the token, inner ones last, hidden ones left out, and shared ones unless they
  /// are asked for.
  std::vector<const CppVariable*> in_scope(std::size_t token, bool with_shared = false) const;

 private:
  void find_bodies();
  void find_parameters(std::size_t open, std::size_t first, std::size_t last);
  void find_locals();
  /// A declaration that begins there; 0 where none does, else the token behind it.
  std::size_t declaration_at(std::size_t start, std::size_t last);
  /// Behind the arguments of a template that open there, of what is named or called; the token itself where
  /// none do.
  std::size_t behind_template(std::size_t open) const;
  std::size_t end_of_scope(std::size_t token) const;
  void leave_out();
  void name_types();
  /// Whether a name is declared there for the type in which PyTorch sums another one up.
  bool is_type_of_sums(std::size_t word) const;
  void find_used();

  const CppTokens& tokens_;
  std::vector<bool> in_body_, starts_, declares_, declaration_, parameters_, used_;
  std::vector<std::size_t> bodies_;
  std::vector<std::size_t> block_;  ///< per token the `{` round it; its own index where it has none
  std::vector<CppVariable> variables_;
};

}  // namespace isomer::lab
