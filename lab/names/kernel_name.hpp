#pragma once

#include "lab/names/field_names.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isomer::lab {

/// A kernel's name taken apart.
struct KernelName {
  std::string text;  ///< canonical, demangled: one spelling whatever demangler wrote it
  std::string
      plain;  ///< the text without the numbers of closures, which one more closure before them changes
  std::string family;  ///< qualified template name without arguments, or the stem of a coded name
  /// Template parameters by name where a table knows the family, "#0", "#0.2" otherwise; nested templates as
  /// "mainloop.Is_causal". In the order of the text.
  std::vector<std::pair<std::string, std::string>> parameters;
  /// What follows from the parameters: block_m, block_n, stages, cluster, scheduler, …
  std::vector<std::pair<std::string, std::string>> derived;
  /// Of the family's template, then of each of its arguments that is a template: the number of arguments. A
  /// library's versions differ in it. Empty where the name is no template.
  std::vector<std::size_t> arity;
  std::vector<std::string> templates;        ///< whose they are, one for each
  std::shared_ptr<const FieldRules> fields;  ///< what its parameters' fields are called; null: no table knows
};

/// Never throws: what cannot be taken apart is its own family. Names of 100 kB take linear time.
KernelName parse_kernel_name(std::string_view mangled_or_demangled);

/// The source file that nvcc's compiler wrote into the name of an anonymous namespace, a static kernel or an
/// internal scope, without the hashes that a folder's name changes. Empty where there is none.
std::string source_in_name(std::string_view mangled);

/// Adds a user's tables to the built-in ones (the format is that of names.json beside this file): those of
/// ISOMER_NAMES, colon-separated paths, then `file` where it is not empty. What is added last is asked first.
/// To be called before names are parsed. Throws Error io.
void use_name_tables(const std::string& file = {});

}  // namespace isomer::lab
