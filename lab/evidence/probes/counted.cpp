#include "lab/evidence/probes/counted.hpp"

#include "lab/evidence/variations/changed_answers.hpp"
#include "lab/findings/variation_codes.hpp"

#include <algorithm>
#include <cmath>

namespace isomer::lab {

Wrong wrong_elements(const Subjected& s, const Given& given, const Trial& trial,
                     const std::vector<std::string>& set) {
  const oracle::Expected want = varied(given, *s.port.oracle, oracle::Variations(set));
  Wrong wrong;
  for (std::size_t t = 0; t < want.tensors.size(); ++t)
    for (std::size_t i = 0; i < want.tensors[t].value.size(); ++i) {
      const bool unknown = !want.tensors[t].unknown.empty() && want.tensors[t].unknown[i] != 0;
      if (given.open[t][i] || unknown || !want.tensors[t].written[i]) continue;
      ++wrong.all;
      if (holds(want.tensors[t], i, trial.outputs[t][i])) continue;
      wrong.not_finite += !std::isfinite(trial.outputs[t][i]) && std::isfinite(want.tensors[t].value[i]);
      wrong.untouched += trial.untouched[t][i] != 0;
      if (wrong.elements++ == 0) {
        wrong.first = i;
        wrong.output = want.tensors[t].name;
      }
    }
  return wrong;
}

bool rounds_otherwise(const std::vector<std::string>& set) {
  return std::any_of(set.begin(), set.end(), [](const std::string& name) {
    return code_of(name).code == Code::intermediate_precision;
  });
}

bool leaves_sums(const std::vector<std::string>& set) {
  return std::any_of(set.begin(), set.end(),
                     [](const std::string& name) { return code_of(name).code == Code::missing_rescale; });
}

}  // namespace isomer::lab
