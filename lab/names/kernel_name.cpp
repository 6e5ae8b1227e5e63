#include "lab/names/kernel_name.hpp"

#include "lab/names/itanium.hpp"
#include "lab/names/name_tables.hpp"
#include "lab/names/name_tree.hpp"
#include "lab/text/pattern.hpp"

#include <algorithm>
#include <charconv>

namespace isomer::lab {
namespace {

using Parameters = std::vector<std::pair<std::string, std::string>>;
using Kind = NameArgument::Kind;

/// 8u is 8: the type of a parameter is the template's, not the instance's.
std::string number_of(const std::string& text) {
  const std::size_t digits = text.find_first_not_of("-0123456789");
  return text.substr(0, digits);
}

/// The number of cute::C<128>, of std::integral_constant<int, 5>, or of a plain integer.
const std::string* extent(const NameArgument& argument, const NameTables& tables) {
  if (argument.kind == Kind::integer) return &argument.text;
  if (argument.kind != Kind::templated || !tables.constant(argument.text) || argument.arguments.empty())
    return nullptr;
  const NameArgument& value = argument.arguments.back();
  return value.kind == Kind::integer || value.kind == Kind::boolean ? &value.text : nullptr;
}

/// 128x176x64 for a tuple of constants. Empty for anything else.
std::string shape(const NameArgument& argument, const NameTables& tables) {
  std::string text;
  if (argument.kind != Kind::templated || !tables.shape(argument.text)) return text;
  for (const NameArgument& each : argument.arguments) {
    const std::string* value = extent(each, tables);
    if (value == nullptr) return {};
    if (!text.empty()) text += 'x';
    text += number_of(*value);
  }
  return text;
}

void flatten(const std::string& name, const std::vector<NameArgument>& arguments, const std::string& prefix,
             bool named_prefix, const NameTables& tables, Parameters& out) {
  const TemplateTable* table = name.empty() ? nullptr : tables.find(name, arguments);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const NameArgument& argument = arguments[i];
    if (table != nullptr && table->parameters[i].implied) continue;
    std::string path = prefix;
    if (!path.empty()) path += '.';
    if (table != nullptr)
      path += table->parameters[i].name;
    else
      path += (named_prefix ? "#" : "") + std::to_string(i);
    if (argument.kind == Kind::integer) {
      out.emplace_back(path, number_of(argument.text));
    } else if (const std::string* value = extent(argument, tables)) {
      out.emplace_back(path, number_of(*value).empty() ? *value : number_of(*value));
    } else if (std::string extents = shape(argument, tables); !extents.empty()) {
      out.emplace_back(path, std::move(extents));
    } else {
      out.emplace_back(path, argument.text);
      flatten(argument.text, argument.arguments, path, table != nullptr, tables, out);
    }
  }
}

/// "mainloop.TileShape_MNK[1]": the second extent of that parameter.
std::string value_at(const Parameters& parameters, std::string_view path) {
  std::size_t which = std::string_view::npos;
  if (const std::size_t bracket = path.find('['); bracket != std::string_view::npos) {
    const auto [end, error] = std::from_chars(path.data() + bracket + 1, path.data() + path.size(), which);
    if (error != std::errc()) return {};
    path = path.substr(0, bracket);
  }
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const auto& parameter) { return parameter.first == path; });
  if (found == parameters.end()) return {};
  std::string_view value = found->second;
  if (which == std::string_view::npos) {
    const std::size_t colons =
        value.find('(') == std::string_view::npos ? value.rfind("::") : std::string_view::npos;
    return std::string(colons == std::string_view::npos ? value : value.substr(colons + 2));
  }
  for (; which > 0; --which) {
    const std::size_t x = value.find('x');
    if (x == std::string_view::npos) return {};
    value.remove_prefix(x + 1);
  }
  return std::string(value.substr(0, value.find('x')));
}

void derive(const Parameters& rules, KernelName& name) {
  for (const auto& [what, path] : rules)
    if (std::string value = value_at(name.parameters, path); !value.empty())
      name.derived.emplace_back(what, std::move(value));
}

/// Libraries that write their kernels' parameters into a plain identifier.
bool decode(const std::string& text, const NameTables& tables, KernelName& name) {
  for (const CodeTable& code : tables.codes()) {
    const std::optional<Match> match = code.pattern.whole(text);
    if (!match) continue;
    name.family = code.family;
    for (std::size_t i = 0; i < code.parameters.size(); ++i)
      if (match->has(i + 1)) name.parameters.emplace_back(code.parameters[i], (*match)[i + 1]);
    derive(code.derived, name);
    return true;
  }
  return false;
}

/// CUB and Thrust put their version and the build's architectures into a namespace: one family all the same.
void without_versioned_namespace(std::string& family, Parameters& parameters) {
  for (const std::string_view marker : {"::CUB_", "::THRUST_"}) {
    const std::size_t begin = family.find(marker);
    if (begin == std::string::npos || begin + marker.size() >= family.size()) continue;
    const std::size_t end = family.find("::", begin + 2);
    if (end == std::string::npos || family[begin + marker.size()] < '0' ||
        family[begin + marker.size()] > '9')
      continue;
    parameters.emplace_back("namespace", family.substr(begin + 2, end - begin - 2));
    family.erase(begin, end - begin);
  }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "_Z5shiftPf" of __nv_static_25__6b2efe6b_4_k_cu_acc5a52f__Z5shiftPf, which is how a static kernel is
/// called that is compiled for a later device link: a length, and so many characters that name the source.
std::string_view without_static_prefix(std::string_view name) {
  constexpr std::string_view kPrefix = "__nv_static_";
  if (!name.starts_with(kPrefix)) return name;
  std::string_view rest = name.substr(kPrefix.size());
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), length);
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  if (error != std::errc() || rest.size() < 3 || length > rest.size() - 3 || rest[length + 1] != '_')
    return name;
  return rest.substr(length + 2);
}

/// {lambda(int)#2} → {lambda(int)}: closures are numbered by their order in a function.
std::string without_closure_numbers(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t end = i + 1;
    while (text[i] == '#' && end < text.size() && is_digit(text[end])) ++end;
    if (text[i] == '#' && end > i + 1 && end < text.size() && text[end] == '}')
      i = end - 1;
    else
      plain += text[i];
  }
  return plain;
}

KernelName parse(std::string_view given) {
  KernelName name;
  while (!given.empty() && (given.back() == ' ' || given.back() == '\n' || given.back() == '\r'))
    given.remove_suffix(1);
  while (!given.empty() && given.front() == ' ') given.remove_prefix(1);
  if (given.ends_with(".kd")) given.remove_suffix(3);  // a kernel descriptor of AMD
  given = without_static_prefix(given);
  name.text = name.family = given;
  const NameTables& tables = NameTables::instance();
  const bool mangled = given.starts_with("_Z") || given.starts_with("__Z");
  // Profilers list copies among kernels: "Memcpy HtoD (Pageable -> Device)".
  if (given.starts_with("Memcpy") || given.starts_with("Memset")) return name;
  if (!mangled && given.find_first_of("<(:[") == std::string_view::npos) {
    decode(name.text, tables, name);
    return name;
  }
  std::optional<NameTree> tree;
  if (mangled) {
    const std::optional<std::string> demangled = demangle(given);
    if (!demangled) return name;
    tree = read_name(*demangled);
    name.text = name.family = *demangled;
  } else {
    tree = read_name(given);
  }
  if (!tree) return name;
  name.text = tree->text;
  std::string family = tree->name;
  std::vector<NameArgument> arguments = std::move(tree->arguments);
  std::string wrapped;
  while (tree->at_the_end && tables.wrapper(family) && arguments.size() == 1) {
    wrapped += (wrapped.empty() ? "" : "<") + family;
    NameArgument inner = std::move(arguments[0]);
    if (inner.kind != Kind::templated) {
      name.derived.emplace_back("wrapper", wrapped);
      name.family = inner.text;
      decode(inner.text, tables, name);
      return name;
    }
    family = std::move(inner.text);
    arguments = std::move(inner.arguments);
  }
  if (tree->at_the_end && !arguments.empty()) {
    name.arity.push_back(arguments.size());
    name.templates.push_back(family);
    for (const NameArgument& argument : arguments)
      if (argument.kind == Kind::templated) {
        name.arity.push_back(argument.arguments.size());
        name.templates.push_back(argument.text);
      }
  }
  flatten(tree->at_the_end ? family : std::string(), arguments, {}, true, tables, name.parameters);
  if (const TemplateTable* table = tables.find(family, arguments); table != nullptr && tree->at_the_end) {
    derive(table->derived, name);
    name.fields = table->fields;
  }
  if (!wrapped.empty()) name.derived.emplace_back("wrapper", wrapped);
  without_versioned_namespace(family, name.parameters);
  name.family = std::move(family);
  return name;
}

}  // namespace

KernelName parse_kernel_name(std::string_view mangled_or_demangled) {
  KernelName name;
  try {
    name = parse(mangled_or_demangled);
  } catch (const std::exception&) {
    name = {};
    name.text = name.family = mangled_or_demangled;
  }
  name.plain = without_closure_numbers(name.text);
  return name;
}

std::string source_in_name(std::string_view mangled) {
  // 36_GLOBAL__N__6b2efe6b_4_k_cu_acc5a52f: a hash, the file's length and name, another hash.
  for (const std::string_view marker : {"_GLOBAL__N__", "_INTERNAL_", "__nv_static_"}) {
    const std::size_t at = mangled.find(marker);
    if (at == std::string_view::npos) continue;
    std::string_view rest = mangled.substr(at + marker.size());
    // The first of its words that is a number and is followed by so many characters.
    for (std::size_t word = rest.find('_'); word != std::string_view::npos; word = rest.find('_', word + 1)) {
      std::size_t length = 0;
      const char* const begin = rest.data() + word + 1;
      const auto [end, error] = std::from_chars(begin, rest.data() + rest.size(), length);
      if (error != std::errc() || end == rest.data() + rest.size() || *end != '_') continue;
      const auto name = static_cast<std::size_t>(end - rest.data()) + 1;
      if (length > 0 && length < rest.size() - name && rest[name + length] == '_')
        return std::string(rest.substr(name, length));
    }
  }
  return {};
}

}  // namespace isomer::lab
