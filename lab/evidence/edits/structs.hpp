#pragma once

#include "lab/evidence/edits/variables.hpp"
#include "lab/text/cpp_tokens.hpp"

#include <map>
#include <string>
#include <vector>

namespace isomer::lab {

/// A member of a variable that can be named in a place: `p.stride`, `s.in.h`.
struct CppMember {
  std::string text;
  std::string type;   ///< as CppVariable::type
  bool used = false;  ///< its function names a member of that name
};

/// Structures that a source declares, and the members of those of its variables that have such a type.
class CppStructs {
 public:
  CppStructs(const CppTokens& tokens, const CppFunctions& functions);

  bool empty() const { return structs_.empty(); }
  /// Of all variables that are in scope at the token, declared before it; inner ones last.
  std::vector<CppMember> in_scope(std::size_t token) const;
  /// Of the variable that the token names; none where it names another one.
  std::vector<CppMember> of(std::size_t token) const;
  /// The last token of a variable with its members that begins there: `s.in.h`; the token itself where no
  /// member is behind it.
  std::size_t end_of(std::size_t token) const;

 private:
  struct Field {
    std::string name, type;
  };
  void find(std::size_t word);
  void add_fields(std::size_t first, std::size_t last, std::vector<Field>& fields) const;
  void append(const std::string& base, const std::string& type, std::size_t token, int depth,
              std::vector<CppMember>& list) const;
  bool is_used(const std::string& name, std::size_t token) const;

  const CppTokens& tokens_;
  const CppFunctions& functions_;
  std::map<std::string, std::vector<Field>> structs_;
};

}  // namespace isomer::lab
