#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::lab {

/// One field of a parameter that is a struct.
struct Field {
  std::string name;
  std::uint32_t offset = 0, size = 0;
  std::string type;  ///< "int", "uint", "float", "pointer", "bool", "bytes"
};

/// Where the fields of kernels' by-value structs lie. A table is JSON, made from the user's headers by
/// tools/parameter_layout.py: {"version":1,"layouts":[{"family":"flash::FlashAttnFwdSm90","parameter":0,
/// "arity":[3,19,9,1],"bytes":2944,"fields":[{"name":"mainloop.shape_Q.0","offset":8,"size":4,"type":"int"},…]}]}.
/// "families" instead of "family" lists several kernels that take one struct.
/// A layout without an arity is that of every arity that has none of its own. "where" lists texts that the
/// kernel's canonical name has to hold, where the arity does not tell two structs apart.
class ParameterLayouts {
 public:
  /// The built-in ones, those in isomer/layouts of the user's configuration folder, those beside a capture
  /// (layouts.json in its folder, <capture>.layouts.json), and those of ISOMER_LAYOUTS, colon-separated
  /// paths. Throws Error io.
  static ParameterLayouts for_captures(const std::vector<std::filesystem::path>& captures);
  /// What is added later is asked first. Throws Error io with `source` in its sentence.
  void add(std::string_view json, const std::string& source);
  /// Null where no table knows a parameter of that size.
  const std::vector<Field>* find(const std::string& family, const std::vector<std::size_t>& arity,
                                 std::size_t parameter, std::size_t bytes, std::string_view name = {}) const;

 private:
  struct Key {
    std::string family;
    std::vector<std::size_t> arity;
    std::size_t parameter, bytes;
    auto operator<=>(const Key&) const = default;
  };
  struct Layout {
    std::vector<std::string> where;
    std::vector<Field> fields;
  };
  const std::vector<Field>* find(const Key& key, std::string_view name) const;
  std::map<Key, std::vector<Layout>> layouts_;  ///< what is asked first comes last
};

/// A built-in table: lab/names/layouts, as the build embedded it.
struct LayoutFile {
  std::string_view path, text;
};
std::span<const LayoutFile> layout_files();

}  // namespace isomer::lab
