#include "lab/ask/form.hpp"

#include "lab/ask/names/count_names.hpp"
#include "lab/ask/names/graph_names.hpp"
#include "lab/ask/names/letters.hpp"
#include "lab/ask/names/number_names.hpp"
#include "lab/ask/names/number_words.hpp"
#include "lab/ask/names/role_names.hpp"
#include "lab/ask/names/size_names.hpp"
#include "lab/ask/names/stride_names.hpp"
#include "lab/ask/names/width_names.hpp"
#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

namespace isomer::lab {
namespace {

using Kind = Parameter::Kind;
constexpr double kThreads = 64;  ///< of a block, and blocks, of who lets its callers choose
using What = Passing::What;

bool is_tensor(const Parameter& p) { return p.kind == Kind::tensor || p.kind == Kind::optional_tensor; }
bool is_memory(const Parameter& p) { return is_tensor(p) || p.kind == Kind::pointer; }
bool is_number(const Parameter& p) {
  return p.kind == Kind::integer || p.kind == Kind::real || p.kind == Kind::boolean;
}

/// A size of some tensor by the name of a number: H or head_num is the second size of K.
bool size_by_name(const Port& port, std::string_view name, Passing& passing) {
  const std::string asked = lower_case(name);
  for (int role = 0; role < static_cast<int>(port.roles.size()); ++role) {
    if (!port.roles[static_cast<std::size_t>(role)].tensor) continue;
    const std::vector<std::string> shape = shape_words(port, role);
    if (shape.size() > 1 && shape[0] == "..." &&
        (one_of(size_names().at("M"), asked) || one_of(size_names().at("S"), asked))) {
      // Tokens are the first dimension; rows are all dimensions but the last.
      passing.what = shape.size() > 2 && one_of(size_names().at("S"), asked) ? What::size : What::rows;
      passing.role = role;
      passing.dim = -static_cast<int>(shape.size());
      return true;
    }
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const auto known = size_names().find(shape[d]);
      const bool width = shape[d] == "Dv" && one_of(size_names().at("D"), asked);
      if (!width && (known == size_names().end() || !one_of(known->second, asked))) continue;
      passing.what = What::size;
      passing.role = role;
      passing.dim = static_cast<int>(d) - static_cast<int>(shape.size());
      return true;
    }
  }
  return false;
}

/// The role that words of a stride's name mean: "stride_o_bs" that of Out.
int role_of_words(const Port& port, const std::vector<std::string>& list, std::size_t& used) {
  for (std::size_t count = std::min<std::size_t>(list.size(), 4); count > 0; --count) {
    std::string name;
    for (std::size_t i = 0; i < count; ++i) name += list[i];
    for (int role = 0; role < static_cast<int>(port.roles.size()); ++role)
      if (port.roles[static_cast<std::size_t>(role)].tensor && port.role_of(name) == role) {
        used = count;
        return role;
      }
  }
  return -1;
}

Finding adapted(Code code, std::string argument, std::string evidence, std::string fix) {
  Finding finding;
  finding.code = code;
  finding.argument = std::move(argument);
  finding.evidence = std::move(evidence);
  finding.fix = std::move(fix);
  return finding;
}

Passing of_role(int role) {
  Passing passing;
  passing.what = What::role;
  passing.role = role;
  return passing;
}

std::string arguments_of(const Port& port) {
  std::string text;
  for (const Port::Role& role : port.roles)
    if (!role.returned) text += (text.empty() ? "" : ", ") + role.name;
  return text;
}

bool fits(const Parameter& p, const Port::Role& role) {
  return role.tensor ? is_memory(p) : is_number(p) || is_memory(p);
}

/// A Python-like call: the original's arguments in the original's order.
void by_position(const Entry& entry, const Port& port, Guess& guess) {
  const auto given = static_cast<std::size_t>(port.inputs());
  std::vector<int> roles;
  for (std::size_t i = 0; i < given; ++i) roles.push_back(static_cast<int>(i));
  std::size_t needed = 0;
  for (const Parameter& p : entry.parameters) needed += !p.has_default && p.kind != Kind::stream;
  const std::size_t takes = entry.parameters.size();
  // What has a default in the original may be left off by its callers, not by a port.
  const bool counts_fit = takes == given || (takes > given && needed <= given);
  bool optional_missing = takes < given;
  for (std::size_t i = takes; i < given; ++i) optional_missing = optional_missing && port.roles[i].optional;
  std::vector<int> named;
  for (const Parameter& p : entry.parameters) {
    const int role = p.name.empty() ? -1 : port.role_of(p.name);
    named.push_back(role >= 0 && std::find(named.begin(), named.end(), role) == named.end() ? role : -1);
  }
  guess.score = static_cast<double>(std::count_if(named.begin(), named.end(), [](int r) { return r >= 0; }));
  if (counts_fit || optional_missing) {
    for (std::size_t i = 0; i < std::min(takes, given); ++i)
      guess.form.passings.push_back(of_role(static_cast<int>(i)));
    bool all = true, other = false;
    for (std::size_t i = 0; i < std::min(takes, given); ++i) {
      all = all && named[i] >= 0 && named[i] < static_cast<int>(given);
      other = other || named[i] != static_cast<int>(i);
    }
    if (all && other)
      guess.by_names = {named.begin(), named.begin() + static_cast<std::ptrdiff_t>(std::min(takes, given))};
    guess.score += 10;
    return;
  }
  // Another number of arguments: by their names, then by what is left.
  std::vector<bool> used(port.roles.size());
  for (const int role : named)
    if (role >= 0) used[static_cast<std::size_t>(role)] = true;
  for (std::size_t i = 0; i < takes; ++i) {
    const Parameter& p = entry.parameters[i];
    if (named[i] >= 0) {
      guess.form.passings.push_back(of_role(named[i]));
      continue;
    }
    Passing passing;
    if (is_memory(p)) {
      for (std::size_t r = 0; r < given; ++r)
        if (!used[r] && port.roles[r].tensor) {
          passing = of_role(static_cast<int>(r));
          used[r] = true;
          break;
        }
    } else if (is_number(p) && !size_by_name(port, p.name, passing)) {
      passing.what = What::elements;
      passing.role = 0;
      guess.unsure.push_back(static_cast<int>(i));
    }
    guess.form.passings.push_back(passing);
  }
  guess.findings.push_back(adapted(Code::argument_count, "",
                                   fmt::format("{} takes {} arguments, but its callers pass {}: ({})",
                                               entry.name, takes, given, arguments_of(port)),
                                   fmt::format("take ({})", arguments_of(port))));
}

/// uint8_t, int8_t, or another 8-bit float than the op's, of memory whose elements have 8 bits by the
/// contract: its bytes, whatever they mean to the caller.
bool only_bytes(const Parameter& p, const Port& port, int role) {
  const core::Contract& contract = *port.oracle->contract;
  const int at = contract.index_of(port.roles[static_cast<std::size_t>(role)].argument);
  if (at < 0 || size_of(p.element) != 1) return false;
  const auto& dtypes = contract.args[static_cast<std::size_t>(at)].dtypes;
  if (is_fp8(p.element) && std::find(dtypes.begin(), dtypes.end(), p.element) != dtypes.end()) return false;
  return std::any_of(dtypes.begin(), dtypes.end(), [](DType dtype) { return size_of(dtype) == 1; });
}

/// Whether memory of that element type may be the role's: no real numbers where the contract has whole ones.
bool may_hold(const Port& port, int role, const Parameter& p) {
  const core::Contract& contract = *port.oracle->contract;
  const int at = contract.index_of(port.roles[static_cast<std::size_t>(role)].argument);
  if (at < 0 || p.element == DType::none) return true;
  const auto& dtypes = contract.args[static_cast<std::size_t>(at)].dtypes;
  const bool whole = !dtypes.empty() && std::none_of(dtypes.begin(), dtypes.end(), [](DType dtype) {
    return is_float(dtype) || size_of(dtype) == 1;
  });
  return !whole || !is_float(p.element);
}

/// n of (m, n), of an op that has no n: where another number of the entry is a count of rows, the size of a
/// row, where one is that, the rows. Nothing where it stands alone: then it counts all elements.
std::optional<Passing> beside_a_size(const Entry& entry, const Port& port, const Parameter& n) {
  if (shape_words(port, 0).size() > 2) return std::nullopt;  // it may count anything of several axes
  for (const Parameter& p : entry.parameters) {
    Passing other;
    if (&p == &n || p.kind != Kind::integer || !size_by_name(port, p.name, other)) continue;
    Passing passing;
    passing.role = 0;
    passing.dim = -1;
    passing.what = other.what == What::size && other.dim == -1 ? What::rows : What::size;
    return passing;
  }
  return std::nullopt;
}

/// A real number that the original has none of: what its name says, the scale of q·k where the op has a q,
/// else a factor of one, or nothing added.
Passing real_of(const Port& port, const std::string& name) {
  Passing passing;
  passing.what = What::constant;
  if (const std::optional<double> known = number_by_name(port, name)) {
    passing.constant = *known;
    return passing;
  }
  const std::string asked = lower_case(name);
  const auto said = [&](const char* word) { return asked.find(word) != std::string::npos; };
  const auto q = std::find_if(port.roles.begin(), port.roles.end(),
                              [](const Port::Role& role) { return role.tensor && role.argument == "q"; });
  if ((said("scal") || said("sqrt")) && q != port.roles.end()) {
    passing.what = What::scale_of_dot;
    passing.role = static_cast<int>(q - port.roles.begin());
  } else if (said("scal") || said("alpha") || said("factor") || said("mult") || said("gain")) {
    passing.constant = 1;
  }
  return passing;
}

/// A function over raw memory, or a kernel: pointers by name, else in the original's order; numbers by name.
void by_kind(const Entry& entry, const Port& port, Guess& guess, bool stranger = false) {
  std::vector<bool> used(port.roles.size());
  std::vector<int> role_at(entry.parameters.size(), -1);
  if (stranger) role_at = roles_by_words(entry, port);
  for (const int role : role_at)
    if (role >= 0) {
      used[static_cast<std::size_t>(role)] = true;
      guess.score += 1;
    }
  std::vector<ArrayName> arrays;
  for (const Parameter& p : entry.parameters)
    arrays.push_back(port.role_of(p.name) < 0 ? array_name(p) : ArrayName());
  const auto is_array = [&](std::size_t i) { return arrays[i].what != What::none; };
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    const Parameter& p = entry.parameters[i];
    if (!is_memory(p) || p.name.empty() || is_array(i) || role_at[i] >= 0 ||
        (stranger && is_of_no_op(port, p)))
      continue;
    int role = port.role_of(p.name);
    if (stranger && is_cleared_room(port, p)) continue;
    if (role < 0) {
      std::size_t count = 0;
      role = role_of_words(port, words_of(p.name), count);
    }
    if (role < 0 || used[static_cast<std::size_t>(role)] ||
        !port.roles[static_cast<std::size_t>(role)].tensor)
      continue;
    // A pointer to const is no output.
    if (p.is_const && port.roles[static_cast<std::size_t>(role)].output) continue;
    used[static_cast<std::size_t>(role)] = true;
    role_at[i] = role;
    guess.score += 1;
  }
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    const Parameter& p = entry.parameters[i];
    if (!is_memory(p) || role_at[i] >= 0 || is_array(i) ||
        (stranger && (is_of_no_op(port, p) || is_cleared_room(port, p))))
      continue;
    for (int pass = 0; pass < 2 && role_at[i] < 0; ++pass)
      for (std::size_t r = 0; r < port.roles.size(); ++r) {
        const Port::Role& role = port.roles[r];
        // A tensor may be written, const or not: there the original's order says more.
        const bool right = pass == 1 || is_tensor(p) || role.output == !p.is_const;
        if (stranger && !may_hold(port, static_cast<int>(r), p)) continue;
        // Who returns its result takes none in memory of the caller's, unless the name says so.
        const bool returns = role.output && entry.returned_tensors != 0 && is_tensor(p);
        if (used[r] || !role.tensor || !right || (p.is_const && role.output) || (stranger && returns))
          continue;
        used[r] = true;
        role_at[i] = static_cast<int>(r);
        break;
      }
    // Memory where the original has a number.
    const int number = role_at[i] < 0 && !p.name.empty() ? port.role_of(p.name) : -1;
    if (number < 0 || port.roles[static_cast<std::size_t>(number)].tensor) continue;
    role_at[i] = number;
    guess.findings.push_back(
        adapted(Code::argument_kind, p.name,
                fmt::format("{} is a number, but the parameter is a tensor ({})", p.name, p.type),
                fmt::format("take a number for {}", p.name)));
  }
  std::vector<bool> taken(entry.parameters.size()), strided(port.roles.size());
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    const int role = port.role_of(entry.parameters[i].name);
    taken[i] = (role >= 0 && !port.roles[static_cast<std::size_t>(role)].tensor) ||
               (stranger && (is_stride_of_cache(port, entry.parameters[i]) ||
                             is_step_of_keys(port, entry.parameters[i])));
  }
  int array_role = -1;
  for (std::size_t i = entry.parameters.size(); i-- > 0;)
    if (is_array(i)) array_role = role_of_array(arrays[i], i, entry, port, role_at);
  // Who is given its strides needs no compact tensor, wherever they stand.
  const auto give_strided = [&](int role) {
    for (Passing& each : guess.form.passings)
      if (each.what == What::role && each.role == role) each.compact = false;
    strided[static_cast<std::size_t>(role)] = true;
  };
  std::vector<std::vector<std::string>> shapes;
  for (std::size_t r = 0; r < port.roles.size(); ++r)
    shapes.push_back(shape_words(port, static_cast<int>(r)));
  std::vector<int> counts;  // numbers that say no more than that they count
  const std::vector<std::optional<StrideOf>> strides = strides_by_name(entry, port, shapes, role_at, taken);
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    Parameter p = entry.parameters[i];
    if (stranger && p.kind == Kind::integer) p.name = without_padding(p.name);
    Passing passing;
    if (role_at[i] >= 0) {
      passing = of_role(role_at[i]);
      if (p.element != DType::none && !only_bytes(p, port, role_at[i])) passing.cast = p.element;
      passing.compact = p.kind == Kind::pointer && !strided[static_cast<std::size_t>(role_at[i])];
      passing.boxed = !port.roles[static_cast<std::size_t>(role_at[i])].tensor;
    } else if (is_array(i)) {
      passing.role = role_of_array(arrays[i], i, entry, port, role_at);
      passing.what = passing.role < 0 ? What::none : arrays[i].what;
      if (passing.what == What::strides) give_strided(passing.role);
    } else if (stranger &&
               (is_lent_room(port, p) || (p.kind == Kind::pointer && !p.is_const && !p.has_default &&
                                          is_float(p.element) && !is_of_no_op(port, p)))) {
      passing.what = What::room;
    } else if (stranger && is_cleared_room(port, p)) {
      passing.what = What::room;
      passing.zeros = true;
    } else if (is_number(p)) {
      const int role = port.role_of(p.name);
      if (role >= 0 && !port.roles[static_cast<std::size_t>(role)].tensor) {
        passing = of_role(role);
        if (stranger && p.kind == Kind::integer) guess.score += 0.5;
      } else if (stranger && number_of_graph(entry, port, p, role_at, passing)) {
        guess.score += 0.5;
      } else if (strides[i]) {
        passing.what = What::stride;
        passing.role = strides[i]->role;
        passing.dim = strides[i]->dim;
        give_strided(passing.role);
      } else if (p.kind == Kind::integer && number_of_experts(port, p, passing)) {
        guess.score += 0.5;
      } else if (stranger && p.kind == Kind::integer &&
                 (width_of_heads(entry, port, p, passing) || keys_beside_queries(entry, port, p, passing) ||
                  number_by_words(entry, port, p, role_at, passing))) {
        guess.score += 0.5;
      } else if (p.kind == Kind::integer && array_role >= 0 && one_of(rank_names(), lower_case(p.name))) {
        passing.what = What::rank;
        passing.role = array_role;
      } else if (p.kind == Kind::integer &&
                 !(entry.parameters.size() <= 4 && one_of(count_names(), lower_case(p.name))) &&
                 size_by_name(port, p.name, passing)) {
        guess.score += 0.5;
      } else if (role >= 0 && !used[static_cast<std::size_t>(role)]) {
        // A number by the name of a tensor that no pointer takes.
        used[static_cast<std::size_t>(role)] = true;
        passing.what = What::first;
        passing.role = role;
        guess.findings.push_back(
            adapted(Code::argument_kind, p.name,
                    fmt::format("{} is a tensor, but the parameter is a number ({})", p.name, p.type),
                    fmt::format("take a tensor for {}", p.name)));
      } else if (const auto beside =
                     one_of(count_names(), lower_case(p.name)) && !counts_everything(lower_case(p.name))
                         ? beside_a_size(entry, port, p)
                         : std::nullopt) {
        passing = *beside;
      } else if (stranger && p.kind == Kind::integer && sizes_launches(p.name)) {
        passing.what = What::constant;
        passing.constant = kThreads;
        guess.unsure.push_back(static_cast<int>(i));
      } else if (p.kind == Kind::integer) {
        passing.what = What::elements;
        passing.role = 0;
        if (one_of(count_names(), lower_case(p.name)) && shape_words(port, 0).size() <= 2)
          counts.push_back(static_cast<int>(i));
        else
          guess.unsure.push_back(static_cast<int>(i));
      } else if (!p.has_default) {
        // No size is a real number or a flag.
        if (p.kind == Kind::real) passing = real_of(port, p.name);
        passing.what = passing.what == What::none ? What::constant : passing.what;
      }
    }
    guess.form.passings.push_back(passing);
  }
  if (stranger) doubt_letters(entry, guess.form.passings, guess.unsure);
  // A count beside numbers that no name explains may count rows.
  if (stranger && !guess.unsure.empty())
    guess.unsure.insert(guess.unsure.end(), counts.begin(), counts.end());
  // Raw memory that nothing carries the strides of is compact.
  for (std::size_t r = 0; r < used.size(); ++r)
    if (port.roles[r].tensor && !used[r]) guess.score -= 5;
}

}  // namespace

bool names_the_original(const Entry& entry, const Port& port) {
  if (entry.name != port.functions.front()) return false;
  const bool of_the_op = entry.name == port.op;
  return std::all_of(entry.parameters.begin(), entry.parameters.end(), [&](const Parameter& p) {
    return (!of_the_op && !is_memory(p)) || port.role_of(p.name) >= 0;
  });
}

Guess guess_form(const Entry& entry, const Port& port, bool stranger) {
  Guess guess;
  guess.port = &port;
  guess.form.entry = &entry;
  const bool tensors = std::any_of(entry.parameters.begin(), entry.parameters.end(), is_tensor);
  if (entry.form == Entry::Form::extension || tensors) {
    by_position(entry, port, guess);
    // Nobody calls a stranger as the original is called: its names say what it takes.
    if (stranger) {
      Guess by_names;
      by_names.port = &port;
      by_names.form.entry = &entry;
      by_kind(entry, port, by_names, stranger);
      const bool whole =
          std::all_of(by_names.form.passings.begin(), by_names.form.passings.end(), [&](const Passing& each) {
            const auto at = static_cast<std::size_t>(&each - by_names.form.passings.data());
            return each.what != What::none || entry.parameters[at].kind != Kind::tensor;
          });
      // A mask is no flag, wherever it stands.
      const bool boxed =
          std::any_of(guess.form.passings.begin(), guess.form.passings.end(), [&](const Passing& each) {
            const auto at = static_cast<std::size_t>(&each - guess.form.passings.data());
            return each.what == What::role && is_tensor(entry.parameters[at]) &&
                   !port.roles[static_cast<std::size_t>(each.role)].tensor &&
                   port.role_of(entry.parameters[at].name) != each.role;
          });
      if (by_names.findings.empty() && (whole || boxed || !guess.findings.empty())) {
        if (whole) by_names.score += 10;
        guess = std::move(by_names);
      }
    }
  } else {
    by_kind(entry, port, guess, stranger);
  }
  for (std::size_t r = 0; r < port.roles.size(); ++r)
    if (port.roles[r].returned ||
        (port.roles[r].output && !guess.form.takes(static_cast<int>(r)) && entry.returned_tensors))
      guess.form.returned.push_back(static_cast<int>(r));
  // The form that returns is the one whose outputs are not passed, and the other way round.
  const bool returning =
      std::any_of(port.roles.begin(), port.roles.end(), [](const Port::Role& role) { return role.returned; });
  if (returning != (entry.returned_tensors != 0) && entry.form == Entry::Form::extension) guess.score -= 3;
  const auto made = std::count_if(port.roles.begin(), port.roles.end(),
                                  [](const Port::Role& role) { return role.returned; });
  if (entry.returned_tensors > 0 && made > 0 && made != entry.returned_tensors) guess.score -= 1;
  if (entry.returned_tensors == 0)
    for (std::size_t r = 0; r < port.roles.size(); ++r)
      if (port.roles[r].returned && !guess.form.takes(static_cast<int>(r))) guess.score -= 5;
  for (std::size_t i = 0; i < guess.form.passings.size() && i < entry.parameters.size(); ++i) {
    const Passing& passing = guess.form.passings[i];
    if (passing.what != What::role) continue;
    const Parameter& p = entry.parameters[i];
    const Port::Role& role = port.roles[static_cast<std::size_t>(passing.role)];
    static const Pattern kAdded("(\\w+_)?(mask|bias)(_\\w+)?");  // to scores: no length, whatever its place
    const bool added = is_memory(p) && kAdded.is(lower_case(p.name)) && port.role_of(p.name) != passing.role;
    if (!added && fits(p, role) && !(!role.tensor && is_memory(p))) continue;
    guess.score -= added ? 20 : 4;
  }
  return guess;
}

Guess guess_form(const Entry& entry, const std::vector<const Port*>& ports) {
  Guess best;
  for (const Port* port : ports) {
    Guess guess = guess_form(entry, *port);
    if (best.port == nullptr || guess.score > best.score) best = std::move(guess);
  }
  return best;
}

std::string describe(const Value& value) {
  switch (value.kind) {
    case Value::Kind::tensor:
      return value.tensor.describe();
    case Value::Kind::integer:
      return std::to_string(value.integer);
    case Value::Kind::real:
      return fmt::format("{}", value.real);
    case Value::Kind::boolean:
      return value.integer != 0 ? "True" : "False";
    case Value::Kind::none:
      return "None";
    default:
      return value.text;
  }
}

}  // namespace isomer::lab
