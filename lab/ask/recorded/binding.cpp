#include "lab/ask/recorded/binding.hpp"
#include "lab/ask/form.hpp"
#include "lab/ask/names/bare.hpp"
#include "lab/ask/names/stride_names.hpp"
#include "lab/ask/recorded/label_sizes.hpp"
#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isomer::lab {
namespace {

using Kind = Parameter::Kind;
using What = Passing::What;

bool is_tensor(const Parameter& p) { return p.kind == Kind::tensor || p.kind == Kind::optional_tensor; }
bool is_memory(const Parameter& p) { return is_tensor(p) || p.kind == Kind::pointer; }
bool is_number(const Parameter& p) {
  return p.kind == Kind::integer || p.kind == Kind::real || p.kind == Kind::boolean;
}

Passing of_role(std::size_t role) {
  Passing passing;
  passing.what = What::role;
  passing.role = static_cast<int>(role);
  return passing;
}

Finding adapted(const Entry& entry, Code code, std::string argument, std::string evidence, std::string fix) {
  Finding finding;
  finding.code = code;
  finding.argument = std::move(argument);
  finding.evidence = std::move(evidence);
  finding.fix = std::move(fix);
  finding.location = entry.place;
  return finding;
}

std::string listed(const std::vector<Port::Role>& roles, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + roles[i].name;
  return text;
}

/// Whether a name says how many of something there are: rows, n_cols, M, batch_size.
bool is_count(const std::string& name) {
  static const Pattern count(
      "[mnkbhdst]|\\w*(rows|cols|columns|size|count|len|length|numel|elements|batch|heads|dim|tokens)|(n|num|"
      "nr)_\\w+");
  return count.is(lower_case(name));
}

/// Whether a name says which dimension is worked along.
bool is_axis(const std::string& name) {
  static const Pattern axis("axis|dim|dimension");
  return axis.is(lower_case(name));
}

bool is_of_rows(const std::string& name) {
  static const Pattern rows("[nmb]|n?_?rows?|num_rows|batch(?:_?size)?|n_?tokens|num_tokens|tokens");
  return rows.is(lower_case(name));
}
bool is_of_columns(const std::string& name) {
  static const Pattern columns("n?_?cols?|n?_?columns|num_cols|num_columns|width");
  return columns.is(lower_case(name));
}

/// Whether a name says how the original is launched: BLOCK_SIZE, tile_m, num_warps.
bool is_of_tiles(const std::string& name) {
  static const Pattern tiles("block_?\\w*|tile_?\\w*|num_(warps|stages|ctas)|bs|\\w+_block_size|\\w+_tile");
  return tiles.is(lower_case(name));
}

/// Whether a name says that results are written there.
bool is_of_result(const std::string& name) {
  static const Pattern result(
      "(?:d_|p_|h_)?(?:out|outputs?|dst|res|results?|ret)(?:_?(?:ptr|data|tensor|d))?");
  return result.is(lower_case(name));
}

bool fits(const Parameter& p, const Port::Role& role, const Value& value) {
  if (p.kind == Kind::any) return true;
  if (role.tensor || value.kind == Value::Kind::none) return is_memory(p) || p.kind == Kind::unknown;
  switch (value.kind) {
    case Value::Kind::list:
      return p.kind == Kind::list || p.kind == Kind::unknown;
    case Value::Kind::text:
    case Value::Kind::dtype:
      return p.kind == Kind::text || p.kind == Kind::dtype || p.kind == Kind::unknown;
    default:
      return !is_memory(p);
  }
}

/// What callers leave to the original's default, by its name; null: nothing of that name.
const Value* left_out(const Replayed& replayed, const Parameter& parameter) {
  const auto is_word = [](const Value& value) {
    return value.kind == Value::Kind::text || value.kind == Value::Kind::dtype;
  };
  for (const Value& value : replayed.left_out)
    if (!parameter.name.empty() && value.kind != Value::Kind::list &&
        (!is_word(value) || !is_number(parameter)) && bare(value.name) == bare(parameter.name))
      return &value;
  return nullptr;
}

/// Whether it is called with tensors, which know their dimensions.
bool has_tensors(const Entry& entry) {
  return entry.form == Entry::Form::extension ||
         std::any_of(entry.parameters.begin(), entry.parameters.end(), is_tensor);
}

/// What a number that no caller passes is given, so that the call can go on: the original's default, the last
/// dimension where it is asked for one (of raw memory `dim` is a size), a size that is tried out, a factor of
/// one, false.
Passing stand_in(const Parameter& parameter, const Replayed& replayed, std::size_t at, Bound& bound) {
  Passing passing;
  passing.what = What::constant;
  const std::string name = bare(parameter.name);
  if (const Value* value = left_out(replayed, parameter); value != nullptr) {
    passing.constant = value->kind == Value::Kind::real ? value->real : static_cast<double>(value->integer);
  } else if (parameter.kind == Kind::real) {
    passing.constant = name.find("eps") != std::string::npos ? 1e-5 : 1;
  } else if (parameter.kind == Kind::integer &&
             (name == "axis" || (name == "dim" && has_tensors(*bound.form.entry)))) {
    passing.constant = -1;
  } else if (parameter.kind == Kind::integer) {
    passing.what = What::elements;
    passing.role = replayed.outputs.empty() ? 0 : replayed.outputs.front().role;
    bound.unsure.push_back(static_cast<int>(at));
  }
  return passing;
}

/// A Python-like call: arguments by place, those with a keyword by name.
void by_place(const Entry& entry, const Replayed& replayed, Bound& bound) {
  const std::vector<Parameter>& parameters = entry.parameters;
  const std::size_t given = replayed.call->before.size();
  std::vector<int> role_at(parameters.size(), -1);
  std::vector<bool> used(replayed.roles.size());
  std::size_t next = 0, lost = 0;
  for (std::size_t i = 0; i < given; ++i) {
    const bool keyword = i < replayed.call->keyword.size() && replayed.call->keyword[i];
    if (!keyword) {
      if (next < parameters.size()) {
        role_at[next++] = static_cast<int>(i);
        used[i] = true;
      } else {
        ++lost;
      }
      continue;
    }
    for (std::size_t p = 0; p < parameters.size(); ++p)
      if (role_at[p] < 0 && parameters[p].name == replayed.roles[i].name) {
        role_at[p] = static_cast<int>(i);
        used[i] = true;
        if (!parameters[p].has_keyword)
          bound.findings.push_back(
              adapted(entry, Code::keyword_name, replayed.roles[i].name,
                      fmt::format("'{}': callers pass {}=…, but the binding of {} names no arguments",
                                  replayed.line, replayed.roles[i].name, entry.name),
                      fmt::format("name it in the binding: py::arg(\"{}\")", replayed.roles[i].name)));
        break;
      }
  }
  // A keyword that the candidate does not have is what is left over, by its kind.
  for (std::size_t i = 0; i < given; ++i) {
    if (used[i] || i >= replayed.call->keyword.size() || !replayed.call->keyword[i]) continue;
    bool placed = false;
    for (std::size_t p = 0; p < parameters.size() && !placed; ++p) {
      if (role_at[p] >= 0 || !fits(parameters[p], replayed.roles[i], replayed.values[i])) continue;
      if (left_out(replayed, parameters[p]) != nullptr) continue;  // another of the original's
      role_at[p] = static_cast<int>(i);
      placed = used[i] = true;
      bound.findings.push_back(adapted(
          entry, Code::keyword_name, replayed.roles[i].name,
          fmt::format("'{}': callers pass {}=…, but {} has no argument of that name; it was passed as {}",
                      replayed.line, replayed.roles[i].name, entry.name, parameters[p].name),
          fmt::format("name it {}", replayed.roles[i].name)));
    }
    lost += !placed;
  }
  // What the label returns the candidate may want to be given.
  std::size_t missing = 0, made = 0;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (role_at[p] >= 0 || parameters[p].has_default || parameters[p].kind == Kind::stream) continue;
    bool filled = false;
    for (std::size_t r = given; r < replayed.roles.size() && !filled && is_memory(parameters[p]); ++r) {
      if (used[r] || !replayed.roles[r].tensor) continue;
      role_at[p] = static_cast<int>(r);
      used[r] = filled = true;
      ++made;
    }
    missing += !filled;
  }
  std::string undefaulted;
  std::size_t optional = 0;
  for (std::size_t p = 0; p < parameters.size(); ++p)
    if (role_at[p] < 0 && !parameters[p].has_default && left_out(replayed, parameters[p]) != nullptr) {
      undefaulted += (optional++ == 0 ? "" : ", ") + parameters[p].name;
    }
  if (optional > 0 && optional == missing && lost + made == 0)
    bound.findings.push_back(adapted(
        entry, Code::argument_count, "",
        fmt::format("'{}': callers leave out {}, but {} has no default for it that they can see",
                    replayed.line, undefaulted, entry.name),
        "state the defaults in the binding or the schema: defaults in C++ declarations are not exported"));
  else if (missing + lost + made > 0)
    bound.findings.push_back(adapted(
        entry, Code::argument_count, "",
        fmt::format("{} takes {} arguments, but its callers pass {}: ({}){}", entry.name, parameters.size(),
                    given, listed(replayed.roles, given),
                    made > 0 ? "; it expects what the original returns as an argument" : ""),
        fmt::format("take ({}){}", listed(replayed.roles, given), made > 0 ? " and return the result" : "")));
  if (missing + lost > 0) {
    // By names then: places say nothing when their number is another.
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      role_at[p] = -1;
      for (std::size_t r = 0; r < replayed.roles.size(); ++r)
        if (!parameters[p].name.empty() && bare(parameters[p].name) == bare(replayed.roles[r].name))
          role_at[p] = static_cast<int>(r);
    }
    for (const int role : role_at)
      if (role >= 0) used[static_cast<std::size_t>(role)] = true;
  }
  std::size_t last = 0;
  for (std::size_t p = 0; p < parameters.size(); ++p)
    if (role_at[p] >= 0 || (is_number(parameters[p]) && !parameters[p].has_default)) last = p + 1;
  for (std::size_t p = 0; p < last; ++p) {
    Passing passing;
    if (role_at[p] >= 0)
      passing = of_role(static_cast<std::size_t>(role_at[p]));
    else if (is_number(parameters[p]) && !parameters[p].has_default)
      passing = stand_in(parameters[p], replayed, p, bound);
    bound.form.passings.push_back(passing);
  }
}

/// Strides among the whole numbers of a function over raw memory, by their names: of tensors alone, and no
/// more than those have.
std::vector<std::optional<StrideOf>> strides_of(const Entry& entry, const Replayed& replayed,
                                                const std::vector<int>& role_at, const NamedSizes& sizes) {
  Port port;
  port.roles = replayed.roles;
  std::vector<int> tensors = role_at;
  std::vector<bool> taken;
  std::vector<std::vector<std::string>> shapes;
  for (const Value& value : replayed.values)
    shapes.emplace_back(value.is_tensor() ? static_cast<std::size_t>(value.tensor.rank) : 0, "");
  for (const NamedSize& size : sizes)
    for (std::size_t r = 0; r < shapes.size() && r < replayed.roles.size(); ++r) {
      const int rank = static_cast<int>(shapes[r].size()), dim = size.dim < 0 ? size.dim + rank : size.dim;
      if (replayed.roles[r].name == size.tensor && size.rank == rank && dim >= 0 && dim < rank &&
          !size.stride && !size.all && !size.flattened && size.over.empty() && size.less == 0)
        shapes[r][static_cast<std::size_t>(dim)] = size.name;
    }
  for (int& role : tensors) {
    taken.push_back(role >= 0);
    if (role >= 0 && !replayed.roles[static_cast<std::size_t>(role)].tensor) role = -1;
  }
  return strides_by_name(entry, port, shapes, tensors, taken);
}

/// The bytes of an element of the first memory whose type the parameters leave open, where a name asks for
/// them.
std::optional<Passing> bytes_of_element(const Parameter& parameter, const std::vector<Parameter>& parameters,
                                        const std::vector<int>& role_at, const Replayed& replayed) {
  static const Pattern bytes(
      "(?:elem(?:ent)?|elt|item|dtype|type)_?(?:size|bytes)|bytes_per_(?:elem(?:ent)?|item)|esize|"
      "sizeof_(?:elem(?:ent)?|type|item)");
  if (parameter.kind != Kind::integer || !bytes.is(lower_case(parameter.name))) return std::nullopt;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (role_at[p] < 0 || !is_memory(parameters[p]) || parameters[p].element != DType::none) continue;
    const Value& value = replayed.values[static_cast<std::size_t>(role_at[p])];
    if (!value.is_tensor()) continue;
    Passing passing;
    passing.what = What::bytes_of_element;
    passing.role = role_at[p];
    return passing;
  }
  return std::nullopt;
}

/// The tensor that an array of sizes or strides is of: the one that its name begins, or the pointer before it
/// where the name says nothing. −1: none.
int role_of_array(const ArrayName& array, std::size_t parameter, const std::vector<Parameter>& parameters,
                  const std::vector<Port::Role>& roles, const std::vector<int>& role_at) {
  for (const bool whole : {true, false})
    for (std::size_t p = 0; p < role_at.size() && !array.of.empty(); ++p) {
      if (role_at[p] < 0 || !roles[static_cast<std::size_t>(role_at[p])].tensor) continue;
      for (const std::string& name :
           {bare(parameters[p].name), bare(roles[static_cast<std::size_t>(role_at[p])].name)})
        if (whole ? name == array.of : name.starts_with(array.of)) return role_at[p];
    }
  for (std::size_t p = parameter; p-- > 0 && array.of.empty();)
    if (role_at[p] >= 0 && roles[static_cast<std::size_t>(role_at[p])].tensor) return role_at[p];
  return -1;
}

/// A function over raw memory, or a kernel: what nothing is passed for follows from the tensors.
/// `left`: parameters that no argument is for.
void by_kind(const Entry& entry, const Replayed& replayed, const NamedSizes& sizes,
             const std::vector<int>& left, Bound& bound) {
  const std::vector<Parameter>& parameters = entry.parameters;
  std::vector<int> role_at(parameters.size(), -1);
  std::vector<bool> used(replayed.roles.size());
  const auto take = [&](std::size_t p, std::size_t r) {
    role_at[p] = static_cast<int>(r);
    used[r] = true;
  };
  std::vector<ArrayName> arrays;
  for (const Parameter& p : parameters)
    arrays.push_back(std::any_of(replayed.roles.begin(), replayed.roles.end(),
                                 [&](const Port::Role& role) { return bare(role.name) == bare(p.name); })
                         ? ArrayName()
                         : array_name(p));
  const auto may = [&](std::size_t p, std::size_t r) {
    const Parameter& parameter = parameters[p];
    if (role_at[p] >= 0 || used[r] || arrays[p].what != What::none) return false;
    if (std::find(left.begin(), left.end(), static_cast<int>(p)) != left.end()) return false;
    // What callers leave to the original's default is named as that is.
    if (bare(parameter.name) != bare(replayed.roles[r].name) && is_number(parameter) &&
        left_out(replayed, parameter) != nullptr)
      return false;
    // A dimension's number is no count of anything, whatever is left over.
    if (parameter.kind == Kind::integer && replayed.values[r].kind == Value::Kind::integer &&
        replayed.values[r].integer < 0 && bare(parameter.name) != bare(replayed.roles[r].name) &&
        is_count(parameter.name))
      return false;
    if (parameter.kind == Kind::integer && is_axis(replayed.roles[r].name) && !is_axis(parameter.name) &&
        replayed.values[r].kind == Value::Kind::integer && replayed.values[r].integer < Tensor::kMaxRank)
      return false;
    // Nor do columns count rows where there is another number.
    if (parameter.kind == Kind::integer && is_of_columns(replayed.roles[r].name) &&
        is_of_rows(parameter.name) &&
        std::any_of(
            parameters.begin() + static_cast<std::ptrdiff_t>(p) + 1, parameters.end(),
            [](const Parameter& each) { return each.kind == Kind::integer && !is_of_rows(each.name); }))
      return false;
    // Nor is an option, or a number of another name where the label says which size this one is.
    if (parameter.kind == Kind::integer && bare(parameter.name) != bare(replayed.roles[r].name) &&
        ((replayed.values[r].kind == Value::Kind::boolean && is_count(parameter.name)) ||
         (!replayed.roles[r].tensor &&
          (size_of_label(parameter, replayed, sizes) || size_by_tensor(parameter, replayed, sizes) ||
           size_alike(parameters, p, replayed, sizes) ||
           name_other_sizes(parameter.name, replayed.roles[r].name)))))
      return false;
    // Nor is the size of a tile, which only the original launches with.
    if (parameter.kind == Kind::integer && is_of_tiles(replayed.roles[r].name) &&
        bare(parameter.name) != bare(replayed.roles[r].name) && is_count(parameter.name) &&
        !is_of_tiles(parameter.name))
      return false;
    const bool number = replayed.values[r].kind == Value::Kind::integer ||
                        replayed.values[r].kind == Value::Kind::real ||
                        replayed.values[r].kind == Value::Kind::boolean;
    return replayed.roles[r].tensor
               ? is_memory(parameter) && !(parameter.is_const && replayed.roles[r].output)
               : number && is_number(parameter);
  };
  for (std::size_t p = 0; p < parameters.size(); ++p)
    for (std::size_t r = 0; r < replayed.roles.size(); ++r)
      if (!parameters[p].name.empty() && may(p, r) &&
          bare(parameters[p].name) == bare(replayed.roles[r].name))
        take(p, r);
  // A result that is an argument again is returned by nobody who is given memory for the others.
  const auto again = [&](std::size_t r) {
    return std::any_of(replayed.outputs.begin(), replayed.outputs.end(), [&](const Replayed::Output& each) {
      return each.again && each.role == static_cast<int>(r) && r >= replayed.call->before.size();
    });
  };
  // One result is written where a name says so, before memory that the call leaves out.
  const auto results =
      std::count_if(replayed.roles.begin() + static_cast<std::ptrdiff_t>(replayed.call->before.size()),
                    replayed.roles.end(), [](const Port::Role& role) { return role.tensor; });
  for (std::size_t p = 0; results == 1 && p < parameters.size(); ++p)
    for (std::size_t r = replayed.call->before.size(); r < replayed.roles.size(); ++r)
      if (is_memory(parameters[p]) && !parameters[p].is_const && is_of_result(parameters[p].name) &&
          may(p, r) && !again(r) &&
          (parameters[p].element == DType::none || parameters[p].element == replayed.values[r].tensor.dtype))
        take(p, r);
  for (const bool exact : {true, false})
    for (std::size_t p = 0; p < parameters.size(); ++p)
      for (std::size_t r = 0; r < replayed.roles.size(); ++r)
        if (is_memory(parameters[p]) && may(p, r) && !again(r) &&
            (!exact || (replayed.roles[r].output == !parameters[p].is_const &&
                        (parameters[p].element == DType::none ||
                         parameters[p].element == replayed.values[r].tensor.dtype))))
          take(p, r);
  for (std::size_t p = 0; p < parameters.size(); ++p)
    for (std::size_t r = 0; r < replayed.roles.size(); ++r)
      if (is_number(parameters[p]) && may(p, r) &&
          (parameters[p].kind == Kind::real) == (replayed.values[r].kind == Value::Kind::real))
        take(p, r);
  const std::vector<std::optional<StrideOf>> strides = strides_of(entry, replayed, role_at, sizes);
  std::vector<int> strided;  // roles whose strides are given
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    Passing passing;
    if (role_at[p] >= 0) {
      const auto role = static_cast<std::size_t>(role_at[p]);
      passing = of_role(role);
      if (is_memory(parameters[p])) {
        passing.compact = true;  // nothing carries its strides
        const DType element = parameters[p].element;
        const Tensor& tensor = replayed.values[role].tensor;
        if (element != DType::none && element != tensor.dtype && !replayed.values[role].boolean) {
          passing.cast = element;
          bound.findings.push_back(adapted(
              entry, Code::dtype_refused, parameters[p].name,
              fmt::format("callers pass {}, but the parameter is {}", tensor.describe(), parameters[p].type),
              fmt::format("take {}", name_of(tensor.dtype))));
          bound.findings.back().narrow_integers = element == DType::i32 && tensor.dtype == DType::i64;
        }
      }
    } else if (is_number(parameters[p]) && left_out(replayed, parameters[p]) != nullptr) {
      passing = stand_in(parameters[p], replayed, p, bound);
    } else if (const std::optional<Passing> bytes =
                   bytes_of_element(parameters[p], parameters, role_at, replayed)) {
      passing = *bytes;
    } else if (arrays[p].what != What::none) {
      passing.role = role_of_array(arrays[p], p, parameters, replayed.roles, role_at);
      passing.what = passing.role < 0 ? What::none : arrays[p].what;
      if (passing.what == What::strides) strided.push_back(passing.role);
    } else if (const std::optional<Passing> size = size_of_label(parameters[p], replayed, sizes);
               size && (size->what == What::stride || !strides[p])) {
      passing = *size;
      if (passing.what == What::stride) strided.push_back(passing.role);
    } else if (strides[p]) {
      passing.what = What::stride;
      passing.role = strides[p]->role;
      passing.dim = strides[p]->dim;
      strided.push_back(passing.role);
    } else if (is_number(parameters[p])) {
      const std::size_t unsure = bound.unsure.size();
      passing = stand_in(parameters[p], replayed, p, bound);
      std::optional<Passing> like = size_by_tensor(parameters[p], replayed, sizes);
      if (!like) like = size_alike(parameters, p, replayed, sizes);
      if (like && bound.unsure.size() > unsure) {
        passing = *like;
        bound.alike.push_back(static_cast<int>(p));
      }
    }
    bound.form.passings.push_back(passing);
  }
  for (Passing& passing : bound.form.passings)
    if (passing.what == What::role && std::count(strided.begin(), strided.end(), passing.role) > 0)
      passing.compact = false;
}

}  // namespace

Bound bind_call(const Entry& entry, const Replayed& replayed, const NamedSizes& sizes,
                const std::vector<int>& left) {
  Bound bound;
  bound.form.entry = &entry;
  if (has_tensors(entry))
    by_place(entry, replayed, bound);
  else
    by_kind(entry, replayed, sizes, left, bound);
  for (std::size_t r = replayed.call->before.size(); r < replayed.roles.size(); ++r)
    if (!bound.form.takes(static_cast<int>(r))) bound.form.returned.push_back(static_cast<int>(r));
  return bound;
}

}  // namespace isomer::lab
