#pragma once

#include "lab/capture/capture.hpp"
#include "lab/names/parameter_layouts.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isomer::lab {

/// What people call a field of a kernel's parameters. A table writes it as text: "total_q if
/// mainloop.cu_seqlens_q; seqlen_q" is called total_q where the field mainloop.cu_seqlens_q is not all zero,
/// else seqlen_q; "b unless mainloop.cu_seqlens_q" has no name of its own where that field is set.
struct FieldRule {
  struct Choice {
    std::string name;
    std::string field;     ///< the field that decides; empty: always
    bool when_set = true;  ///< false: unless
  };
  std::string field;  ///< path in the layout
  std::vector<Choice> choices;
};
using FieldRules = std::vector<FieldRule>;

/// Throws Error io for text that is no rule.
FieldRule read_field_rule(const std::string& field, std::string_view text);

/// A field of one launch's parameter under the name that it has there.
struct NamedField {
  std::string name;
  const Field* field;
  bool known = false;  ///< a rule named it
};

/// Those that rules name first, in the order of the rules, each name once; the rest by their paths, in the
/// order of the layout. A field that decides and that the layout lacks, or that ends behind the bytes, is not
/// set. The layout must outlive the result.
std::vector<NamedField> named_fields(const std::vector<Field>& layout, const FieldRules* rules,
                                     const ArgumentBytes& argument);

}  // namespace isomer::lab
