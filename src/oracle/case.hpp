#pragma once

#include <isomer/dtype.hpp>

#include "core/contract.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// One concrete problem as one line that can be pasted back: `attention b=1 sq=1285 hq=16 hkv=2 d=128 f16
/// causal seed=7`.
namespace isomer::oracle {

/// A field of an op's case line. Integers and reals are written name=value; a flag is its name alone; a dtype
/// or a choice is its value alone where `bare`, otherwise name=value.
struct Field {
  enum class Kind { integer, real, flag, dtype, choice };
  std::string name;
  Kind kind = Kind::integer;
  std::string fallback;              ///< the value where the line does not say; "" for a flag
  std::vector<std::string> choices;  ///< the values of a choice; the dtypes of a dtype
  std::string meaning;
  bool bare = false;
  std::string option = {};  ///< the op's option that the field sets; "" for none
};

Field integer(std::string name, std::int64_t fallback, std::string meaning);
Field real(std::string name, double fallback, std::string meaning);
Field flag(std::string name, std::string meaning);
Field dtype(std::string name, std::vector<DType> allowed, DType fallback, std::string meaning,
            bool bare = false);
/// The first value is the fallback.
Field choice(std::string name, std::vector<std::string> values, std::string meaning, bool bare = false);

/// The field that sets an option of the contract: kind, default and values are the option's. Named as the
/// option where `name` is empty.
Field option(const core::Contract& contract, std::string_view option, std::string meaning,
             std::string name = {});
/// The flag that sets a choice of two to its second.
Field flag_of_choice(const core::Contract& contract, std::string_view option, std::string meaning,
                     std::string name);

/// The fields of one op's cases. Every schema also has `seed`, written last; 0 means "not fixed".
struct CaseSchema {
  CaseSchema(std::string op, std::vector<Field> fields);
  std::string op;
  std::vector<Field> fields;
  int index_of(std::string_view field) const;
};

class Case {
 public:
  explicit Case(const CaseSchema& schema);
  /// Parses the part after the op's name. Throws Error bad_argument with a sentence that says which token is
  /// wrong and what would be right.
  static Case parse(const CaseSchema& schema, std::string_view line);

  const CaseSchema& schema() const { return *schema_; }
  /// The canonical line, op first, only what differs from the fallback. parse(line()) gives the same case.
  std::string line() const;

  std::int64_t integer(std::string_view field) const;
  double real(std::string_view field) const;
  bool flag(std::string_view field) const;
  DType dtype(std::string_view field) const;
  const std::string& choice(std::string_view field) const;
  std::uint64_t seed() const;

  Case& set(std::string_view field, std::string_view value);
  Case& set(std::string_view field, std::int64_t value) {
    return set(field, std::string_view(std::to_string(value)));
  }
  Case with_seed(std::uint64_t seed) const;

  friend bool operator==(const Case&, const Case&) = default;

 private:
  const std::string& value(std::string_view field, Field::Kind kind) const;
  const CaseSchema* schema_;
  std::vector<std::string> values_;
};

/// Sets the options for which the case has a field. `options` is the options struct of the contract's op.
void set_options(const Case& from, const core::Contract& contract, void* options);

/// The op's name of a case line: its first word.
std::string_view op_of(std::string_view line);

}  // namespace isomer::oracle
