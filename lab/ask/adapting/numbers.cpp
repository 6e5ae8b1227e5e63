#include "lab/ask/adapting/numbers.hpp"

#include "lab/ask/names/number_words.hpp"
#include "lab/ask/nearness.hpp"

#include <algorithm>
#include <set>

namespace isomer::lab {
namespace {

using What = Passing::What;

/// Every number that the tensors of a problem could mean, each value once.
std::vector<Passing> numbers_of(const Port& port, const Given& given) {
  std::vector<Passing> guesses;
  std::set<std::int64_t> values;
  for (std::size_t r = 0; r < port.roles.size(); ++r) {
    const Value& value = given.values[r];
    if (value.kind == Value::Kind::integer && values.insert(value.integer).second) {
      guesses.emplace_back();
      guesses.back().what = What::role;
      guesses.back().role = static_cast<int>(r);
    }
    if (!value.is_tensor()) continue;
    const auto add = [&](What what, int dim, std::int64_t number) {
      if (!values.insert(number).second) return;
      guesses.emplace_back();
      guesses.back().what = what;
      guesses.back().role = static_cast<int>(r);
      guesses.back().dim = dim;
    };
    for (int dim = 0; dim < value.tensor.rank; ++dim) add(What::size, dim, value.tensor.size(dim));
    add(What::elements, 0, value.tensor.numel());
    if (value.tensor.rank > 0 && value.tensor.size(-1) > 0)
      add(What::rows, 0, value.tensor.numel() / value.tensor.size(-1));
  }
  return guesses;
}

/// The steps of its tensors besides, in elements.
void add_strides(const Port& port, const Given& given, std::vector<Passing>& list) {
  std::set<std::int64_t> values;
  for (std::size_t r = 0; r < port.roles.size(); ++r) {
    const Value& value = given.values[r];
    for (int dim = 0; value.is_tensor() && dim < value.tensor.rank; ++dim) {
      if (!values.insert(value.tensor.stride(dim)).second) continue;
      list.emplace_back();
      list.back().what = Passing::What::stride;
      list.back().role = static_cast<int>(r);
      list.back().dim = dim;
    }
  }
}

Passing constant_number(double number) {
  Passing passing;
  passing.what = What::constant;
  passing.constant = number;
  return passing;
}

/// What a number may be that no name explains.
std::vector<Passing> may_be(const Parameter& p, const Port& port, const Given& given) {
  std::vector<Passing> list;
  if (is_tile_name(p.name)) {
    for (const int tile : {32, 16, 64, 128, 4}) list.push_back(constant_number(tile));
  } else if (is_code_name(p.name)) {
    for (const int code : {0, 1, 2}) list.push_back(constant_number(code));
  } else {
    list = numbers_of(port, given);
    if (p.name.ends_with("stride")) add_strides(port, given, list);
    for (const int number : {1, 0, 32}) list.push_back(constant_number(number));
  }
  return list;
}

}  // namespace

bool is_unsure_of_tiles_alone(const Guess& guess) {
  return !guess.unsure.empty() && std::all_of(guess.unsure.begin(), guess.unsure.end(), [&](int at) {
    const std::string& name = guess.form.entry->parameters[static_cast<std::size_t>(at)].name;
    return is_tile_name(name) || is_code_name(name);
  });
}

std::vector<Form> forms_of_numbers(const Guess& guess, const Given& given) {
  constexpr std::size_t kMostForms = 60;
  std::vector<Form> list = {guess.form};
  for (const int at : guess.unsure) {
    const auto i = static_cast<std::size_t>(at);
    std::vector<Form> more;
    for (const Passing& each : may_be(guess.form.entry->parameters[i], *guess.port, given))
      for (const Form& form : list) {
        if (more.size() == kMostForms) break;
        more.push_back(form);
        more.back().passings[i] = each;
      }
    list = std::move(more);
  }
  return list;
}

void try_numbers(const Candidate& candidate, const CallRequest& request, const std::vector<int>& unsure,
                 Called& called) {
  // Of two that are as wrong, the one whose answer has more to do with the op's.
  constexpr double kOfLikeness = 0.2;
  const auto worth_of = [&](const Trial& trial) {
    if (!trial.ok()) return worth(*called.given, trial);
    const bool right = share_right(*called.given, trial) > 0.99;
    const double like = right ? 1 : correlation(*called.given, trial);
    return worth(*called.given, trial) + kOfLikeness * std::max(0.0, like);
  };
  double best = worth_of(called.trial);
  // A wrong size may make a loop endless: each call gets little, and all of them together no more than a few.
  constexpr double kSecondsEach = 1, kSecondsLost = 8, kSecondsWorked = 2;
  CallSettings settings = request.settings;
  settings.timeout_seconds = std::min(settings.timeout_seconds, kSecondsEach);
  double lost = 0, worked = 0;
  const std::vector<Passing> guesses = numbers_of(*called.port, *called.given);
  // How many sizes keep to the memory of the tensors and fill the answer.
  const auto fits = [&](const Trial& trial) {
    return trial.ok() && !strays(trial) && !leaves_out(*called.given, trial);
  };
  std::size_t fitting = 0;
  const auto attempt = [&](const Form& form) {
    if (lost > kSecondsLost || worked > kSecondsWorked) return;
    Trial trial = try_call(candidate, form, *called.port, *called.given, settings);
    worked += trial.answer.worked_seconds;
    if (trial.answer.end == Answer::End::timed_out || trial.answer.end == Answer::End::too_large)
      lost += kSecondsEach;
    fitting += fits(trial);
    const double now = worth_of(trial);
    if (now <= best) return;
    best = now;
    called.form = form;
    called.trial = std::move(trial);
  };
  constexpr double kPerfect = 1.39 + kOfLikeness;
  for (std::size_t first = 0; first < unsure.size() && best < kPerfect; ++first) {
    const Form form = called.form;
    for (const Passing& guess : guesses) {
      Form one = form;
      one.passings[static_cast<std::size_t>(unsure[first])] = guess;
      attempt(one);
    }
    for (std::size_t second = first + 1; second < unsure.size() && best < kPerfect; ++second)
      for (const Passing& guess : guesses)
        for (const Passing& other : guesses) {
          if (best >= kPerfect) return;
          Form two = form;
          two.passings[static_cast<std::size_t>(unsure[first])] = guess;
          two.passings[static_cast<std::size_t>(unsure[second])] = other;
          attempt(two);
        }
  }
  // What no other size of the tensors fits needs no right answer to be known.
  if (unsure.size() == 1 && fitting == 1 && fits(called.trial)) called.unsure.clear();
}

}  // namespace isomer::lab
