#include "lab/ask/recorded/own_tensors.hpp"

#include "lab/ask/names/alike.hpp"
#include "lab/ask/names/bare.hpp"
#include "oracle/expected.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace isomer::lab {
namespace {

using What = Passing::What;

constexpr double kSameName = 100;

bool is_whole(DType dtype) { return !is_float(dtype) && dtype != DType::none; }

/// Whether a tensor can be passed to a pointer to `element`, each number as it is.
bool fits(const Value& value, DType element) {
  if (!value.is_tensor()) return false;
  if (element == DType::none || element == value.tensor.dtype) return true;
  if (!is_whole(element) || !is_whole(value.tensor.dtype) || value.boolean) return false;
  if (element == DType::i64) return true;
  const std::vector<double> numbers = oracle::elements(value.tensor);
  return element == DType::i32 && std::all_of(numbers.begin(), numbers.end(), [](double each) {
           return each >= std::numeric_limits<std::int32_t>::min() &&
                  each <= std::numeric_limits<std::int32_t>::max();
         });
}

/// Where such a tensor lies among the values of each call; 0: there is none.
std::size_t place_of(const Parameter& parameter, const std::vector<Replayed>& calls) {
  if (parameter.kind != Parameter::Kind::pointer || parameter.name.empty()) return 0;
  const Replayed& first = calls.front();
  const auto likeness = [&](std::size_t v) {
    return bare(first.values[v].name) == bare(parameter.name)
               ? kSameName
               : likeness_of_tensors(parameter.name, first.values[v].name);
  };
  double best = 0;
  std::size_t count = 0;
  for (std::size_t v = first.roles.size(); v < first.values.size(); ++v) {
    if (likeness(v) < best || likeness(v) == 0) continue;
    count = likeness(v) > best ? 1 : count + 1;
    best = likeness(v);
  }
  if (best < kSameName && (count != 1 || !parameter.is_const)) return 0;
  for (std::size_t v = first.roles.size(); v < first.values.size(); ++v) {
    if (likeness(v) != best) continue;
    bool all = true, any = false;
    for (const Replayed& each : calls) {
      if (v >= each.values.size() || each.values[v].name != first.values[v].name) return 0;
      const bool absent = each.values[v].kind == Value::Kind::none;
      all = all && (absent || fits(each.values[v], parameter.element));
      any = any || !absent;
    }
    if (all && any) return v;
  }
  return 0;
}

/// Whether a call writes to room that is lent to it for one parameter.
bool writes(const Approach& approach, std::size_t parameter, const Replayed& call) {
  for (const bool zeros : {false, true}) {
    Approach lent = approach;
    lent.form.passings[parameter] = Passing();
    lent.form.passings[parameter].what = What::room;
    lent.form.passings[parameter].zeros = zeros;
    const Answer answer = replay_once(lent, call).answer;
    if (!answer.ok() || parameter >= answer.arguments.size()) continue;
    const Value& room = answer.arguments[parameter];
    const auto* bytes = static_cast<const std::uint8_t*>(room.storage.get());
    const std::uint8_t fill = zeros ? 0 : lent.form.lent;
    if (std::any_of(bytes, bytes + room.storage_bytes, [&](std::uint8_t each) { return each != fill; }))
      return true;
  }
  return false;
}

}  // namespace

void take_own_tensors(Form& form, const std::vector<Replayed>& calls) {
  for (std::size_t p = 0; p < std::min(form.passings.size(), form.entry->parameters.size()); ++p) {
    const Parameter& parameter = form.entry->parameters[p];
    if (form.passings[p].what != What::none || parameter.has_default) continue;
    const std::size_t place = place_of(parameter, calls);
    if (place == 0) continue;
    Passing& passing = form.passings[p];
    passing.what = What::computed;
    passing.computed = static_cast<int>(place);
    passing.compact = true;
    passing.cast = parameter.element;
  }
}

std::vector<std::size_t> passed_own_tensors(const Form& form, const Replayed& call) {
  std::vector<std::size_t> list;
  for (std::size_t p = 0; p < form.passings.size(); ++p) {
    const auto place = static_cast<std::size_t>(std::max(form.passings[p].computed, 0));
    if (form.passings[p].what == What::computed && place < call.values.size() &&
        call.values[place].is_tensor())
      list.push_back(p);
  }
  return list;
}

bool has_own_tensors(const Form& form, const Replayed& call) {
  return std::all_of(form.passings.begin(), form.passings.end(), [&](const Passing& each) {
    const auto place = static_cast<std::size_t>(std::max(each.computed, 0));
    return each.what != What::computed || place >= call.values.size() ||
           call.values[place].kind != Value::Kind::none;
  });
}

void keep_those_with_own_tensors(const Form& form, std::vector<Replayed>& calls) {
  std::erase_if(calls, [&](const Replayed& each) { return !has_own_tensors(form, each); });
}

std::vector<int> own_by_name(const Form& form, const std::vector<Replayed>& calls) {
  std::vector<int> list;
  const std::vector<Port::Role>& roles = calls.front().roles;
  for (std::size_t p = 0; p < std::min(form.passings.size(), form.entry->parameters.size()); ++p) {
    const Parameter& parameter = form.entry->parameters[p];
    const Passing& passing = form.passings[p];
    if (passing.what != What::role) continue;
    const Port::Role& role = roles[static_cast<std::size_t>(passing.role)];
    if (!role.output && bare(role.name) != bare(parameter.name) && place_of(parameter, calls) > 0)
      list.push_back(static_cast<int>(p));
  }
  return list;
}

std::vector<Form> with_own_left(const Form& form, const std::vector<Replayed>& calls) {
  constexpr std::size_t kMostPlaces = 2, kMostWays = 6;
  const Replayed& first = calls.front();
  std::vector<std::size_t> places, values;
  for (std::size_t p = 0; p < std::min(form.passings.size(), form.entry->parameters.size()); ++p) {
    const Parameter& parameter = form.entry->parameters[p];
    if (form.passings[p].what == What::none && parameter.kind == Parameter::Kind::pointer &&
        parameter.is_const && !parameter.has_default)
      places.push_back(p);
  }
  for (std::size_t v = first.roles.size(); v < first.values.size(); ++v)
    if (first.values[v].is_tensor() &&
        std::none_of(form.passings.begin(), form.passings.end(), [&](const Passing& each) {
          return each.what == What::computed && each.computed == static_cast<int>(v);
        }))
      values.push_back(v);
  std::vector<Form> forms = {form};
  if (places.size() > kMostPlaces) return {};
  for (const std::size_t p : places) {
    std::vector<Form> more;
    for (const Form& each : forms)
      for (const std::size_t v : values) {
        const bool used =
            std::any_of(each.passings.begin(), each.passings.end(), [&](const Passing& passing) {
              return passing.what == What::computed && passing.computed == static_cast<int>(v);
            });
        if (used || !fits(first.values[v], form.entry->parameters[p].element)) continue;
        more.push_back(each);
        Passing& passing = more.back().passings[p];
        passing.what = What::computed;
        passing.computed = static_cast<int>(v);
        passing.compact = true;
        passing.cast = form.entry->parameters[p].element;
      }
    forms = std::move(more);
  }
  if (places.empty()) return {};
  if (forms.size() > kMostWays) forms.resize(kMostWays);
  return forms;
}

void lend_what_is_written(Approach& approach, const std::vector<Replayed>& calls) {
  for (const std::size_t p : passed_own_tensors(approach.form, calls.front()))
    if (!approach.form.entry->parameters[p].is_const && writes(approach, p, calls.front())) {
      approach.form.passings[p] = Passing();
      approach.form.passings[p].what = What::room;
    }
}

}  // namespace isomer::lab
