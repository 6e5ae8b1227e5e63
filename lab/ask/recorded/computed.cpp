#include "lab/ask/names/alike.hpp"
#include "lab/ask/names/bare.hpp"
#include "lab/ask/passed_values.hpp"
#include "lab/ask/recorded/bound_parts.hpp"
#include "lab/ask/recorded/round_axis.hpp"
#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace isomer::lab {
namespace {

using What = Passing::What;

/// What a form passes to one parameter, call by call.
std::vector<std::int64_t> numbers_passed_to(const Form& form, std::size_t parameter,
                                            const std::vector<Replayed>& calls) {
  std::vector<std::int64_t> numbers;
  for (const Replayed& replayed : calls) numbers.push_back(passed(form, replayed.values)[parameter].integer);
  return numbers;
}

bool passes_size(const Passing& passing) {
  return passing.what == What::size || passing.what == What::rows || passing.what == What::inner ||
         passing.what == What::elements || passing.what == What::ratio;
}

/// The stride of a dimension that has these numbers in every call, of tensors that lie compact, whose strides
/// the label has not made anew; nothing: there is none. Of the tensor that was thought of first.
std::optional<Passing> stride_like(const Form& form, std::size_t parameter,
                                   const std::vector<Replayed>& calls,
                                   const std::vector<std::int64_t>& numbers) {
  const Passing given = form.passings[parameter];
  std::vector<int> roles = {given.role};
  for (std::size_t r = 0; r < calls.front().roles.size(); ++r)
    if (static_cast<int>(r) != given.role) roles.push_back(static_cast<int>(r));
  for (const int role : roles) {
    const Value& value = calls.front().values[static_cast<std::size_t>(role)];
    if (!form.takes(role) || !value.is_tensor() ||
        !std::all_of(calls.begin(), calls.end(), [&](const Replayed& call) {
          return call.values[static_cast<std::size_t>(role)].tensor.is_contiguous();
        }))
      continue;
    for (int dim = 0; dim < value.tensor.rank; ++dim) {
      Form other = form;
      other.passings[parameter] = given;
      other.passings[parameter].role = role;
      other.passings[parameter].dim = dim;
      for (Passing& each : other.passings)
        if (each.what == What::role && each.role == role) each.compact = false;
      if (numbers_passed_to(other, parameter, calls) == numbers) return other.passings[parameter];
    }
  }
  return std::nullopt;
}

/// Which side of an image or a box a name ends with: 0 the depth, 1 the height, 2 the width; −1: none.
int side_of(const std::string& name) {
  static const Pattern depth("(?:.*_)?(?:d|depth|z|t)|[ksp]d"), height("(?:.*_)?(?:h|height|y|rows?)|[ksp]h"),
      width("(?:.*_)?(?:w|width|x|cols?|columns?)|[ksp]w");
  const std::string lower = lower_case(name);
  return height.is(lower) ? 1 : width.is(lower) ? 2 : depth.is(lower) ? 0 : -1;
}

/// How many letters two names begin with alike.
std::size_t letters_alike(const std::string& a, const std::string& b) {
  std::size_t count = 0;
  while (count < std::min(a.size(), b.size()) && lower_case(a)[count] == lower_case(b)[count]) ++count;
  return count;
}

/// A list of sizes of the label's, `output_size[0]` and on, and where it lies among the values.
struct List {
  std::string name;
  std::size_t first, count;
};

std::vector<List> lists_of(const Replayed& call) {
  static const Pattern item("(\\w+)\\[(\\d)\\]");
  std::vector<List> lists;
  for (std::size_t v = call.roles.size(); v < call.values.size(); ++v)
    if (const std::optional<Match> match = item.whole(call.values[v].name)) {
      if ((*match)[2] == "0")
        lists.push_back({(*match)[1], v, 1});
      else if (!lists.empty() && lists.back().name == (*match)[1])
        ++lists.back().count;
    }
  return lists;
}

/// A stride of that role is passed no more: where none is, nothing carries them.
void without_stride(Form& form, int role) {
  const bool has_others = std::any_of(form.passings.begin(), form.passings.end(), [&](const Passing& each) {
    return (each.what == What::stride || each.what == What::strides) && each.role == role;
  });
  for (Passing& each : form.passings)
    if (each.what == What::role && each.role == role) each.compact = each.compact || !has_others;
}

/// Passes the items of the label's lists to parameters that stand beside each other for the sides of a box:
/// `pad_h, pad_w` is `padding`. Those that are left.
std::vector<int> take_items(Form& form, const Replayed& call, const std::vector<int>& unsure) {
  constexpr std::size_t kAlike = 3;  // letters
  const std::vector<Parameter>& parameters = form.entry->parameters;
  std::vector<int> left = unsure;
  const std::vector<List> lists = lists_of(call);
  // `stride_h` of a convolution is no stride of a tensor where the label takes `stride`.
  const auto may_be = [&](std::size_t p, const List& list) {
    return std::find(left.begin(), left.end(), static_cast<int>(p)) != left.end() ||
           (form.passings[p].what == What::stride &&
            lower_case(parameters[p].name).starts_with(lower_case(list.name)));
  };
  for (const List& list : lists) {
    std::vector<std::size_t> places;
    for (std::size_t p = 0; p + list.count <= std::min(parameters.size(), form.passings.size()); ++p) {
      bool sides = true;
      for (std::size_t i = 0; i < list.count; ++i)
        sides = sides && may_be(p + i, list) && side_of(parameters[p + i].name) >= 0 &&
                (i == 0 || side_of(parameters[p + i].name) != side_of(parameters[p].name));
      if (sides) places.push_back(p);
    }
    std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
      return letters_alike(parameters[a].name, list.name) > letters_alike(parameters[b].name, list.name);
    });
    const bool named = !places.empty() && letters_alike(parameters[places.front()].name, list.name) >= kAlike;
    if (places.empty() || (!named && (places.size() > 1 || lists.size() > 1))) continue;
    // In the order of the sides, whatever order the parameters have.
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < list.count; ++i) order.push_back(places.front() + i);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return side_of(parameters[a].name) < side_of(parameters[b].name);
    });
    for (std::size_t i = 0; i < list.count; ++i) {
      const int strided = form.passings[order[i]].what == What::stride ? form.passings[order[i]].role : -1;
      form.passings[order[i]] = of_place(list.first + i);
      std::erase(left, static_cast<int>(order[i]));
      if (strided >= 0) without_stride(form, strided);
    }
  }
  return left;
}

/// A factor that callers leave to the label, as `scale=None`, which it makes of its sizes.
void take_real(Form& form, const Replayed& call) {
  for (std::size_t p = 0; p < form.passings.size() && p < form.entry->parameters.size(); ++p) {
    const Parameter& parameter = form.entry->parameters[p];
    if (parameter.kind != Parameter::Kind::real || form.passings[p].what != What::constant) continue;
    std::size_t found = call.values.size();
    for (const bool whole : {false, true})
      for (std::size_t v = call.roles.size(); v < call.values.size(); ++v)
        if (call.values[v].kind == Value::Kind::real &&
            (whole ? call.values[v].name == parameter.name
                   : call.values[v].name.ends_with("scale") && parameter.name.ends_with("scale")))
          found = v;
    if (found < call.values.size()) form.passings[p] = of_place(found);
  }
}

/// Truth values that the label tells its kernels, to parameters of the same words: IS_HEADWISE_BETA is
/// beta_is_headwise. Those of `unsure` that are left.
std::vector<int> take_truths(Form& form, const Replayed& call, const std::vector<int>& unsure) {
  std::vector<int> left;
  for (const int each : unsure) {
    const auto p = static_cast<std::size_t>(each);
    const std::string& name = form.entry->parameters[p].name;
    std::vector<std::size_t> places, like;
    for (std::size_t v = call.roles.size(); v < call.values.size(); ++v) {
      if (call.values[v].kind != Value::Kind::boolean) continue;
      const std::string& own = call.values[v].name;
      if (bare(own) == bare(name) || are_of_the_same_words(own, name)) places.push_back(v);
      if (likeness_of_names(own, name) > 0) like.push_back(v);
    }
    // BACKWARD_PASS is `backward` where nothing else is.
    if (places.empty() && like.size() == 1 && !names_a_size(name)) places = like;
    if (places.empty())
      left.push_back(each);
    else
      form.passings[p] = of_place(places.front());
  }
  return left;
}

}  // namespace

std::vector<int> take_computed(Form& form, const std::vector<Replayed>& calls,
                               const std::vector<int>& unsure) {
  std::vector<int> left;
  const Replayed& first = calls.front();
  for (std::size_t p = 0; p < form.passings.size() && p < form.entry->parameters.size(); ++p) {
    const bool is_unsure = std::find(unsure.begin(), unsure.end(), static_cast<int>(p)) != unsure.end();
    std::size_t place = first.roles.size();
    while (place < first.values.size() && (first.values[place].kind != Value::Kind::integer ||
                                           first.values[place].name != form.entry->parameters[p].name))
      ++place;
    const bool stride = form.passings[p].what == What::stride;
    if (place == first.values.size() || (!passes_size(form.passings[p]) && !stride)) {
      if (is_unsure) left.push_back(static_cast<int>(p));
      continue;
    }
    Form other = form;
    other.passings[p] = of_place(place);
    const std::vector<std::int64_t> numbers = numbers_passed_to(other, p, calls);
    if (!is_unsure && numbers_passed_to(form, p, calls) == numbers) continue;
    if (!stride) {
      form.passings[p] = other.passings[p];
    } else if (const std::optional<Passing> like = stride_like(form, p, calls, numbers)) {
      form.passings[p] = *like;
      for (Passing& each : form.passings)
        if (each.what == What::role && each.role == like->role) each.compact = false;
    }
  }
  take_real(form, first);
  return take_items(form, first, take_sizes_round_axis(form, first, take_truths(form, first, left)));
}

}  // namespace isomer::lab
