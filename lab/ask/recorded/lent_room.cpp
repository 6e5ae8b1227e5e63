#include "lab/ask/names/role_names.hpp"
#include "lab/ask/recorded/binding.hpp"

#include <algorithm>
#include <string>

namespace isomer::lab {

void lend_room(Form& form) {
  for (std::size_t p = 0; p < std::min(form.passings.size(), form.entry->parameters.size()); ++p) {
    const Parameter& parameter = form.entry->parameters[p];
    Passing& passing = form.passings[p];
    if (passing.what != Passing::What::none || parameter.has_default) continue;
    passing.zeros = is_cleared_room(parameter);
    if (passing.zeros || is_lent_room(parameter)) passing.what = Passing::What::room;
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
