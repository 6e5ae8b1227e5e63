#include "lab/ask/recorded/binding.hpp"
#include "lab/ask/form.hpp"
#include "lab/ask/names/alike.hpp"
#include "lab/ask/names/bare.hpp"
#include "lab/ask/names/role_names.hpp"
#include "lab/ask/names/stride_names.hpp"
#include "lab/ask/recorded/bound_parts.hpp"
#include "lab/ask/recorded/image_sizes.hpp"
#include "lab/ask/recorded/label_sizes.hpp"
#include "lab/ask/recorded/list_arguments.hpp"
#include "lab/ask/recorded/tensors_alike.hpp"
#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace isomer::lab {
namespace {

using Kind = Parameter::Kind;
using What = Passing::What;

bool is_memory(const Parameter& p) { return takes_tensor(p) || p.kind == Kind::pointer; }

/// Whether a name says how many of something there are: rows, n_cols, M, batch_size.
bool is_count(const std::string& name) {
  static const Pattern count(
      "[mnkbhdst]|\\w*(rows|cols|columns|size|count|len|length|numel|elements|batch|heads|dim|tokens)|(n|num|"
      "nr)_\\w+");
  return count.is(lower_case(name));
}

bool is_of_rows(const std::string& name) {
  static const Pattern rows("[nmb]|n?_?rows?|num_rows|batch(?:_?size)?|n_?tokens|num_tokens|tokens");
  return rows.is(lower_case(name));
}
bool is_of_columns(const std::string& name) {
  static const Pattern columns(
      "n?_?cols?|n?_?columns|num_cols|num_columns|width|normalized_shape|(?:n_|num_)?classes|vocab(?:_?size)?"
      "|"
      "hidden(?:_?(?:size|dim))?");
  return columns.is(lower_case(name));
}

/// Whether a name says how the original is launched: BLOCK_SIZE, tile_m, num_warps.
bool is_of_tiles(const std::string& name) {
  static const Pattern tiles("block_?\\w*|tile_?\\w*|num_(warps|stages|ctas)|bs|\\w+_block_size|\\w+_tile");
  return tiles.is(lower_case(name));
}

/// Strides among the whole numbers of a function over raw memory, by their names: of tensors alone, and no
/// more than those have.
std::vector<std::optional<StrideOf>> strides_of(const Entry& entry, const Replayed& replayed,
                                                const std::vector<int>& role_at, const NamedSizes& sizes) {
  Port port;
  port.roles = replayed.roles;
  for (Port::Role& role : port.roles)
    if (role.returned) role.name = role.called;  // "result 1" is no name of a tensor
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
  for (std::size_t p = 0; p < tensors.size(); ++p)
    if (role_at[p] < 0 && entry.parameters[p].kind == Kind::pointer) tensors[p] = kAbsent;
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
  // A result has the sizes that follow from what is read.
  for (const bool read : {true, false})
    for (std::size_t p = parameter; p-- > 0 && array.of.empty();)
      if (role_at[p] >= 0 && roles[static_cast<std::size_t>(role_at[p])].tensor &&
          (!read || parameters[p].is_const))
        return role_at[p];
  return -1;
}

/// Whether a name asks how many dimensions there are: `ndim`, `x_ndim`, and `rank` beside an array of sizes
/// or strides.
bool counts_dimensions(const Parameter& parameter, const std::vector<ArrayName>& arrays) {
  static const Pattern always("(?:\\w+_)?n_?dims?|ndims?_\\w+"),
      beside("(?:\\w+_)?(?:num_dims|rank|nd)|rank_\\w+");
  const std::string name = lower_case(parameter.name);
  return parameter.kind == Kind::integer &&
         (always.is(name) ||
          (beside.is(name) && std::any_of(arrays.begin(), arrays.end(),
                                          [](const ArrayName& array) { return array.what != What::none; })));
}

/// How many dimensions a tensor has, where a name asks for it.
std::optional<Passing> rank_by_name(std::size_t at, const std::vector<Parameter>& parameters,
                                    const std::vector<ArrayName>& arrays,
                                    const std::vector<Port::Role>& roles, const std::vector<int>& role_at) {
  if (!counts_dimensions(parameters[at], arrays)) return std::nullopt;
  static const Pattern named("(?:(\\w+?)_)?(?:n_?dims?|num_dims|rank|nd)|(?:ndims?|rank)_(\\w+)");
  static const Pattern plain("n_?dims?");
  const std::optional<Match> match = named.whole(lower_case(parameters[at].name));
  if (!match) return std::nullopt;
  const auto is_array = [&](std::size_t p) { return p < arrays.size() && arrays[p].what != What::none; };
  ArrayName of;
  of.of = match->has(1) ? (*match)[1] : match->has(2) ? (*match)[2] : "";
  int role = of.of.empty() ? -1 : role_of_array(of, at, parameters, roles, role_at);
  if (of.of.empty()) {
    for (const std::size_t beside : {at - 1, at + 1, at - 2, at + 2})  // wraps beyond every place
      if (role < 0 && is_array(beside))
        role = role_of_array(arrays[beside], beside, parameters, roles, role_at);
    for (std::size_t p = 0; p < role_at.size() && role < 0 && plain.is(lower_case(parameters[at].name)); ++p)
      if (role_at[p] >= 0 && roles[static_cast<std::size_t>(role_at[p])].tensor && parameters[p].is_const)
        role = role_at[p];
  }
  if (role < 0) return std::nullopt;
  Passing passing;
  passing.what = What::rank;
  passing.role = role;
  return passing;
}

/// `num_idx` of the pointer `idx`: how many numbers it points to, of indices or of one dimension.
std::optional<Passing> count_of_pointer(const std::vector<Parameter>& parameters, std::size_t at,
                                        const Replayed& replayed, const std::vector<int>& role_at) {
  static const Pattern counted("(?:num|n|nr|no|number_of)_(\\w+)|(\\w+)_(?:count|num|cnt)");
  const std::string name = lower_case(parameters[at].name);
  const std::optional<Match> match = counted.whole(name);
  if (!match) return std::nullopt;
  const std::vector<std::string> words = words_of_tensor((*match)[match->has(1) ? 1 : 2]);
  for (std::size_t p = 0; p < parameters.size() && !words.empty(); ++p) {
    if (role_at[p] < 0 || words_of_tensor(parameters[p].name) != words) continue;
    const Value& value = replayed.values[static_cast<std::size_t>(role_at[p])];
    if (!value.is_tensor() || (is_float(value.tensor.dtype) && value.tensor.rank != 1)) continue;
    Passing passing;
    passing.what = What::elements;
    passing.role = role_at[p];
    return passing;
  }
  return std::nullopt;
}

/// A function over raw memory, or a kernel: what nothing is passed for follows from the tensors.
/// `left`: parameters that no argument is for; `told`: arguments that no parameter is for.
void by_kind(const Entry& entry, const Replayed& replayed, const NamedSizes& sizes,
             const std::vector<int>& left, const std::set<std::string>& told, Bound& bound) {
  const std::vector<Parameter>& parameters = entry.parameters;
  std::vector<int> role_at(parameters.size(), -1);
  std::vector<bool> used(replayed.roles.size());
  for (std::size_t r = 0; r < replayed.call->before.size(); ++r)
    used[r] = !replayed.roles[r].tensor && told.count(replayed.roles[r].name) > 0;
  const auto take = [&](std::size_t p, std::size_t r) {
    role_at[p] = static_cast<int>(r);
    used[r] = true;
  };
  const std::vector<Passing> lists = passed_lists(entry, replayed);
  std::vector<ArrayName> arrays;
  for (const Parameter& p : parameters)
    arrays.push_back(
        lists[arrays.size()].what != What::none ||
                std::any_of(replayed.roles.begin(), replayed.roles.end(),
                            [&](const Port::Role& role) { return bare(role.name) == bare(p.name); })
            ? ArrayName()
            : array_name(p));
  const auto may = [&](std::size_t p, std::size_t r) {
    const Parameter& parameter = parameters[p];
    if (role_at[p] >= 0 || used[r] || arrays[p].what != What::none || lists[p].what != What::none)
      return false;
    if (std::find(left.begin(), left.end(), static_cast<int>(p)) != left.end()) return false;
    // What callers leave to the original's default is named as that is.
    if (bare(parameter.name) != bare(replayed.roles[r].name) && takes_number(parameter) &&
        left_out(replayed, parameter) != nullptr)
      return false;
    // A dimension's number is no count of anything, whatever is left over.
    if (parameter.kind == Kind::integer && replayed.values[r].kind == Value::Kind::integer &&
        replayed.values[r].integer < 0 && bare(parameter.name) != bare(replayed.roles[r].name) &&
        is_count(parameter.name))
      return false;
    if (parameter.kind == Kind::integer && names_an_axis(replayed.roles[r].name) &&
        !names_an_axis(parameter.name) && replayed.values[r].kind == Value::Kind::integer &&
        replayed.values[r].integer < Tensor::kMaxRank)
      return false;
    // Memory has no more dimensions where a result keeps one.
    static const Pattern keeps("keep_?dims?|in_?place");
    if (!replayed.roles[r].tensor && bare(parameter.name) != bare(replayed.roles[r].name) &&
        keeps.is(lower_case(replayed.roles[r].name)))
      return false;
    // Nor is the number of dimensions an option of another name.
    if (!replayed.roles[r].tensor && bare(parameter.name) != bare(replayed.roles[r].name) &&
        counts_dimensions(parameter, arrays))
      return false;
    // Nor is anything a stride that is not called so.
    static const Pattern stride("(?:\\w+_)?(?:stride|pitch|ld)(?:_?[a-z0-9])?|ld[a-z]|stride\\w*");
    if (parameter.kind == Kind::integer && stride.is(lower_case(parameter.name)) &&
        !replayed.roles[r].tensor && lower_case(replayed.roles[r].name).find("stride") == std::string::npos &&
        bare(parameter.name) != bare(replayed.roles[r].name))
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
           size_alike(parameters, p, replayed, sizes) || size_of_images(parameters, p, replayed) ||
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
               : number && takes_number(parameter);
  };
  // A result that is an argument again is returned by nobody who is given memory for the others.
  const auto again = [&](std::size_t r) {
    return std::any_of(replayed.outputs.begin(), replayed.outputs.end(), [&](const Replayed::Output& each) {
      return each.again && each.role == static_cast<int>(r) && r >= replayed.call->before.size();
    });
  };
  for (std::size_t p = 0; p < parameters.size(); ++p)
    for (std::size_t r = 0; r < replayed.roles.size(); ++r)
      if (!parameters[p].name.empty() && may(p, r) &&
          bare(parameters[p].name) == bare(name_for(replayed.roles[r])) &&
          (!replayed.roles[r].returned || (!parameters[p].is_const && !again(r))))
        take(p, r);
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
  std::vector<std::size_t> own_at(parameters.size());  // tensors that the label makes; 0: none
  take_tensors_alike(
      parameters, replayed, role_at,
      [&](std::size_t p, std::size_t r) { return is_memory(parameters[p]) && may(p, r) && !again(r); },
      [&](std::size_t p, std::size_t v) {
        if (v < replayed.roles.size())
          take(p, v);
        else
          own_at[p] = v;
      });
  // What a label makes anew a function over raw memory may leave in the memory that it was given.
  const auto in_place = [&](bool named) {
    for (std::size_t r = replayed.call->before.size(); r < replayed.roles.size(); ++r)
      for (std::size_t p = 0; p < parameters.size(); ++p) {
        const Tensor& result = replayed.values[r].tensor;
        if (used[r] || again(r) || !replayed.roles[r].tensor || role_at[p] < 0 || !is_memory(parameters[p]) ||
            parameters[p].is_const || is_of_input(parameters[p].name) ||
            replayed.roles[static_cast<std::size_t>(role_at[p])].output ||
            (named && bare(replayed.roles[r].called) != bare(parameters[p].name)))
          continue;
        const Tensor& given = replayed.values[static_cast<std::size_t>(role_at[p])].tensor;
        const bool held = std::any_of(bound.form.in_place.begin(), bound.form.in_place.end(),
                                      [&](const auto& each) { return each.second == static_cast<int>(p); });
        if (held || given.dtype != result.dtype || given.rank != result.rank || given.shape != result.shape)
          continue;
        bound.form.in_place.emplace(static_cast<int>(r), static_cast<int>(p));
        used[r] = true;
      }
  };
  // By their names first where there are fewer pointers for results than results.
  std::size_t pointers = 0, made = 0;
  for (std::size_t p = 0; p < parameters.size(); ++p)
    pointers += is_memory(parameters[p]) && role_at[p] < 0 && lists[p].what == What::none && own_at[p] == 0 &&
                !parameters[p].is_const && !is_of_input(parameters[p].name) && !is_lent_room(parameters[p]);
  for (std::size_t r = replayed.call->before.size(); r < replayed.roles.size(); ++r)
    made += !used[r] && replayed.roles[r].tensor && !again(r);
  if (pointers < made) in_place(true);
  // What says its type is likelier meant than memory of any, and what is lent is no result while there is
  // other memory.
  enum class By : std::uint8_t { type, any_type, lent, kind };
  for (const By by : {By::type, By::any_type, By::lent, By::kind}) {
    if (by == By::lent) in_place(false);
    for (std::size_t p = 0; p < parameters.size(); ++p)
      for (std::size_t r = 0; r < replayed.roles.size(); ++r) {
        const Parameter& parameter = parameters[p];
        if (!is_memory(parameter) || own_at[p] > 0 || !may(p, r) || again(r)) continue;
        const bool reads = parameter.is_const || is_of_input(parameter.name);
        const bool typed = parameter.element == replayed.values[r].tensor.dtype;
        const bool fits_kind = replayed.roles[r].output == !reads;
        const bool lent = is_lent_room(parameter);
        if (by == By::kind || (fits_kind && (typed || (by != By::type && parameter.element == DType::none)) &&
                               (by == By::lent || !lent)))
          take(p, r);
      }
  }
  for (std::size_t p = 0; p < parameters.size(); ++p)
    for (std::size_t r = 0; r < replayed.roles.size(); ++r)
      if (takes_number(parameters[p]) && may(p, r) &&
          (parameters[p].kind == Kind::real) == (replayed.values[r].kind == Value::Kind::real))
        take(p, r);
  const std::vector<std::optional<StrideOf>> strides = strides_of(entry, replayed, role_at, sizes);
  std::vector<int> strided;  // roles whose strides are given
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    Passing passing;
    if (lists[p].what != What::none) {
      passing = lists[p];
    } else if (role_at[p] >= 0) {
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
    } else if (own_at[p] > 0) {
      passing.what = What::computed;
      passing.computed = static_cast<int>(own_at[p]);
      passing.compact = true;
      passing.cast = parameters[p].element;
    } else if (takes_number(parameters[p]) && left_out(replayed, parameters[p]) != nullptr) {
      passing = stand_in(parameters[p], replayed, p, bound);
    } else if (const std::optional<Passing> bytes =
                   bytes_of_element(parameters[p], parameters, role_at, replayed)) {
      passing = *bytes;
    } else if (const std::optional<Passing> rank =
                   rank_by_name(p, parameters, arrays, replayed.roles, role_at)) {
      passing = *rank;
    } else if (arrays[p].what != What::none) {
      passing.role = role_of_array(arrays[p], p, parameters, replayed.roles, role_at);
      passing.what = passing.role < 0 ? What::none : arrays[p].what;
      if (passing.what == What::strides) strided.push_back(passing.role);
    } else if (const std::optional<Passing> size = size_of_label(parameters[p], replayed, sizes);
               size && (size->what == What::stride || !strides[p] || strides[p]->role < 0)) {
      passing = *size;
      if (passing.what == What::stride) strided.push_back(passing.role);
    } else if (strides[p] && strides[p]->role < 0) {
      passing.what = What::constant;  // of a null pointer
    } else if (strides[p] && !size_of_images(parameters, p, replayed)) {
      passing.what = What::stride;
      passing.role = strides[p]->role;
      passing.dim = strides[p]->dim;
      strided.push_back(passing.role);
    } else if (takes_number(parameters[p])) {
      const std::size_t unsure = bound.unsure.size();
      passing = stand_in(parameters[p], replayed, p, bound);
      std::optional<Passing> like = size_by_tensor(parameters[p], replayed, sizes);
      if (!like) like = count_of_pointer(parameters, p, replayed, role_at);
      if (!like) like = size_alike(parameters, p, replayed, sizes);
      if (!like) like = size_of_images(parameters, p, replayed);
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
                const std::vector<int>& left, const std::set<std::string>& told) {
  Bound bound;
  bound.form.entry = &entry;
  if (has_tensors(entry))
    bind_by_place(entry, replayed, bound);
  else
    by_kind(entry, replayed, sizes, left, told, bound);
  for (std::size_t r = replayed.call->before.size(); r < replayed.roles.size(); ++r)
    if (!bound.form.takes(static_cast<int>(r)) && bound.form.in_place.count(static_cast<int>(r)) == 0)
      bound.form.returned.push_back(static_cast<int>(r));
  return bound;
}

}  // namespace isomer::lab
