#pragma once

#include "lab/names/field_names.hpp"
#include "lab/names/name_tree.hpp"
#include "lab/text/pattern.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isomer::lab {

/// The parameter names of one template at one arity: names.json, and what a user adds to it.
struct TemplateTable {
  struct Parameter {
    std::string
        kind;  ///< "int", "bool", "type", "value", or the template that the argument must be an instance of
    std::string name;
    bool implied = false;  ///< follows from the others: never shown
  };
  std::vector<Parameter> parameters;
  /// block_m → "mainloop.TileShape_MNK[0]": a parameter's path, and which extent of a shape.
  std::vector<std::pair<std::string, std::string>> derived;
  std::shared_ptr<const FieldRules> fields;  ///< of the kernel's by-value struct
};

/// A name that is no template but a code, as libraries write them.
struct CodeTable {
  Pattern pattern;
  std::string family;
  std::vector<std::string> parameters;  ///< of the pattern's groups
  std::vector<std::pair<std::string, std::string>> derived;
};

class NameTables {
 public:
  static const NameTables& instance();
  const TemplateTable* find(const std::string& name, const std::vector<NameArgument>& arguments) const;
  const std::vector<CodeTable>& codes() const { return codes_; }
  bool wrapper(const std::string& name) const { return wrappers_.contains(plain(name)); }
  bool shape(const std::string& name) const { return shapes_.contains(plain(name)); }
  bool constant(const std::string& name) const { return constants_.contains(plain(name)); }

  /// What is added later is asked first. Throws Error io with `source` in its sentence.
  void add(std::string_view json, const std::string& source);

 private:
  /// The name under the namespace that the tables know: a program may carry a library under another one.
  std::string plain(const std::string& name) const;
  /// No name is given to an argument of another kind than the table's author saw.
  bool fits(const TemplateTable& table, const std::vector<NameArgument>& arguments) const;

  std::map<std::string, std::string, std::less<>> namespaces_;
  std::map<std::pair<std::string, std::size_t>, std::vector<TemplateTable>> templates_;
  std::vector<CodeTable> codes_;
  std::set<std::string> wrappers_, shapes_, constants_;
};

/// names.json as the build embedded it.
std::string_view embedded_names();

}  // namespace isomer::lab
