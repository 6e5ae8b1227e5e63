#include "core/codec.hpp"
#include "lab/evidence/recorded/experiments/experiments.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

namespace isomer::lab {
namespace {

using What = Passing::What;

bool is_whole(const Value& value) {
  const DType dtype = value.is_tensor() ? value.tensor.dtype : DType::none;
  return !value.boolean && (dtype == DType::i32 || dtype == DType::i64);
}

/// Each of its numbers one more, or one less.
void shift(Value& value, int by) {
  if (!value.is_tensor()) {
    value.integer += by;
    return;
  }
  Value moved = compact_copy(value);
  const std::vector<double> elements = oracle::elements(value.tensor);
  const auto size = static_cast<std::size_t>(size_of(value.tensor.dtype));
  for (std::size_t i = 0; i < elements.size(); ++i)
    core::encode(value.tensor.dtype, elements[i] + by,
                 static_cast<std::byte*>(moved.storage.get()) + i * size);
  value = std::move(moved);
}

Finding off_by_one(const std::string& name, const std::string& evidence) {
  Finding finding;
  finding.code = Code::off_by_one;
  finding.argument = name;
  finding.evidence = evidence;
  finding.fix = fmt::format(
      "check where {} is compared or counted from: < instead of <=, or a count that begins at 1", name);
  return finding;
}

}  // namespace

void add_offset_experiments(const Approach& approach, const Replayed& replayed,
                            std::vector<Experiment>& list) {
  for (const int by : {1, -1}) {
    const char* said = by > 0 ? "one more" : "one less";
    for (const Passing& passing : approach.form.passings) {
      if (passing.what != What::role) continue;
      const auto role = static_cast<std::size_t>(passing.role);
      const Value& value = replayed.values[role];
      if (replayed.roles[role].output || (value.kind != Value::Kind::integer && !is_whole(value))) continue;
      const std::string& name = replayed.roles[role].name;
      Adaptation shifted;
      shifted.before = [role, by](std::vector<Value>& values) { shift(values[role], by); };
      list.push_back(
          {.form = approach.form,
           .adaptations = {shifted},
           .finding = off_by_one(
               name, fmt::format("the answer is right if {} is passed as {}", name,
                                 value.is_tensor() ? fmt::format("{} each", said)
                                                   : fmt::format("{}, {}", said, value.integer + by)))});
    }
    for (const Replayed::Output& output : replayed.outputs) {
      if (!is_whole(replayed.values[static_cast<std::size_t>(output.role)])) continue;
      Adaptation shifted;
      shifted.after = [role = output.role, by](const Replayed::Output& of, std::vector<double> got) {
        if (of.role == role)
          for (double& each : got) each += by;
        return got;
      };
      list.push_back({.form = approach.form,
                      .adaptations = {shifted},
                      .finding = off_by_one(
                          output.name, fmt::format("the answer is right if {} is added to each element of {}",
                                                   by, output.name))});
    }
  }
}

}  // namespace isomer::lab
