#include "lab/ask/names/alike.hpp"
#include "lab/ask/names/bare.hpp"
#include "lab/ask/recorded/bound_parts.hpp"
#include "lab/findings/conventions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace isomer::lab {
namespace {

using Kind = Parameter::Kind;
using What = Passing::What;

bool may_point(const Parameter& p) {
  return p.kind == Kind::tensor || p.kind == Kind::optional_tensor || p.kind == Kind::pointer;
}

std::string listed(const std::vector<Port::Role>& roles, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + roles[i].name;
  return text;
}

bool fits_place(const Parameter& p, const Port::Role& role, const Value& value) {
  if (p.kind == Kind::any) return true;
  if (role.tensor || value.kind == Value::Kind::none) return may_point(p) || p.kind == Kind::unknown;
  switch (value.kind) {
    case Value::Kind::list:
      return p.kind == Kind::list || p.kind == Kind::unknown;
    case Value::Kind::text:
    case Value::Kind::dtype:
      return p.kind == Kind::text || p.kind == Kind::dtype || p.kind == Kind::unknown;
    default:
      return !may_point(p);
  }
}

constexpr const char* kForWrappers = "none is needed where a wrapper passes it by place";

/// Whether an extension has another name than the label's function: then a function of Python's stands
/// between it and the callers.
bool has_a_wrapper(const Entry& entry, const Replayed& replayed) {
  return entry.form == Entry::Form::extension && bare(entry.name) != bare(replayed.call->function);
}

/// What callers leave to the label's defaults, for the parameters that nothing else is for: as many of each
/// kind, in their order.
std::vector<Passing> left_out_in_order(const std::vector<Parameter>& parameters,
                                       const std::vector<int>& role_at, const Replayed& replayed) {
  std::vector<Passing> passings(parameters.size());
  const auto is_named = [&](const Value& value) {
    return std::any_of(parameters.begin(), parameters.end(),
                       [&](const Parameter& each) { return bare(each.name) == bare(value.name); });
  };
  const auto fit = [](const Parameter& p, const Value& value) {
    return p.kind == Kind::real      ? value.kind == Value::Kind::real
           : p.kind == Kind::boolean ? value.kind == Value::Kind::boolean
                                     : p.kind == Kind::integer && value.kind == Value::Kind::integer;
  };
  std::vector<std::size_t> taken;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (role_at[p] >= 0 || parameters[p].has_default || left_out(replayed, parameters[p]) != nullptr)
      continue;
    for (std::size_t v = 0; v < replayed.left_out.size(); ++v) {
      const Value& value = replayed.left_out[v];
      if (is_named(value) || !fit(parameters[p], value) ||
          std::find(taken.begin(), taken.end(), v) != taken.end())
        continue;
      taken.push_back(v);
      passings[p].what = What::constant;
      passings[p].constant =
          value.kind == Value::Kind::real ? value.real : static_cast<double>(value.integer);
      break;
    }
  }
  return passings;
}

/// Where a tensor stands in the place of a number: the parameter of the argument's name that takes one, which
/// a wrapper chooses, as `seqlen_offset=0, seqlen_offsets=None` are for an argument that is either. −1: none.
int place_of_other_kind(const std::vector<Parameter>& parameters, std::size_t next, const Replayed& replayed,
                        std::size_t argument) {
  if (next >= parameters.size() || !replayed.roles[argument].tensor || !takes_number(parameters[next]) ||
      !parameters[next].has_default)
    return -1;
  for (std::size_t p = 0; p < parameters.size(); ++p)
    if (may_point(parameters[p]) && bare(parameters[p].name) == bare(replayed.roles[argument].name))
      return static_cast<int>(p);
  return -1;
}

/// Gives the items of a list of whole numbers, `(h, w)`, to as many parameters from `next` on, where those
/// take numbers. How many.
std::size_t take_items_apart(const std::vector<Parameter>& parameters, std::size_t next,
                             const Replayed& replayed, std::size_t argument,
                             std::map<std::size_t, std::size_t>& items) {
  const Value& list = replayed.values[argument];
  const std::size_t count = list.kind == Value::Kind::list ? list.items.size() : 0;
  if (count < 2 || next + count > parameters.size() || parameters.size() <= replayed.call->before.size())
    return 0;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t v = replayed.roles.size(); v < replayed.values.size(); ++v)
      if (parameters[next + i].kind == Kind::integer &&
          replayed.values[v].name == fmt::format("{}[{}]", replayed.roles[argument].name, i))
        places.push_back(v);
  if (places.size() != count) return 0;
  for (std::size_t i = 0; i < count; ++i) items[next + i] = places[i];
  return count;
}

/// Which argument each parameter is for, where a module brought some of them along: a function of Python's
/// takes it apart, so that names say it, then places of what has one, and kinds. −1: none.
std::vector<int> roles_by_name(const std::vector<Parameter>& parameters, const Replayed& replayed) {
  const RecordedCall& call = *replayed.call;
  std::vector<int> role_at(parameters.size(), -1);
  std::vector<bool> used(call.before.size());
  const auto held = [&](std::size_t r) { return r < call.held.size() && call.held[r]; };
  const auto keyword = [&](std::size_t r) { return r < call.keyword.size() && call.keyword[r]; };
  const auto may = [&](std::size_t p, std::size_t r) {
    return role_at[p] < 0 && !used[r] && fits_place(parameters[p], replayed.roles[r], replayed.values[r]);
  };
  const auto take = [&](std::size_t p, std::size_t r) {
    role_at[p] = static_cast<int>(r);
    used[r] = true;
  };
  for (std::size_t p = 0; p < parameters.size(); ++p)
    for (std::size_t r = 0; r < used.size(); ++r)
      if (may(p, r) && bare(parameters[p].name) == bare(replayed.roles[r].name)) take(p, r);
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    double best = 0;
    std::size_t likest = used.size();
    for (std::size_t r = 0; r < used.size(); ++r) {
      const std::string& name = replayed.roles[r].name;
      const double like = replayed.roles[r].tensor ? likeness_of_tensors(parameters[p].name, name)
                                                   : likeness_of_names(parameters[p].name, name);
      if (like > best && may(p, r)) {
        best = like;
        likest = r;
      }
    }
    if (likest < used.size() && left_out(replayed, parameters[p]) == nullptr) take(p, likest);
  }
  for (const bool by_name : {false, true})
    for (std::size_t r = 0; r < used.size(); ++r)
      for (std::size_t p = 0; p < parameters.size() && keyword(r) == by_name; ++p) {
        // Numbers that a module holds are many, and few of them are asked for.
        const bool likely =
            !held(r) || replayed.roles[r].tensor ||
            (replayed.values[r].kind == Value::Kind::real && parameters[p].kind == Kind::real);
        if (likely && may(p, r) && left_out(replayed, parameters[p]) == nullptr) take(p, r);
      }
  return role_at;
}

/// The same, and what is missing: a module's parts that are not asked for are no matter.
void bind_held(const Entry& entry, const Replayed& replayed, Bound& bound) {
  const std::vector<Parameter>& parameters = entry.parameters;
  const std::size_t given = replayed.call->before.size();
  std::vector<int> role_at = roles_by_name(parameters, replayed);
  const auto is_taken = [&](std::size_t r) {
    return std::count(role_at.begin(), role_at.end(), static_cast<int>(r)) > 0;
  };
  std::string lost, listed_roles;
  for (std::size_t r = 0; r < given; ++r) {
    listed_roles += (r == 0 ? "" : ", ") + replayed.roles[r].name;
    const bool held = r < replayed.call->held.size() && replayed.call->held[r];
    if (!held && !is_taken(r) && replayed.values[r].kind != Value::Kind::none)
      lost += (lost.empty() ? "" : ", ") + replayed.roles[r].name;
  }
  std::string missing;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (role_at[p] >= 0 || parameters[p].has_default || !may_point(parameters[p]) ||
        parameters[p].kind == Kind::optional_tensor)
      continue;
    for (std::size_t r = given; r < replayed.roles.size() && role_at[p] < 0; ++r)
      if (replayed.roles[r].tensor && !is_taken(r)) role_at[p] = static_cast<int>(r);
    missing += (missing.empty() ? "" : ", ") + parameters[p].name;
  }
  if (!lost.empty() || !missing.empty())
    bound.findings.push_back(adapted(
        entry, Code::argument_count, "",
        fmt::format("{} takes {} arguments, and its callers have ({}) with what their module holds{}{}",
                    entry.name, parameters.size(), listed_roles,
                    lost.empty() ? "" : fmt::format("; nothing takes {}", lost),
                    missing.empty() ? "" : fmt::format("; nothing is for {}", missing)),
        fmt::format("take what of ({}) the original makes use of", listed_roles)));
  std::size_t last = 0;
  for (std::size_t p = 0; p < parameters.size(); ++p)
    if (role_at[p] >= 0 || (takes_number(parameters[p]) && !parameters[p].has_default)) last = p + 1;
  for (std::size_t p = 0; p < last; ++p) {
    Passing passing;
    if (role_at[p] >= 0)
      passing = of_role(static_cast<std::size_t>(role_at[p]));
    else if (takes_number(parameters[p]) && !parameters[p].has_default)
      passing = stand_in(parameters[p], replayed, p, bound);
    bound.form.passings.push_back(passing);
  }
}

}  // namespace

void bind_by_place(const Entry& entry, const Replayed& replayed, Bound& bound) {
  if (has_held(*replayed.call)) return bind_held(entry, replayed, bound);
  const std::vector<Parameter>& parameters = entry.parameters;
  const std::size_t given = replayed.call->before.size();
  std::vector<int> role_at(parameters.size(), -1);
  std::vector<bool> used(replayed.roles.size());
  std::size_t next = 0, lost = 0;
  std::map<std::size_t, std::size_t> items;  // parameters that take one item of a list of the callers'
  for (std::size_t i = 0; i < given; ++i) {
    if (const std::size_t count = take_items_apart(parameters, next, replayed, i, items); count > 0) {
      next += count;
      used[i] = true;
      continue;
    }
    const bool keyword = i < replayed.call->keyword.size() && replayed.call->keyword[i];
    if (!keyword) {
      if (const int other = place_of_other_kind(parameters, next, replayed, i); other >= 0) {
        role_at[static_cast<std::size_t>(other)] = static_cast<int>(i);
        used[i] = true;
        ++next;
        continue;
      }
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
        if (!parameters[p].has_keyword && has_a_wrapper(entry, replayed))
          bound.findings.back() = as_limit(std::move(bound.findings.back()), kForWrappers);
        break;
      }
  }
  // A keyword that the candidate does not have is what is left over, by its kind.
  for (std::size_t i = 0; i < given; ++i) {
    if (used[i] || i >= replayed.call->keyword.size() || !replayed.call->keyword[i]) continue;
    bool placed = false;
    for (std::size_t p = 0; p < parameters.size() && !placed; ++p) {
      if (role_at[p] >= 0 || !fits_place(parameters[p], replayed.roles[i], replayed.values[i])) continue;
      if (left_out(replayed, parameters[p]) != nullptr) continue;  // another of the original's
      role_at[p] = static_cast<int>(i);
      placed = used[i] = true;
      bound.findings.push_back(adapted(
          entry, Code::keyword_name, replayed.roles[i].name,
          fmt::format("'{}': callers pass {}=…, but {} has no argument of that name; it was passed as {}",
                      replayed.line, replayed.roles[i].name, entry.name, parameters[p].name),
          fmt::format("name it {}", replayed.roles[i].name)));
      if (has_a_wrapper(entry, replayed))
        bound.findings.back() = as_limit(std::move(bound.findings.back()), kForWrappers);
    }
    lost += !placed;
  }
  // What the label returns the candidate may want to be given.
  std::size_t missing = 0, made = 0;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    if (role_at[p] >= 0 || items.count(p) > 0 || parameters[p].has_default ||
        parameters[p].kind == Kind::stream)
      continue;
    bool filled = false;
    for (std::size_t r = given; r < replayed.roles.size() && !filled && may_point(parameters[p]) &&
                                parameters[p].kind != Kind::optional_tensor;
         ++r) {
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
  const std::size_t before = bound.findings.size();
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
  // A function of another name has a wrapper in between, which may pass what its callers leave out.
  const bool wrapped =
      has_a_wrapper(entry, replayed) && lost + made == 0 && missing <= replayed.left_out.size();
  if (wrapped && bound.findings.size() > before)
    bound.findings.back() = as_limit(std::move(bound.findings.back()), kForWrappers);
  const std::vector<Passing> in_order =
      wrapped ? left_out_in_order(parameters, role_at, replayed) : std::vector<Passing>();
  if (missing + lost > 0 && !wrapped) {
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
    if (role_at[p] >= 0 || items.count(p) > 0 || (takes_number(parameters[p]) && !parameters[p].has_default))
      last = p + 1;
  for (std::size_t p = 0; p < last; ++p) {
    Passing passing;
    if (const auto item = items.find(p); item != items.end()) {
      passing.what = What::computed;
      passing.computed = static_cast<int>(item->second);
    } else if (role_at[p] >= 0)
      passing = of_role(static_cast<std::size_t>(role_at[p]));
    else if (p < in_order.size() && in_order[p].what != What::none)
      passing = in_order[p];
    else if (takes_number(parameters[p]) && !parameters[p].has_default)
      passing = stand_in(parameters[p], replayed, p, bound);
    bound.form.passings.push_back(passing);
  }
}

}  // namespace isomer::lab
