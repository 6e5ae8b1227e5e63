#include "lab/audit/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace isomer::lab {
namespace {

/// What one output is called in the calls of the test, and whether any of these is looked at.
struct Output {
  std::string name;
  std::vector<std::string> variables;
  int line = 0;
  std::size_t calls = 0;
  bool observed = false;

  void add(const std::string& variable, bool seen, int at) {
    if (calls++ == 0) line = at;
    observed = observed || seen;
    if (!variable.empty() && variables.size() < 4 &&
        std::find(variables.begin(), variables.end(), variable) == variables.end())
      variables.push_back(variable);
  }
};

/// The outputs of one function of the label over all calls; nothing where some call cannot be read.
std::vector<Output> outputs_of(const LabelFunction& function, const Facts& facts) {
  std::vector<Output> outputs;
  const auto output = [&](const std::string& name) -> Output& {
    for (Output& each : outputs)
      if (each.name == name) return each;
    return outputs.emplace_back(Output{.name = name, .variables = {}});
  };
  for (const TestCall& call : facts.calls) {
    if (call.function != function.name) continue;
    if (call.open) return {};
    for (const std::string& written : function.writes)
      for (const Observed& argument : call.arguments)
        if (argument.name == written) output(written).add(argument.text, argument.observed, call.line);
    // A function that writes in place may hand its output on as well.
    if (function.returns == 0 || !function.writes.empty()) continue;
    for (int i = 0; i < function.returns; ++i) {
      const std::string name = function.returns == 1 ? "the result" : fmt::format("result {}", i);
      if (!call.returned)
        output(name).add("", true, call.line);
      else if (call.returned->size() == 1 && function.returns > 1)
        output(name).add(call.returned->front().name, call.returned->front().observed, call.line);
      else if (static_cast<std::size_t>(i) < call.returned->size())
        output(name).add((*call.returned)[static_cast<std::size_t>(i)].name,
                         (*call.returned)[static_cast<std::size_t>(i)].observed, call.line);
      else
        output(name).add("", false, call.line);
    }
  }
  return outputs;
}

/// An exception that says what the machine of the recording lacks: no fault of the test.
bool is_of_this_machine(const std::string& raised) {
  return raised.find("module 'torch' has no attribute") != std::string::npos ||
         raised.starts_with("ModuleNotFoundError") || raised.starts_with("ImportError");
}

}  // namespace

void audit_test_text(const CaseFolder& folder, const Recording& recording, const Facts& facts,
                     std::vector<Finding>& findings) {
  const auto finding = [&](Code code, int line) -> Finding& {
    Finding found;
    found.code = code;
    found.subject = Subject::test;
    found.location = {folder.test.string(), line};
    return findings.emplace_back(std::move(found));
  };
  if (!facts.observes && facts.idle.empty() && !facts.calls.empty()) {
    Finding& found = finding(Code::nothing_compared, facts.calls.front().line);
    found.evidence =
        fmt::format("{} makes {}, but does not assert, compare, print or return any of their values",
                    facts.test_file, calls_in_words(facts.calls.size()));
    found.fix = "compare every output with the label's, or return it to code that does";
  }
  if (!facts.calls.empty())
    for (const IdleCheck& check : facts.idle) {
      Finding& found = finding(Code::nothing_compared, check.line);
      found.evidence = fmt::format("{}: {}", check.text, check.why);
      found.fix = "make the test fail if the two differ";
    }
  std::set<std::string> functions;
  for (const TestCall& call : facts.calls) functions.insert(call.function);
  for (const std::string& name : functions) {
    const LabelFunction* function = facts.function(name);
    if (function == nullptr || !facts.observes) continue;
    for (const Output& output : outputs_of(*function, facts)) {
      if (output.observed || output.calls == 0) continue;
      Finding& found = finding(Code::output_not_compared, output.line);
      found.argument = output.name;
      found.evidence = fmt::format("{} of {} is an output, but in {} of {} it is not used{}{}", output.name,
                                   name, output.calls, calls_in_words(output.calls),
                                   output.variables.empty() ? "" : ": ", fmt::join(output.variables, ", "));
      found.fix = "return or compare it: a port that does not compute it passes this test";
    }
  }
  if (facts.draws > 0 && !facts.seeds) {
    Finding& found = finding(Code::unseeded, facts.draws);
    found.evidence =
        "inputs are drawn at random without a seed: a test that fails once may pass the next time";
    found.fix = "call torch.manual_seed before the first random input";
  }
  for (const RecordedCall& call : recording.calls) {
    if (call.raised.empty() || is_of_this_machine(call.raised)) continue;
    Finding& found = finding(Code::contradicts_label, line_of(call));
    found.evidence = fmt::format("{} refuses this call: {}", call.function, call.raised);
    found.fix = "call the label in a way that it accepts";
    break;
  }
}

}  // namespace isomer::lab
