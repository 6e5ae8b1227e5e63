#include "lab/ask/names/alike.hpp"
#include "lab/ask/passed_values.hpp"
#include "lab/ask/recorded/binding.hpp"
#include "lab/ask/recorded/label_sizes.hpp"
#include "lab/ask/recorded/tried_sizes.hpp"
#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::lab {
namespace {

using What = Passing::What;

/// A whole number that the label or the test has under a name, and how it is passed.
struct NamedNumber {
  std::string name;
  Passing passing;
};

/// Those that the label computes in every call.
std::vector<NamedNumber> of_label(const Replayed& call) {
  std::vector<NamedNumber> list;
  for (std::size_t v = call.roles.size(); v < call.values.size(); ++v) {
    const Value& value = call.values[v];
    if (value.kind != Value::Kind::integer || value.name.find_first_of(" [") != std::string::npos) continue;
    NamedNumber number;
    number.name = value.name;
    number.passing.what = What::computed;
    number.passing.computed = static_cast<int>(v);
    list.push_back(std::move(number));
  }
  return list;
}

const Value* around(const Replayed& call, const std::string& name) {
  for (const Value& value : call.call->around)
    if (value.name == name && value.kind == Value::Kind::integer) return &value;
  return nullptr;
}

/// The dimension that has a number of the test's in each of its calls.
void add_of_test(const std::vector<Replayed>& calls, const std::string& name,
                 std::vector<NamedNumber>& list) {
  const Replayed& first = calls.front();
  for (std::size_t role = 0; role < first.roles.size(); ++role) {
    if (!first.values[role].is_tensor()) continue;
    for (int dim = 0; dim < first.values[role].tensor.rank; ++dim) {
      const bool same = std::all_of(calls.begin(), calls.end(), [&](const Replayed& call) {
        const Value* number = around(call, name);
        const Tensor& tensor = call.values[role].tensor;
        return number != nullptr && dim < tensor.rank && tensor.size(dim) == number->integer;
      });
      if (!same) continue;
      NamedNumber number;
      number.name = name;
      number.passing.what = What::size;
      number.passing.role = static_cast<int>(role);
      number.passing.dim = dim;
      list.push_back(std::move(number));
      return;
    }
  }
}

std::vector<NamedNumber> named_numbers(const std::vector<Replayed>& calls) {
  std::vector<NamedNumber> list = of_label(calls.front());
  for (const Value& value : calls.front().call->around)
    if (value.kind == Value::Kind::integer &&
        std::none_of(list.begin(), list.end(),
                     [&](const NamedNumber& each) { return each.name == value.name; }))
      add_of_test(calls, value.name, list);
  return list;
}

/// The words of a name, without those that only say that it counts.
std::vector<std::string> words_of(const std::string& name) {
  constexpr std::array<std::string_view, 8> kCounts = {"num",    "n",  "nr",    "no",
                                                       "number", "of", "count", "total"};
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool begins = std::isupper(static_cast<unsigned char>(name[i])) && i > 0 &&
                        std::islower(static_cast<unsigned char>(name[i - 1]));
    if ((name[i] == '_' || begins) && !words.back().empty()) words.emplace_back();
    if (name[i] != '_') words.back() += name[i];
  }
  std::vector<std::string> left;
  for (const std::string& word : words)
    if (!word.empty() && std::find(kCounts.begin(), kCounts.end(), lower_case(word)) == kCounts.end())
      left.push_back(lower_case(word));
  return left;
}

constexpr int kUsual = 3;  ///< of likeness_of: both are usual for one size

/// How surely one name means what the other does: 0 not at all.
int likeness_of(const std::string& parameter, const std::string& name) {
  if (lower_case(parameter) == lower_case(name) || (counts_choices(parameter) && counts_choices(name)))
    return 4;
  if (name_one_size(parameter, name) || are_of_the_same_words(parameter, name)) return kUsual;
  if (name.size() != 1) return 0;
  const std::vector<std::string> words = words_of(parameter);
  const std::string letter = lower_case(name);
  // `h_feature` of H, `num_` of N.
  if (words.empty()) return letter == "n" ? 2 : 0;
  if (words.size() > 1 && words.front() == letter) return 2;
  if (!words.empty() && words.front().size() > 1 && words.front().starts_with(letter)) return 2;
  for (const std::string& word : words)
    if (word.size() > 1 && word.starts_with(letter)) return 1;
  return 0;
}

std::vector<std::int64_t> numbers_given(const Form& form, std::size_t parameter,
                                        const std::vector<Replayed>& calls) {
  std::vector<std::int64_t> numbers;
  for (const Replayed& call : calls) numbers.push_back(passed(form, call.values)[parameter].integer);
  return numbers;
}

/// `planes`, of the first tensor of four dimensions.
void take_planes(Form& form, const std::vector<Replayed>& calls, const std::vector<int>& unsure,
                 std::vector<int>& taken) {
  static const Pattern planes("(?:n_?|num_?)?(?:planes?|nc|bc|n_c|b_c|images_channels|batch_channels)");
  for (const int each : unsure) {
    if (!planes.is(lower_case(form.entry->parameters[static_cast<std::size_t>(each)].name)) ||
        std::find(taken.begin(), taken.end(), each) != taken.end())
      continue;
    for (std::size_t role = 0; role < calls.front().call->before.size(); ++role) {
      if (!std::all_of(calls.begin(), calls.end(), [&](const Replayed& call) {
            return call.values[role].is_tensor() && call.values[role].tensor.rank == 4;
          }))
        continue;
      form.passings[static_cast<std::size_t>(each)] = planes_of(static_cast<int>(role));
      taken.push_back(each);
      break;
    }
  }
}

/// `half_h_mask` of `h_mask`: of the sizes the one that is half of it in every call, whichever way it is
/// rounded.
void take_halves(Form& form, const std::vector<Replayed>& calls, const std::vector<int>& unsure,
                 std::vector<int>& taken) {
  const std::vector<Parameter>& parameters = form.entry->parameters;
  for (const int half : unsure) {
    const auto at = static_cast<std::size_t>(half);
    std::vector<std::string> words = words_of_name(parameters[at].name);
    if (std::find(taken.begin(), taken.end(), half) != taken.end() || std::erase(words, "half") == 0 ||
        words.empty())
      continue;
    for (std::size_t p = 0; p < std::min(parameters.size(), form.passings.size()); ++p) {
      const int own = static_cast<int>(p);
      const bool open = std::find(unsure.begin(), unsure.end(), own) != unsure.end() &&
                        std::find(taken.begin(), taken.end(), own) == taken.end();
      if (p == at || open || form.passings[p].what == What::none ||
          words_of_name(parameters[p].name) != words)
        continue;
      const std::vector<std::int64_t> whole = numbers_given(form, p, calls);
      for (const Passing& option : sizes_of_calls(calls)) {
        Form other = form;
        other.passings[at] = option;
        const std::vector<std::int64_t> numbers = numbers_given(other, at, calls);
        bool down = true, up = true;
        for (std::size_t i = 0; i < whole.size(); ++i) {
          down = down && numbers[i] == whole[i] / 2;
          up = up && numbers[i] == (whole[i] + 1) / 2;
        }
        if (!down && !up) continue;
        form = std::move(other);
        taken.push_back(half);
        break;
      }
      break;
    }
  }
}

}  // namespace

std::vector<int> take_initials(Form& form, const std::vector<Replayed>& calls,
                               const std::vector<int>& unsure) {
  std::vector<int> taken;
  if (calls.empty() || unsure.empty()) return taken;
  std::vector<NamedNumber> numbers = named_numbers(calls);
  const std::vector<Parameter>& parameters = form.entry->parameters;
  const auto name_of = [&](int p) -> const std::string& {
    return parameters[static_cast<std::size_t>(p)].name;
  };
  // What another parameter is called is that one's.
  std::erase_if(numbers, [&](const NamedNumber& number) {
    for (std::size_t p = 0; p < parameters.size(); ++p)
      if (parameters[p].kind == Parameter::Kind::integer &&
          likeness_of(parameters[p].name, number.name) >= kUsual &&
          std::find(unsure.begin(), unsure.end(), static_cast<int>(p)) == unsure.end())
        return true;
    return false;
  });
  for (const int least : {4, 3, 2, 1})
    for (const int p : unsure) {
      if (std::find(taken.begin(), taken.end(), p) != taken.end()) continue;
      const auto fits = [&](const std::string& parameter, const NamedNumber& number) {
        return likeness_of(parameter, number.name) >= least;
      };
      std::vector<std::size_t> found;
      for (std::size_t i = 0; i < numbers.size(); ++i)
        if (fits(name_of(p), numbers[i])) found.push_back(i);
      if (found.size() != 1) continue;
      const bool wanted = std::any_of(unsure.begin(), unsure.end(), [&](int other) {
        return other != p && std::find(taken.begin(), taken.end(), other) == taken.end() &&
               fits(name_of(other), numbers[found.front()]);
      });
      if (wanted) continue;
      form.passings[static_cast<std::size_t>(p)] = numbers[found.front()].passing;
      numbers.erase(numbers.begin() + static_cast<std::ptrdiff_t>(found.front()));
      taken.push_back(p);
    }
  take_planes(form, calls, unsure, taken);
  take_halves(form, calls, unsure, taken);
  return taken;
}

}  // namespace isomer::lab
