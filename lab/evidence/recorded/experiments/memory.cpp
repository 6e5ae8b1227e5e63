#include "lab/evidence/recorded/experiments/experiments.hpp"

#include <fmt/format.h>

#include <set>

namespace isomer::lab {
namespace {

using What = Passing::What;

struct Other {
  DType from, to;
  double rtol;  ///< what the values lose
};

/// What memory is taken for: whole numbers of another width, floats of another.
constexpr Other kOthers[] = {
    {DType::i64, DType::i32, 0},     {DType::i32, DType::i64, 0},       {DType::f64, DType::f32, 1e-5},
    {DType::f32, DType::f64, 0},     {DType::f32, DType::f16, 4e-3},    {DType::f16, DType::f32, 0},
    {DType::bf16, DType::f32, 0},    {DType::bf16, DType::f16, 1.6e-2}, {DType::f16, DType::bf16, 1.6e-2},
    {DType::f32, DType::bf16, 3e-2},
};

/// The same values in another dtype: so the bytes are what they are read as.
void reinterpreted(const Approach& approach, const Replayed& replayed, std::vector<Experiment>& list) {
  for (const Other& other : kOthers) {
    std::vector<std::size_t> at;
    for (std::size_t i = 0; i < approach.form.passings.size(); ++i) {
      const Passing& passing = approach.form.passings[i];
      if (passing.what != What::role || passing.cast != DType::none) continue;
      const Value& value = replayed.values[static_cast<std::size_t>(passing.role)];
      if (value.is_tensor() && value.tensor.dtype == other.from && !value.tensor.empty()) at.push_back(i);
    }
    std::vector<std::vector<std::size_t>> chosen;
    for (const std::size_t i : at) chosen.push_back({i});
    if (at.size() > 1) chosen.push_back(at);
    for (const std::vector<std::size_t>& each : chosen) {
      Experiment experiment{.form = approach.form};
      std::string names;
      for (const std::size_t i : each) {
        experiment.form.passings[i].cast = other.to;
        names += (names.empty() ? "" : ", ") +
                 replayed.roles[static_cast<std::size_t>(approach.form.passings[i].role)].name;
      }
      experiment.finding.code = Code::dtype_reinterpreted;
      experiment.finding.argument = names;
      experiment.finding.evidence = fmt::format(
          "callers pass {} as {}, but the answer is right if it is passed as {}: its bytes are read as {}",
          names, name_of(other.from), name_of(other.to), name_of(other.to));
      experiment.finding.fix = "check the tensor's dtype, and read its memory as that type";
      experiment.reads_wider = size_of(other.to) > size_of(other.from);
      experiment.rtol = other.rtol;
      list.push_back(std::move(experiment));
    }
  }
}

/// The answer comes back where the label writes it into what it is given.
void returned(const Approach& approach, const Replayed& replayed, std::vector<Experiment>& list) {
  if (!approach.form.returned.empty() || !approach.form.entry->returned_tensors) return;
  Experiment experiment{.form = approach.form};
  std::string names;
  for (const Replayed::Output& output : replayed.outputs) {
    if (output.returned >= 0) continue;
    experiment.form.returned.push_back(output.role);
    names += (names.empty() ? "" : ", ") + output.name;
  }
  if (names.empty()) return;
  experiment.finding.code = Code::unwritten_output;
  experiment.finding.argument = names;
  experiment.finding.evidence = fmt::format(
      "the original writes to {}; the candidate does not write to it, but returns the answer as a tensor",
      names);
  experiment.finding.fix = fmt::format("write the answer into {}", names);
  list.push_back(std::move(experiment));
}

}  // namespace

void add_memory_experiments(const Approach& approach, const Replayed& replayed,
                            std::vector<Experiment>& list) {
  returned(approach, replayed, list);
  reinterpreted(approach, replayed, list);
}

}  // namespace isomer::lab
