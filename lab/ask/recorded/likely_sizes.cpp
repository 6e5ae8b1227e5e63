#include "lab/ask/recorded/likely_sizes.hpp"

#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"
#include "oracle/expected.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <utility>

namespace isomer::lab {
namespace {

using What = Passing::What;
using Numbers = std::vector<std::int64_t>;  ///< one for each call

constexpr std::size_t kMostNumbers = 6, kMostWays = 8000;

/// A size that the calls have: dimensions that are the same in each call are one.
struct Extent {
  Numbers numbers;
  Passing passing;
  bool first = false, last = false;  ///< it is a tensor's first dimension of several, its last
  bool in_output = false, in_input = false;
  bool leads = true;  ///< it is nowhere but a first dimension, by which nothing is addressed
  /// One number in several calls, which a kernel may have as a constant.
  bool constant() const {
    return numbers.size() > 1 &&
           std::all_of(numbers.begin(), numbers.end(), [&](std::int64_t n) { return n == numbers.front(); });
  }
};

struct Extents {
  std::vector<Extent> list;
  /// Per tensor its dimensions, as places in `list`; −1: one element in every call.
  std::vector<std::vector<int>> of_role;
};

std::int64_t size_in(const Replayed& replayed, std::size_t role, int dim) {
  const Value& value = replayed.values[role];
  return value.is_tensor() && dim < value.tensor.rank ? value.tensor.size(dim) : 1;
}

/// The extent with these numbers, made where there is none.
Extent& extent_with(Extents& extents, Numbers numbers, std::size_t role, int dim, int less) {
  auto at = std::find_if(extents.list.begin(), extents.list.end(),
                         [&](const Extent& each) { return each.numbers == numbers; });
  if (at == extents.list.end()) {
    Extent extent;
    extent.numbers = std::move(numbers);
    extent.passing.what = What::size;
    extent.passing.role = static_cast<int>(role);
    extent.passing.dim = dim;
    extent.passing.less = less;
    extents.list.push_back(std::move(extent));
    at = extents.list.end() - 1;
  }
  extents.of_role.back().push_back(static_cast<int>(at - extents.list.begin()));
  return *at;
}

bool is_single(const Numbers& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](std::int64_t n) { return n == 1; });
}

Extents extents_of(const std::vector<Replayed>& calls) {
  Extents extents;
  const Replayed& call = calls.front();
  for (std::size_t role = 0; role < call.roles.size(); ++role) {
    extents.of_role.emplace_back();
    if (!call.values[role].is_tensor()) continue;
    const int rank = call.values[role].tensor.rank;
    const bool output = std::any_of(call.outputs.begin(), call.outputs.end(),
                                    [&](const auto& each) { return each.role == static_cast<int>(role); });
    const int less = are_offsets(calls, role) ? 1 : 0;
    for (int dim = 0; dim < rank; ++dim) {
      Numbers numbers;
      for (const Replayed& each : calls) numbers.push_back(size_in(each, role, dim) - less);
      // A single batch is a size that a number may say, and need not.
      if (is_single(numbers) && (dim > 0 || rank < 3)) {
        extents.of_role.back().push_back(-1);
        continue;
      }
      Extent& extent = extent_with(extents, std::move(numbers), role, dim, less);
      extent.first = extent.first || (dim == 0 && (rank > 1 || less > 0));
      extent.last = extent.last || (dim == rank - 1 && less == 0);
      extent.in_output = extent.in_output || output;
      extent.in_input = extent.in_input || !output;
      extent.leads = extent.leads && dim == 0;
    }
  }
  return extents;
}

/// Colours, coordinates or the parts of a complex number.
bool is_few(const Extent& extent) {
  constexpr std::int64_t kMost = 4;
  return std::all_of(extent.numbers.begin(), extent.numbers.end(), [](std::int64_t n) { return n <= kMost; });
}

/// A ratio of two extents; none where one call has a rest, or they are the same everywhere.
std::optional<Passing> ratio_of(const Extent& one, const Extent& other) {
  bool more = false;
  for (std::size_t i = 0; i < one.numbers.size(); ++i) {
    if (other.numbers[i] < 2 || one.numbers[i] % other.numbers[i] != 0) return std::nullopt;
    more = more || one.numbers[i] > other.numbers[i];
  }
  if (!more || one.passing.less != 0 || other.passing.less != 0) return std::nullopt;
  Passing passing = one.passing;
  passing.what = What::ratio;
  passing.less_role = other.passing.role;
  passing.less_dim = other.passing.dim;
  return passing;
}

/// Whether a name counts the parts of a size.
bool counts_parts(const std::string& name) {
  static const Pattern parts("(?:n|num|nr)_?\\w+|\\w*(?:groups|classes|heads|anchors|blocks|chunks|count)");
  return parts.is(lower_case(name));
}

/// What a number can be, and which extents that says.
struct Option {
  Passing passing;
  std::vector<int> says;
};

std::vector<Option> options_of(const Extents& extents, bool ratios) {
  std::vector<Option> options;
  for (std::size_t i = 0; i < extents.list.size(); ++i)
    options.push_back({extents.list[i].passing, {static_cast<int>(i)}});
  // So many parts of a size that never changes.
  for (std::size_t i = 0; ratios && i < extents.list.size(); ++i)
    for (std::size_t o = 0; o < extents.list.size(); ++o)
      if (const auto ratio = i == o || !extents.list[o].constant()
                                 ? std::nullopt
                                 : ratio_of(extents.list[i], extents.list[o]))
        options.push_back({*ratio, {static_cast<int>(i), static_cast<int>(o)}});
  for (std::size_t role = 0; role < extents.of_role.size(); ++role) {
    const std::vector<int>& dims = extents.of_role[role];
    if (dims.size() < 2) continue;
    Option rows, elements;
    rows.passing.what = What::rows;
    elements.passing.what = What::elements;
    rows.passing.role = elements.passing.role = static_cast<int>(role);
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (dims[d] < 0) continue;
      elements.says.push_back(dims[d]);
      if (d + 1 < dims.size()) rows.says.push_back(dims[d]);
    }
    if (rows.says.size() > 1) options.push_back(std::move(rows));
    if (elements.says.size() > 1) options.push_back(std::move(elements));
    for (std::size_t first = 1; first + 1 < dims.size(); ++first) {
      Option inner;
      inner.passing.what = What::inner;
      inner.passing.role = static_cast<int>(role);
      inner.passing.dim = static_cast<int>(first);
      for (std::size_t d = first; d < dims.size(); ++d)
        if (dims[d] >= 0) inner.says.push_back(dims[d]);
      if (inner.says.size() > 1) options.push_back(std::move(inner));
    }
  }
  return options;
}

/// Whether the name is usually another size than that: K is what a product sums over, M and N are its
/// result's sides, rows stand before columns.
/// `lone`: no other number is looked for, so that `n` may count all elements.
bool speaks_against(const std::string& name, const Option& option, const Extents& extents, bool lone) {
  static const Pattern rows(
      "n?_?rows?|num_rows|height|m|b|bs|batch(_?(size|dim))?|bsz|n_?tokens|num_tokens|tokens");
  static const Pattern columns("n?_?cols?|columns|num_cols|width|d|dim|hidden(_?(size|dim))?|embed_dim|c");
  static const Pattern all(
      "numel|n_elements|num_elements|total(_(n|size|len|length|count|elements|elems|numel|threads|work))?");
  static const Pattern may_be_all("size|count|length"), may_be_all_alone("n|len|num");
  const std::string lower = lower_case(name);
  if (option.passing.what == What::ratio) return !counts_parts(name);
  // What lies behind a channel, as one.
  static const Pattern inner(
      "d?_?x?_?h_?x?_?w|(?:n_|num_)?(?:spatial|inner|plane|pixels?|area|positions)(?:_?(?:size|dim|len|count)"
      ")?");
  if (option.passing.what == What::inner) return !inner.is(lower);
  if (option.passing.what == What::rows && all.is(lower)) return true;
  if (option.passing.what != What::size)
    return rows.is(lower) ? option.passing.what != What::rows
                          : !all.is(lower) && !may_be_all.is(lower) && !(lone && may_be_all_alone.is(lower));
  if (all.is(lower)) return extents.list.size() > 1;
  const Extent& extent = extents.list[static_cast<std::size_t>(option.says.front())];
  if (is_single(extent.numbers)) return !rows.is(lower);
  const bool product = std::any_of(extents.list.begin(), extents.list.end(),
                                   [](const Extent& each) { return !each.in_output; }) &&
                       extents.list.size() > 2;
  if (product && lower == "k") return extent.in_output;
  if (product && (lower == "m" || lower == "n"))
    return !extent.in_output || (lower == "m" && extent.last && !extent.first);
  // Of so many matrices of three by three nothing else is counted.
  static const Pattern counts("(?:n_?|num_?)?(?:count|items|total)");
  if (counts.is(lower) && std::any_of(extents.list.begin(), extents.list.end(),
                                      [](const Extent& each) { return each.leads && !each.constant(); }))
    return !extent.leads;
  static const Pattern of_output("(?:out|output|dst|top)_\\w+"), of_input("(?:in|input|src|bottom)_\\w+");
  if (of_output.is(lower)) return !extent.in_output;
  if (of_input.is(lower)) return !extent.in_input;
  if (rows.is(lower)) return !extent.first && extent.last;
  if (columns.is(lower)) return !extent.last && extent.first;
  return false;
}

/// Whether one size is the same share of another in every call, as half of it is: who says the one says both.
bool follows(const Numbers& one, const Numbers& other) {
  bool varies = false;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i] * other[0] != one[0] * other[i]) return false;
    varies = varies || other[i] != other[0];
  }
  return varies;
}

/// Whole numbers that the label computes and the form passes.
std::vector<Numbers> numbers_computed(const Form& form, const std::vector<Replayed>& calls) {
  std::vector<Numbers> list;
  for (const Passing& passing : form.passings) {
    if (passing.what != What::computed) continue;
    Numbers numbers;
    for (const Replayed& call : calls) {
      const auto place = static_cast<std::size_t>(std::max(passing.computed, 0));
      if (place < call.values.size() && call.values[place].kind == Value::Kind::integer &&
          call.values[place].integer > 0)
        numbers.push_back(call.values[place].integer);
    }
    if (numbers.size() == calls.size()) list.push_back(std::move(numbers));
  }
  return list;
}

/// Whole numbers that callers pass, or the label computes, which sizes may be multiplied by or divided.
std::vector<Numbers> numbers_of_callers(const Form& form, const std::vector<Replayed>& calls) {
  std::vector<Numbers> list = numbers_computed(form, calls);
  for (std::size_t role = 0; role < calls.front().roles.size(); ++role) {
    Numbers numbers;
    for (const Replayed& call : calls)
      if (role < call.values.size() && call.values[role].kind == Value::Kind::integer &&
          call.values[role].integer > 0)
        numbers.push_back(call.values[role].integer);
    if (numbers.size() == calls.size()) list.push_back(std::move(numbers));
  }
  return list;
}

bool all_of_them(const Numbers& one, const std::function<bool(std::size_t)>& holds) {
  for (std::size_t i = 0; i < one.size(); ++i)
    if (!holds(i)) return false;
  return true;
}

/// Whether a size is made of another one in the same way in every call: a part of it, rounded, so many more
/// or less, or what a number of the callers' multiplies or divides.
bool is_made_of(const Numbers& one, const Numbers& other, const std::vector<Numbers>& given) {
  constexpr std::int64_t kMost = 16;
  if (follows(one, other)) return true;
  const bool varies = std::any_of(other.begin(), other.end(), [&](auto n) { return n != other.front(); });
  for (std::int64_t k = 2; varies && k <= kMost; ++k)
    if (all_of_them(one, [&](std::size_t i) { return one[i] == (other[i] + k - 1) / k; }) ||
        all_of_them(one, [&](std::size_t i) { return one[i] == other[i] / k; }))
      return true;
  if (varies && std::abs(one.front() - other.front()) <= kMost &&
      all_of_them(one, [&](std::size_t i) { return one[i] - other[i] == one.front() - other.front(); }))
    return true;
  return std::any_of(given.begin(), given.end(), [&](const Numbers& by) {
    return all_of_them(one, [&](std::size_t i) { return one[i] == other[i] * by[i]; }) ||
           all_of_them(one, [&](std::size_t i) { return one[i] == (other[i] + by[i] - 1) / by[i]; }) ||
           all_of_them(one, [&](std::size_t i) { return one[i] == other[i] / by[i]; });
  });
}

/// Whether a size is a product of two or three numbers that callers pass.
bool is_product(const Numbers& one, const std::vector<Numbers>& given) {
  for (const Numbers& a : given)
    for (const Numbers& b : given) {
      if (all_of_them(one, [&](std::size_t i) { return one[i] == a[i] * b[i]; })) return true;
      for (const Numbers& c : given)
        if (all_of_them(one, [&](std::size_t i) { return one[i] == a[i] * b[i] * c[i]; })) return true;
    }
  return false;
}

/// The extents that arguments of the call say already: whole numbers that are one in every call.
std::vector<bool> said_by_callers(const Form& form, const std::vector<Replayed>& calls,
                                  const Extents& extents, const std::vector<int>& unsure) {
  std::vector<bool> said(extents.list.size());
  for (std::size_t i = 0; i < form.passings.size(); ++i) {
    if (std::find(unsure.begin(), unsure.end(), static_cast<int>(i)) != unsure.end()) continue;
    const Passing& passing = form.passings[i];
    if (passing.role < 0) continue;
    Numbers numbers;
    for (const Replayed& call : calls) {
      const Value& value = call.values[static_cast<std::size_t>(passing.role)];
      if (passing.what == What::role && value.kind == Value::Kind::integer)
        numbers.push_back(value.integer);
      else if (passing.what == What::size && value.is_tensor())
        numbers.push_back(size_in(call, static_cast<std::size_t>(passing.role),
                                  passing.dim < 0 ? passing.dim + value.tensor.rank : passing.dim) -
                          passing.less);
    }
    for (std::size_t e = 0; e < extents.list.size(); ++e)
      said[e] = said[e] || extents.list[e].numbers == numbers || is_single(extents.list[e].numbers);
  }
  return said;
}

}  // namespace

bool are_offsets(const std::vector<Replayed>& calls, std::size_t role) {
  return std::all_of(calls.begin(), calls.end(), [&](const Replayed& call) {
    const Value& value = call.values[role];
    if (!value.is_tensor() || value.tensor.rank != 1 || value.tensor.size(0) < 2 ||
        is_float(value.tensor.dtype) || role >= call.call->before.size())
      return false;
    const std::vector<double> all = oracle::elements(value.tensor);
    return all.front() == 0 && all.back() > 0 && std::is_sorted(all.begin(), all.end());
  });
}

std::vector<Passing> ratios_of_sizes(const std::vector<Replayed>& calls) {
  std::vector<Passing> list;
  const Extents extents = extents_of(calls);
  for (const Extent& one : extents.list)
    for (const Extent& other : extents.list)
      if (const std::optional<Passing> ratio = ratio_of(one, other)) list.push_back(*ratio);
  return list;
}

std::vector<LikelySizes> likely_sizes(const Form& form, const std::vector<Replayed>& calls,
                                      const std::vector<int>& unsure) {
  if (calls.empty() || unsure.empty() || unsure.size() > kMostNumbers) return {};
  const Extents extents = extents_of(calls);
  const auto of_parts = [&](int at) {
    return counts_parts(form.entry->parameters[static_cast<std::size_t>(at)].name);
  };
  std::vector<Option> options = options_of(extents, false);
  const std::vector<Numbers> given = numbers_of_callers(form, calls);
  std::vector<bool> said = said_by_callers(form, calls, extents, unsure);
  for (std::size_t e = 0; e < extents.list.size(); ++e)
    said[e] = said[e] || std::any_of(given.begin(), given.end(), [&](const Numbers& each) {
                return follows(extents.list[e].numbers, each);
              });
  // So many times what the label computes, and the form passes.
  for (const Numbers& each : numbers_computed(form, calls))
    for (std::size_t e = 0; e < extents.list.size(); ++e) {
      const Numbers& own = extents.list[e].numbers;
      said[e] = said[e] || all_of_them(own, [&](std::size_t i) {
                  return own[i] % each[i] == 0 && own[i] / each[i] == own[0] / each[0];
                });
    }
  // Which extents say which others: as a share of them, and, where that leaves no way, as made of them.
  std::vector<std::vector<bool>> made(extents.list.size());
  for (std::size_t e = 0; e < extents.list.size(); ++e)
    for (const Extent& other : extents.list)
      made[e].push_back(follows(extents.list[e].numbers, other.numbers));
  std::vector<LikelySizes> ways;
  std::vector<std::size_t> chosen;
  bool all =
      true;  // every extent has to be said; otherwise those that lead a tensor and constants need not be
  bool channels = false;  // so few that a kernel may have them as a constant, of a single call
  const auto keep = [&] {
    std::vector<bool> covered = said;
    for (const std::size_t each : chosen)
      for (const int extent : options[each].says) covered[static_cast<std::size_t>(extent)] = true;
    const std::vector<bool> chosen_ones = covered;
    for (std::size_t e = 0; e < covered.size(); ++e)
      for (std::size_t o = 0; o < covered.size() && !covered[e]; ++o)
        covered[e] = chosen_ones[o] && made[e][o];
    bool left = false;  // what says every size is among the others already
    for (std::size_t e = 0; e < covered.size(); ++e) {
      if (covered[e]) continue;
      const Extent& extent = extents.list[e];
      if (all || (!extent.leads && !extent.constant() && !(channels && is_few(extent)))) return;
      left = true;
    }
    if (channels && !left) return;
    LikelySizes way;
    way.form = form;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const auto at = static_cast<std::size_t>(unsure[i]);
      way.form.passings[at] = options[chosen[i]].passing;
      way.against +=
          speaks_against(form.entry->parameters[at].name, options[chosen[i]], extents, unsure.size() == 1);
      // Several dimensions in one number are said by who has no number for each.
      way.inverted += chosen.size() > 1 && (options[chosen[i]].passing.what == What::rows ||
                                            options[chosen[i]].passing.what == What::inner ||
                                            options[chosen[i]].passing.what == What::elements);
      for (std::size_t j = 0; j < i; ++j)
        way.inverted += options[chosen[j]].says.front() > options[chosen[i]].says.front();
    }
    ways.push_back(std::move(way));
  };
  // Of square matrices M, N and K are one size.
  const bool few = extents.list.size() < unsure.size();
  const std::function<void()> choose = [&] {
    if (chosen.size() == unsure.size()) return keep();
    for (std::size_t o = 0; o < options.size() && ways.size() < kMostWays; ++o) {
      if (std::find(chosen.begin(), chosen.end(), o) != chosen.end() &&
          !(few && options[o].passing.what == What::size))
        continue;
      chosen.push_back(o);
      choose();
      chosen.pop_back();
    }
  };
  const auto by_likelihood = [](const LikelySizes& a, const LikelySizes& b) {
    return std::pair(a.against, a.inverted) < std::pair(b.against, b.inverted);
  };
  const auto search = [&] {
    all = true;
    choose();
    std::stable_sort(ways.begin(), ways.end(), by_likelihood);
    if (!ways.empty() && ways.front().against == 0) return;
    // Rows that indices and lengths name, and as many of these as there are, need no number, nor does what
    // never changes.
    constexpr std::size_t kMostLoose = 30;
    std::vector<LikelySizes> strict = std::exchange(ways, {});
    all = false;
    choose();
    std::stable_sort(ways.begin(), ways.end(), by_likelihood);
    if (ways.size() > kMostLoose) ways.resize(kMostLoose);
    ways.insert(ways.end(), strict.begin(), strict.end());
    std::stable_sort(ways.begin(), ways.end(), by_likelihood);
  };
  search();
  if (!ways.empty() && ways.front().against == 0) {
    // Behind the first of these, which say every size.
    constexpr std::size_t kFirst = 12, kMostOfChannels = 8;
    std::vector<LikelySizes> strict = std::exchange(ways, {});
    all = false;
    channels = calls.size() == 1 && unsure.size() > 1;
    if (channels) choose();
    std::erase_if(ways, [](const LikelySizes& each) { return each.against > 0 || each.inverted > 0; });
    if (ways.size() > kMostOfChannels) ways.resize(kMostOfChannels);
    strict.insert(strict.begin() + static_cast<std::ptrdiff_t>(std::min(strict.size(), kFirst)), ways.begin(),
                  ways.end());
    return strict;
  }
  std::vector<LikelySizes> shares = std::exchange(ways, {});
  options = options_of(extents, std::any_of(unsure.begin(), unsure.end(), of_parts));
  for (std::size_t e = 0; e < extents.list.size(); ++e) {
    said[e] = said[e] || is_product(extents.list[e].numbers, given);
    for (std::size_t o = 0; o < extents.list.size(); ++o)
      made[e][o] = is_made_of(extents.list[e].numbers, extents.list[o].numbers, given);
  }
  search();
  ways.insert(ways.end(), shares.begin(), shares.end());
  std::stable_sort(ways.begin(), ways.end(), by_likelihood);
  return ways;
}

}  // namespace isomer::lab
