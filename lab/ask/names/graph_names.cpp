#include "lab/ask/names/graph_names.hpp"

#include "lab/ask/names/stride_names.hpp"
#include "lab/text/pattern.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace isomer::lab {
namespace {

const Pattern& number() {
  static const Pattern pattern("n([eb])([0-3])?([0-3])");
  return pattern;
}

/// The dimensions of a role from the innermost on, as graphs have them; each counts from the last.
std::vector<int> from_innermost(const Port& port, int role) {
  std::vector<std::string> words = shape_words(port, role);
  // Sizes without a name: in the order of another tensor with as many.
  for (int other = 0; other < static_cast<int>(port.roles.size()) && !words.empty() && words[0] == "_";
       ++other)
    if (port.roles[static_cast<std::size_t>(other)].tensor && shape_words(port, other).size() == words.size())
      words = shape_words(port, other);
  std::vector<int> order;
  for (int dim = -1; dim >= -static_cast<int>(words.size()); --dim) order.push_back(dim);
  if (words.size() >= 3 && words[words.size() - 2].starts_with('H') &&
      words[words.size() - 3].starts_with('S'))
    std::swap(order[1], order[2]);
  return order;
}

/// The role of a source by its number among the inputs, in the order of the parameters, or of the result.
int role_of_node(const Port& port, const std::vector<int>& role_at, std::optional<std::size_t> source) {
  std::size_t inputs = 0;
  for (const int role : role_at) {
    if (role < 0 || !port.roles[static_cast<std::size_t>(role)].tensor) continue;
    if (port.roles[static_cast<std::size_t>(role)].output) {
      if (!source) return role;
    } else if (inputs++ == source) {
      return role;
    }
  }
  return -1;
}

}  // namespace

bool has_numbers_of_graph(const Entry& entry) {
  // One alone is a count of something.
  return std::count_if(entry.parameters.begin(), entry.parameters.end(), [](const Parameter& each) {
           return each.kind == Parameter::Kind::integer && number().is(each.name);
         }) >= 3;
}

bool number_of_graph(const Entry& entry, const Port& port, const Parameter& p,
                     const std::vector<int>& role_at, Passing& passing) {
  const std::optional<Match> match = number().whole(p.name);
  if (!match || p.kind != Parameter::Kind::integer || !has_numbers_of_graph(entry)) return false;
  const bool of_source = match->has(2) && !(*match)[2].empty();
  const auto source = of_source ? std::optional<std::size_t>((*match)[2][0] - '0') : std::nullopt;
  const int role = role_of_node(port, role_at, source);
  if (role < 0) return false;
  const std::vector<int> order = from_innermost(port, role);
  const auto at = static_cast<std::size_t>((*match)[3][0] - '0');
  const bool bytes = (*match)[1] == "b";
  if (at >= order.size()) {  // no such dimension: of size 1
    passing.what = Passing::What::constant;
    passing.constant = bytes ? 0 : 1;
    return true;
  }
  passing.what = bytes ? Passing::What::stride : Passing::What::size;
  passing.role = role;
  passing.dim = order[at];
  passing.bytes = bytes;
  return true;
}

}  // namespace isomer::lab
