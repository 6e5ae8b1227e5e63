#include "lab/ask/reading.hpp"

#include <isomer/error.hpp>
#include "lab/ask/callers_order.hpp"
#include "lab/ask/trial.hpp"
#include "lab/text/pattern.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <tuple>

namespace isomer::lab {
namespace {

constexpr std::size_t kAnswers = 2;
constexpr double kFar = 0.05;  ///< of a row's size: no rounding of a narrow type is as much

bool differs_in_axes(const Port& a, const Port& b) {
  for (std::size_t i = 0; i < a.roles.size() && i < b.roles.size(); ++i)
    if (a.original->parameters[i].axes != b.original->parameters[i].axes) return true;
  return false;
}

/// What the label left in, or returned for, an output; undefined where no answer is recorded.
Tensor answer_for(const Port& port, const RecordedCall& call, const std::string& argument) {
  int returned = 0;  // tensors that the label returns before
  for (std::size_t r = 0; r < port.roles.size(); ++r) {
    if (!port.roles[r].output || port.roles[r].argument != argument) {
      returned += port.roles[r].returned;
      continue;
    }
    if (port.roles[r].returned) {
      for (const Value& value : call.returned)
        if (value.is_tensor() && returned-- == 0) return port.by_contract(r, value.tensor);
      return {};
    }
    for (std::size_t i = 0; i < call.after.size() && i < call.before.size(); ++i) {
      const bool keyword = i < call.keyword.size() && call.keyword[i];
      const int role = keyword ? port.role_of(call.before[i].name) : static_cast<int>(i);
      if (role == static_cast<int>(r) && call.after[i].is_tensor())
        return port.by_contract(r, call.after[i].tensor);
    }
  }
  return {};
}

struct Fit {
  std::size_t lacking = 0;     ///< answered calls that pass what the original has no argument for
  std::size_t calls = 0;       ///< that the original can be called with
  std::size_t answered = 0;    ///< of these, with an answer
  std::size_t agree = 0;       ///< of these, with nearly the op's own
  std::size_t whole = 0;       ///< answered calls that returned as much as the original does
  std::string why_not;         ///< of the first such call
  std::set<std::string> used;  ///< fields of the features that some call uses
};

/// The arguments by role. An answered call that has others, or a tensor for a number, is told in `fit`.
std::vector<Value> given_to(const Port& port, const RecordedCall& call, Fit& fit) {
  const auto lacks = [&](const std::string& why) {
    const bool answered = call.raised.empty() && !call.after.empty();
    if (answered && fit.lacking++ == 0) fit.why_not = why;
  };
  std::vector<Value> values;
  try {
    values = port.by_role(call.before, call.keyword);
  } catch (const Error& error) {
    lacks(error.what());
    throw;
  }
  for (std::size_t i = 0; i < values.size() && i < port.roles.size(); ++i) {
    if (values[i].kind == Value::Kind::none || values[i].is_tensor() == port.roles[i].tensor) continue;
    lacks(fmt::format("{} is {}", port.roles[i].name, values[i].is_tensor() ? "a tensor" : "no tensor"));
    break;
  }
  return values;
}

/// Whether the answer is the op's, give or take what a narrow type rounds; nothing said of what is open.
bool agrees(const Given& given, const Port& port, const RecordedCall& call, bool& answered) {
  std::size_t looked = 0, far = 0;
  for (std::size_t t = 0; t < given.plain.tensors.size(); ++t) {
    const oracle::ExpectedTensor& want = given.plain.tensors[t];
    const Tensor got = answer_for(port, call, want.name);
    if (!got.defined()) continue;
    answered = true;
    if (got.numel() != static_cast<std::int64_t>(want.value.size())) return false;
    const std::vector<double> elements = oracle::elements(got);
    double squares = 0;
    std::size_t finite = 0;
    for (std::size_t i = 0; i < elements.size(); ++i)
      if (want.written[i] && std::isfinite(want.value[i])) {
        squares += want.value[i] * want.value[i];
        ++finite;
      }
    const double typical = finite == 0 ? 0 : std::sqrt(squares / static_cast<double>(finite));
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (!want.written[i] || given.open[t][i] || !std::isfinite(want.value[i])) continue;
      ++looked;
      const double away = std::fabs(elements[i] - want.value[i]);
      const double step = is_float(want.dtype) ? 0 : 1;  // whole numbers may be rounded otherwise
      far += !(away <= kFar * (typical + std::fabs(want.value[i])) + step);
    }
  }
  return 10 * far <= looked;
}

Fit fit_of(const Port& port, const Recording& recording) {
  Fit fit;
  for (const RecordedCall& call : recording.calls) {
    try {
      const std::vector<Value> values = given_to(port, call, fit);
      DType made = DType::none;
      for (const Value& value : call.returned)
        if (value.is_tensor() && made == DType::none) made = value.tensor.dtype;
      // What an index tensor says wrongly makes no other operation of it.
      const std::shared_ptr<const oracle::Problem> problem = port.problem(values, made, false);
      ++fit.calls;
      for (const oracle::Original::Feature& feature : port.original->features)
        if (feature.used(problem->call())) fit.used.insert(feature.field);
      const auto tensors = std::count_if(call.returned.begin(), call.returned.end(),
                                         [](const Value& value) { return value.is_tensor(); });
      const auto returns = std::count_if(port.roles.begin(), port.roles.end(),
                                         [](const Port::Role& role) { return role.returned; });
      fit.whole += call.raised.empty() && !call.after.empty() && tensors == returns;
      // The reference is slow: a few answers tell one operation from another.
      if (!call.raised.empty() || call.after.empty() || fit.answered >= kAnswers) continue;
      const std::shared_ptr<Given> given = given_by_values(port, "", values, made);
      bool answered = false;
      const bool as_the_op = agrees(*given, port, call, answered);
      fit.answered += answered;
      fit.agree += answered && as_the_op;
    } catch (const Error&) {  // no call of the op, whatever it is
    }
  }
  return fit;
}

/// How often four names in a row are those of the original's axes: "B, H, S, D = q.shape", "[B, H, S, D]".
std::size_t mentions(const Port& port, const std::vector<std::string>& texts) {
  const std::vector<std::string>& words = port.original->axis_words;
  if (words.size() != 4) return 0;
  static const Pattern four(
      "([A-Za-z_]\\w*)\\s*,\\s*([A-Za-z_]\\w*)\\s*,\\s*([A-Za-z_]\\w*)\\s*,\\s*([A-Za-z_]\\w*)\\s*(\\]|\\)|=["
      "^=]|,\\s*d)");
  std::vector<Pattern> axes;
  for (const std::string& each : words) axes.emplace_back(each, Pattern::Letters::of_any_case);
  std::size_t count = 0;
  for (const std::string& text : texts)
    for (const Match& match : four.all(text)) {
      bool all = true;
      for (std::size_t i = 0; i < 4 && all; ++i) all = axes[i].is(match[i + 1]);
      count += all;
    }
  return count;
}

/// The port with probes that leave out what no recorded call uses.
void narrow(const Port*& port, const Fit& fit, Reading& reading) {
  std::vector<Pattern> unused;
  for (const oracle::Original::Feature& feature : port->original->features)
    if (fit.used.count(feature.field) == 0) unused.emplace_back("(^|\\s)" + feature.field + "=(\\S*)");
  if (unused.empty()) return;
  auto original = std::make_shared<oracle::Original>(*port->original);
  for (std::vector<std::string>* lines : original->all_lines()) {
    std::vector<std::string> kept;
    for (const std::string& line : *lines) {
      // A line that varies the field itself ends with it.
      std::string text = line;
      bool varied = false;
      for (const Pattern& field : unused) {
        const std::optional<Match> match = field.find(text);
        varied = varied || (match && (*match)[2].empty());
        text = field.replaced(text, "");
      }
      if (!varied && std::find(kept.begin(), kept.end(), text) == kept.end()) kept.push_back(text);
    }
    *lines = std::move(kept);
  }
  auto narrowed = std::make_shared<Port>(*port);
  narrowed->original = original.get();
  port = narrowed.get();
  reading.narrowed.push_back(std::move(original));
  reading.owned.push_back(std::move(narrowed));
}

}  // namespace

Reading reading_of(const std::string& op, const Recording* recording, const std::vector<std::string>& texts) {
  Reading reading;
  struct Choice {
    const Port* port;
    Fit fit;
    std::size_t said;
  };
  std::vector<Choice> choices;
  for (const Port& port : ports()) {
    if (port.op != op) continue;
    choices.push_back(
        {&port, recording != nullptr ? fit_of(port, *recording) : Fit(), mentions(port, texts)});
    if (recording == nullptr || choices.back().fit.calls > 0) continue;
    const OwnedPort turned = in_callers_order(port, *recording);
    if (turned.port == nullptr) continue;
    choices.push_back({turned.port.get(), fit_of(*turned.port, *recording), mentions(port, texts)});
    reading.narrowed.push_back(turned.original);
    reading.owned.push_back(turned.port);
  }
  if (choices.empty()) return reading;
  std::stable_sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) {
    return std::tuple(a.fit.agree, a.fit.calls, a.fit.whole, a.said) >
           std::tuple(b.fit.agree, b.fit.calls, b.fit.whole, b.said);
  });
  const Choice& best = choices.front();
  for (const Choice& choice : choices)
    if (!differs_in_axes(*choice.port, *best.port)) reading.ports.push_back(choice.port);
  if (recording == nullptr || recording->calls.empty()) return reading;
  if (best.fit.calls > 0)
    for (const Port*& port : reading.ports) narrow(port, best.fit, reading);
  reading.answered = best.fit.lacking == 0 && best.fit.calls == recording->calls.size() &&
                     best.fit.answered > 0 && best.fit.agree == best.fit.answered;
  if (best.fit.lacking > 0)
    reading.another = best.fit.why_not;
  else if (best.fit.answered > 0 && best.fit.agree == 0)
    reading.another = fmt::format("none of the {} recorded answers is the op's", best.fit.answered);
  else if (best.fit.calls == 0 &&
           std::any_of(recording->calls.begin(), recording->calls.end(),
                       [](const RecordedCall& call) { return call.raised.empty() && !call.after.empty(); }))
    reading.another = "no recorded call has arguments of the op's shapes";
  return reading;
}

std::string op_of_answers(const Recording& recording) {
  std::set<std::string> asked;
  for (const Port& port : ports())
    if (asked.insert(port.op).second && reading_of(port.op, &recording, {}).answered) return port.op;
  return {};
}

}  // namespace isomer::lab
