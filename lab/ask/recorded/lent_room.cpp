#include "lab/ask/recorded/binding.hpp"
#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <algorithm>
#include <string>

namespace isomer::lab {
void lend_room(Form& form) {
  static const Pattern written(
      "(?:.*_)?(?:d_?)?(?:workspace|work_?space|scratch|scratchpad|te?mp|buffer|buf)(?:_.*|\\d*)"),
      cleared("(?:.*_)?(?:semaphores?|counters?|locks?|tickets?)(?:_.*)?");
  for (std::size_t p = 0; p < std::min(form.passings.size(), form.entry->parameters.size()); ++p) {
    const Parameter& parameter = form.entry->parameters[p];
    Passing& passing = form.passings[p];
    if (passing.what != Passing::What::none || parameter.kind != Parameter::Kind::pointer ||
        parameter.is_const || parameter.has_default)
      continue;
    const std::string name = lower_case(parameter.name);
    passing.zeros = cleared.is(name);
    if (passing.zeros || written.is(name)) passing.what = Passing::What::room;
  }
}

std::string lent_room(const Form& form) {
  std::string names;
  for (std::size_t p = 0; p < std::min(form.passings.size(), form.entry->parameters.size()); ++p)
    if (form.passings[p].what == Passing::What::room && !form.passings[p].zeros)
      names += (names.empty() ? "" : ", ") + form.entry->parameters[p].name;
  return names;
}

void clear_room(Form& form) {
  for (Passing& passing : form.passings) passing.zeros = passing.zeros || passing.what == Passing::What::room;
}

}  // namespace isomer::lab
