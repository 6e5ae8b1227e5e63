#include "lab/diagnose/call_stage.hpp"
#include "lab/diagnose/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace isomer::lab {
namespace {

constexpr double kSeconds = 3;  ///< of a call that is only tried

/// A port and the original that it refers to, in one.
struct Simpler {
  oracle::Original original;
  Port port;
};

std::shared_ptr<Simpler> copy_of(const Port& port) {
  auto copy = std::make_shared<Simpler>(Simpler{*port.original, port});
  copy->port.original = &copy->original;
  return copy;
}

Pattern field_of(const std::string& name) { return Pattern("(^|\\s)" + name + "=(\\S*)"); }

/// Changes every line that has a value for the field; those that vary it, which end with it, go.
template <class Change>
void change_lines(oracle::Original& original, const std::string& name, const Change& change) {
  const Pattern field = field_of(name);
  for (std::vector<std::string>* lines : {&original.probes, &original.sizes, &original.empties}) {
    std::vector<std::string> kept;
    for (const std::string& line : *lines) {
      const std::optional<Match> match = field.find(line);
      if (match && (*match)[2].empty()) continue;
      std::string changed = match ? change(field, line) : line;
      if (std::find(kept.begin(), kept.end(), changed) == kept.end()) kept.push_back(std::move(changed));
    }
    *lines = std::move(kept);
  }
}

/// Whether a parameter of the entry says it.
bool says(const Entry& entry, const oracle::Original::Sayable& sayable) {
  const Pattern names(sayable.names);
  return std::any_of(entry.parameters.begin(), entry.parameters.end(), [&](const Parameter& p) {
    return p.kind != Parameter::Kind::pointer && names.is(lower_case(p.name));
  });
}

/// Whether its parameters say less than the original's.
bool says_less(const Entry& entry, const oracle::Original& original) {
  return std::any_of(original.sayable.begin(), original.sayable.end(),
                     [&](const oracle::Original::Sayable& each) { return !says(entry, each); });
}

/// Copies of the port without what no parameter says, of the usual sizes first, then of those for which many
/// kernels are written.
std::vector<std::shared_ptr<Simpler>> simpler_ports(const Entry& entry, const Port& port) {
  std::vector<std::shared_ptr<Simpler>> list = {copy_of(port)};
  for (const oracle::Original::Sayable& each : port.original->sayable) {
    if (each.values.empty() && says(entry, each)) continue;
    const std::size_t before = list.size();
    for (std::size_t i = 0; i < before; ++i) {
      if (each.values.empty())
        change_lines(list[i]->original, each.field,
                     [](const Pattern& field, const std::string& line) { return field.replaced(line, ""); });
      for (const std::string& value : each.values) {
        list.push_back(copy_of(list[i]->port));
        change_lines(list.back()->original, each.field, [&](const Pattern& field, const std::string& line) {
          return field.replaced(line, fmt::format("$1{}={}", each.field, value));
        });
      }
    }
  }
  return list;
}

/// The correlation of the answer with the right one: a fault leaves much of it, another order of axes
/// nothing.
double correlation(const Given& given, const Trial& trial) {
  double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (std::size_t t = 0; t < given.plain.tensors.size(); ++t)
    for (std::size_t i = 0; i < given.plain.tensors[t].value.size(); ++i) {
      const double want = given.plain.tensors[t].value[i], got = trial.outputs[t][i];
      if (given.open[t][i] || !std::isfinite(want) || !std::isfinite(got)) continue;
      n += 1, x += want, y += got, xx += want * want, yy += got * got, xy += want * got;
    }
  const double spread = std::sqrt(std::max(0.0, (n * xx - x * x) * (n * yy - y * y)));
  return spread > 0 ? (n * xy - x * y) / spread : 0;
}

/// What speaks for a way of calling, where the answer may be wrong in it too.
double likelihood(const Given& given, const Trial& trial) {
  return trial.ok() ? worth(given, trial) + 0.5 * correlation(given, trial) : -2;
}

struct Way {
  std::shared_ptr<Simpler> simpler;
  Form form;
  std::shared_ptr<const Given> given;
  Trial trial;
  double score = -3;
  std::string limit;  ///< what becomes of the same call of usual sizes; empty where it is one
};

/// The best of the simpler ports of the op's originals.
Way best_way(const Candidate& candidate, const Called& called, const CallSettings& settings) {
  const Entry& entry = *called.form.entry;
  const double least = guess_form(entry, *called.port, true).score - 1;
  Way best;
  for (const Port& port : ports()) {
    if (port.op != called.port->op || port.original == nullptr) continue;
    const Guess guess = guess_form(entry, port, true);
    if (!guess.findings.empty() || !guess.unsure.empty() || guess.score < least) continue;
    std::string usual;
    for (const std::shared_ptr<Simpler>& simpler : simpler_ports(entry, port)) {
      if (simpler->original.probes.empty()) continue;
      try {
        Way way = {simpler, guess.form,
                   given_by_line(without_what_it_lacks(simpler->port, guess.form),
                                 simpler->original.probes.front(), called.dtypes)};
        way.trial = try_call(candidate, way.form, way.simpler->port, *way.given, settings);
        way.score = likelihood(*way.given, way.trial);
        const double share = way.trial.ok() ? share_right(*way.given, way.trial) : 0;
        way.limit = usual;
        if (usual.empty())
          usual = fmt::format("'{}': {:.0f} % of the answer is right", way.given->line, 100 * share);
        if (share > 0.98) return way;
        constexpr double kClearly = 0.2;  // of two as good, the more ordinary
        if (way.score > best.score + kClearly) best = std::move(way);
      } catch (const Error&) {  // the op does not take it
      }
    }
  }
  return best;
}

}  // namespace

void try_simpler(const Candidate& candidate, const CallRequest& request, Called& called) {
  const Entry& entry = *called.form.entry;
  const bool right = called.trial.ok() && share_right(*called.given, called.trial) > 0.9;
  const bool tensors = std::any_of(entry.parameters.begin(), entry.parameters.end(), [](const Parameter& p) {
    return p.kind == Parameter::Kind::tensor || p.kind == Parameter::Kind::optional_tensor;
  });
  if (!request.stranger || right || tensors || entry.form == Entry::Form::extension) return;
  CallSettings settings = request.settings;
  settings.timeout_seconds = std::min(settings.timeout_seconds, kSeconds);
  Way best = best_way(candidate, called, settings);
  // Where its parameters can say all that the original's can, only what is right is believed.
  const bool less = says_less(entry, *called.port->original);
  if (!best.trial.ok() || best.score <= likelihood(*called.given, called.trial) ||
      (!less && share_right(*best.given, best.trial) < 0.98))
    return;
  called.notes.push_back(
      fmt::format("it is asked for no more than its parameters say, as in '{}'", best.given->line));
  if (!best.limit.empty() && share_right(*best.given, best.trial) > 0.98) {
    Finding finding;
    finding.code = "shape-refused";
    finding.evidence = fmt::format("{}; in '{}' it is", best.limit, best.given->line);
    finding.location = entry.place;
    called.findings.push_back(std::move(finding));
  }
  called.simpler = std::shared_ptr<const Port>(best.simpler, &best.simpler->port);
  called.port = called.simpler.get();
  called.form = best.form;
  called.unsure.clear();
  called.given = best.given;
  called.trial = std::move(best.trial);
  called.callable = true;
}

}  // namespace isomer::lab
