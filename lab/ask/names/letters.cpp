#include "lab/ask/names/letters.hpp"

#include <algorithm>

namespace isomer::lab {

void doubt_letters(const Entry& entry, std::vector<Passing>& passings, std::vector<int>& unsure) {
  using What = Passing::What;
  const auto is_letter = [&](std::size_t i) {
    const Parameter& p = entry.parameters[i];
    return p.kind == Parameter::Kind::integer && p.name.size() == 1 && passings[i].what == What::size;
  };
  for (std::size_t i = passings.size(); i-- > 0 && entry.parameters[i].has_default;) {
    if (is_letter(i)) passings[i] = Passing();
    if (passings[i].what != What::none) break;  // nothing in front of what is given is left out
  }
  for (std::size_t i = 0; i < passings.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (is_letter(i) && is_letter(j) && passings[i].role == passings[j].role &&
          passings[i].dim == passings[j].dim && passings[i].with == passings[j].with &&
          std::find(unsure.begin(), unsure.end(), static_cast<int>(i)) == unsure.end())
        unsure.push_back(static_cast<int>(i));
}

}  // namespace isomer::lab
