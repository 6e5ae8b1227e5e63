#include "diagnose/fake_candidate.hpp"

#include "core/sentence.hpp"

#include <isomer/error.hpp>

#include <cstring>

namespace isomer::lab {

FakeCandidate::FakeCandidate(const Port& port, std::vector<std::string> variations)
    : port_(port), variations_(std::move(variations)), path_("fake.hip.cpp") {
  Entry entry;
  entry.form = Entry::Form::extension;
  entry.name = entry.function = port.functions.front();
  for (const oracle::Original::Parameter& parameter : port.original->parameters) {
    if (parameter.returned) {
      entry.returned_tensors = 1;
      continue;
    }
    Parameter p;
    using Kind = oracle::Original::Kind;
    p.kind = parameter.kind == Kind::tensor    ? Parameter::Kind::tensor
             : parameter.kind == Kind::integer ? Parameter::Kind::integer
             : parameter.kind == Kind::real    ? Parameter::Kind::real
                                               : Parameter::Kind::boolean;
    p.name = parameter.name;
    entry.parameters.push_back(p);
  }
  entries_ = {entry};
}

Answer FakeCandidate::call(const Entry&, const std::vector<Value>& arguments,
                           const CallSettings& settings) const {
  ++calls;
  Answer answer;
  for (const Value& argument : arguments) answer.arguments.push_back(deep_copy(argument));
  for (std::size_t i = 0; i < wants.size() && i < arguments.size(); ++i)
    if (wants[i] != DType::none && arguments[i].is_tensor() && arguments[i].tensor.dtype != wants[i]) {
      answer.end = Answer::End::refused;
      answer.message = core::say(entries_[0].parameters[i].name, " must be ", name_of(wants[i]));
      return answer;
    }
  for (std::size_t i = 0; i < ranks.size() && i < arguments.size(); ++i)
    if (ranks[i] >= 0 && arguments[i].is_tensor() && arguments[i].tensor.rank != ranks[i]) {
      answer.end = Answer::End::refused;
      answer.message = core::say(entries_[0].parameters[i].name, " must have ", ranks[i], " dimensions");
      return answer;
    }
  try {
    const std::shared_ptr<oracle::Problem> problem = port_.problem(answer.arguments);
    for (std::size_t i = 0; i < port_.roles.size(); ++i)
      if (port_.roles[i].returned) {
        const core::Call& made = problem->call();
        const Tensor& tensor = made.tensor(made.contract->index_of(port_.roles[i].argument));
        std::memset(
            tensor.data, settings.poison,
            static_cast<std::size_t>(tensor.numel()) * static_cast<std::size_t>(size_of(tensor.dtype)));
      }
    oracle::run_reference(*port_.oracle, problem->call(), variations_);
    const std::vector<Value> after = port_.values(*problem);
    for (std::size_t i = 0; i < port_.roles.size(); ++i)
      if (port_.roles[i].returned) answer.returned.push_back(after[i]);
  } catch (const Error& error) {
    answer.end = Answer::End::refused;
    answer.message = error.what();
  }
  return answer;
}

}  // namespace isomer::lab
