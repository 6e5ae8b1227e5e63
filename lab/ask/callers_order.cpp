#include "lab/ask/callers_order.hpp"

#include <algorithm>
#include <utility>

namespace isomer::lab {
namespace {

using oracle::Original;

/// The roles of a call's arguments in their order; empty where a name is no role's, or two are one's.
std::vector<std::size_t> roles_of(const Port& port, const RecordedCall& call) {
  std::vector<std::size_t> roles;
  for (std::size_t i = 0; i < call.before.size(); ++i) {
    if (i < call.keyword.size() && call.keyword[i]) continue;
    const Value& value = call.before[i];
    const int role = value.name.empty() ? -1 : port.role_of(value.name);
    if (role < 0 || role >= port.inputs()) return {};
    const auto at = static_cast<std::size_t>(role);
    if (value.is_tensor() != port.roles[at].tensor && value.kind != Value::Kind::none) return {};
    if (std::find(roles.begin(), roles.end(), at) != roles.end()) return {};
    roles.push_back(at);
  }
  return roles;
}

}  // namespace

OwnedPort in_callers_order(const Port& port, const Recording& recording) {
  std::vector<std::size_t> order;
  for (const RecordedCall& call : recording.calls) {
    const std::vector<std::size_t> roles = roles_of(port, call);
    if (roles.size() > order.size()) order = roles;
  }
  for (std::size_t role = 0; role < port.roles.size(); ++role)
    if (std::find(order.begin(), order.end(), role) == order.end()) order.push_back(role);
  if (std::is_sorted(order.begin(), order.end())) return {};

  auto original = std::make_shared<Original>(*port.original);
  auto turned = std::make_shared<Port>(port);
  for (std::size_t i = 0; i < order.size(); ++i) {
    original->parameters[i] = port.original->parameters[order[i]];
    turned->roles[i] = port.roles[order[i]];
  }
  original->bind = [order, own = port.original->bind](oracle::Problem& problem,
                                                      const std::vector<Tensor>& tensors,
                                                      const std::vector<double>& numbers, DType made) {
    std::vector<Tensor> own_tensors(order.size());
    std::vector<double> own_numbers(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      own_tensors[order[i]] = tensors.at(i);
      own_numbers[order[i]] = numbers.at(i);
    }
    own(problem, own_tensors, own_numbers, made);
  };
  turned->original = original.get();
  return {original, turned};
}

}  // namespace isomer::lab
