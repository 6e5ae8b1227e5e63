#include "lab/check/coverage.hpp"

#include "core/sentence.hpp"

#include <algorithm>
#include <set>

namespace isomer::lab {
namespace {

/// The value of a dtype or choice field of a case.
std::string value_of(const oracle::Case& c, const oracle::Field& field) {
  return field.kind == oracle::Field::Kind::dtype ? std::string(name_of(c.dtype(field.name)))
                                                  : c.choice(field.name);
}

Coverage::Op cover(const oracle::Oracle& oracle, const std::vector<oracle::Case>& cases) {
  Coverage::Op op;
  op.op = oracle.contract->op;
  for (const oracle::Field& field : oracle.schema->fields) {
    if (field.kind != oracle::Field::Kind::dtype && field.kind != oracle::Field::Kind::choice) continue;
    Coverage::Axis axis{field.name, {}};
    for (const std::string& value : field.choices) {
      const auto hits = std::count_if(cases.begin(), cases.end(),
                                      [&](const oracle::Case& c) { return value_of(c, field) == value; });
      axis.cells.emplace_back(value, static_cast<int>(hits));
    }
    op.axes.push_back(std::move(axis));
  }
  if (!oracle.features) return op;
  // Every feature that the op's own list knows, seen here or not.
  std::vector<std::string> names;
  for (const oracle::Case& c : oracle.cases())
    for (const std::string& feature : oracle.features(c))
      if (std::find(names.begin(), names.end(), feature) == names.end()) names.push_back(feature);
  std::sort(names.begin(), names.end());
  std::vector<std::set<std::string>> sets;
  for (const oracle::Case& c : cases) {
    const auto list = oracle.features(c);
    sets.emplace_back(list.begin(), list.end());
  }
  const auto hits = [&](const std::string& a, const std::string& b) {
    return static_cast<int>(std::count_if(sets.begin(), sets.end(),
                                          [&](const auto& set) { return set.count(a) && set.count(b); }));
  };
  Coverage::Axis axis{"features", {}};
  for (const std::string& name : names) axis.cells.emplace_back(name, hits(name, name));
  op.axes.push_back(std::move(axis));
  if (!oracle.cannot_meet) return op;
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t j = i + 1; j < names.size(); ++j)
      op.pairs.push_back(
          {names[i], names[j], hits(names[i], names[j]), oracle.cannot_meet(names[i], names[j])});
  return op;
}

}  // namespace

Coverage coverage(const Suite& suite) {
  Coverage result;
  for (const oracle::Oracle& oracle : oracle::oracles()) {
    std::set<std::string> lines;
    for (const Outcome& outcome : suite.outcomes)
      if (outcome.op == oracle.contract->op && outcome.status != Status::refused) lines.insert(outcome.line);
    if (lines.empty()) continue;
    std::vector<oracle::Case> cases;
    for (const std::string& line : lines) cases.push_back(oracle::parse_case(line));
    result.ops.push_back(cover(oracle, cases));
  }
  return result;
}

std::vector<std::string> Coverage::holes() const {
  std::vector<std::string> list;
  for (const Op& op : ops) {
    for (const Axis& axis : op.axes)
      for (const auto& [value, cases] : axis.cells)
        if (cases == 0) list.push_back(core::say(op.op, ": ", axis.name, " ", value));
    for (const Pair& pair : op.pairs)
      if (pair.cases == 0 && pair.cannot_meet.empty())
        list.push_back(core::say(op.op, ": ", pair.a, " with ", pair.b));
  }
  return list;
}

}  // namespace isomer::lab
