#include "lab/ask/names/width_names.hpp"

#include "lab/ask/names/number_words.hpp"
#include "lab/ask/names/size_names.hpp"
#include "lab/ask/names/stride_names.hpp"
#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <algorithm>

namespace isomer::lab {
namespace {

bool counts_heads(const Parameter& p, const char* of = "Hq") {
  if (p.kind != Parameter::Kind::integer) return false;
  const std::vector<std::string>& names = size_names().at(of);
  return std::find(names.begin(), names.end(), lower_case(p.name)) != names.end();
}

bool is_one_of(const std::string& word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

bool width_of_heads(const Entry& entry, const Port& port, const Parameter& p, Passing& passing) {
  static const Pattern kWidth(
      "(d|dim|n)_?(model|embd)|(embed|emb|embedding|model|hidden)(_?(dim|size|width|d))?");
  static const Pattern kWidthOfKeys("(kv|k)_?(dim|width|hidden|size|embd)");
  const std::string name = lower_case(p.name);
  const bool of_keys = kWidthOfKeys.is(name);
  if (p.kind != Parameter::Kind::integer || !(of_keys || kWidth.is(name))) return false;
  if (!shares_heads(entry) &&
      std::none_of(entry.parameters.begin(), entry.parameters.end(),
                   [](const Parameter& each) { return counts_heads(each) || counts_heads(each, "Hkv"); }))
    return false;
  for (int role = 0; role < static_cast<int>(port.roles.size()); ++role) {
    if (!port.roles[static_cast<std::size_t>(role)].tensor) continue;
    const std::vector<std::string> shape = shape_words(port, role);
    const auto at = [&](std::initializer_list<std::string_view> words) {
      const auto found = std::find_if(shape.begin(), shape.end(),
                                      [&](const std::string& each) { return is_one_of(each, words); });
      return found == shape.end() ? 0 : static_cast<int>(found - shape.end());
    };
    const int heads = of_keys ? at({"Hkv"}) : at({"H", "Hq"}), dim = at({"D"});
    if (heads == 0 || dim == 0) continue;
    passing.what = Passing::What::size;
    passing.role = role;
    passing.dim = dim;
    passing.with = heads;
    return true;
  }
  return false;
}

bool keys_beside_queries(const Entry& entry, const Port& port, const Parameter& p, Passing& passing) {
  const auto is = [](const Parameter& each, const char* name) {
    return each.kind == Parameter::Kind::integer && lower_case(each.name) == name;
  };
  if (!is(p, "n") || std::none_of(entry.parameters.begin(), entry.parameters.end(),
                                  [&](const Parameter& each) { return is(each, "m"); }))
    return false;
  const std::optional<Dimension> keys = dimension_of(port, "Sk");
  if (!keys) return false;
  passing.what = Passing::What::size;
  passing.role = keys->role;
  passing.dim = keys->dim;
  return true;
}

}  // namespace isomer::lab
