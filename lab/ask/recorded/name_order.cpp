#include "lab/ask/recorded/binding.hpp"

#include <fmt/format.h>

namespace isomer::lab {

std::optional<Bound> in_order_of_names(const Form& form, const Replayed& replayed) {
  using What = Passing::What;
  const Entry& entry = *form.entry;
  if (form.passings.size() > entry.parameters.size() || has_held(*replayed.call)) return std::nullopt;
  // What is passed by name finds its parameter wherever that is.
  const auto by_place = [&](int role) {
    const auto at = static_cast<std::size_t>(role);
    const std::vector<bool>& keyword = replayed.call->keyword;
    return role >= 0 && at < replayed.call->before.size() && !(at < keyword.size() && keyword[at]);
  };
  Bound bound{form, {}, {}};
  std::string taken, given;
  bool other = false;
  std::size_t roles = 0;
  for (std::size_t i = 0; i < form.passings.size(); ++i) {
    if (form.passings[i].what != What::role) return std::nullopt;
    if (!by_place(form.passings[i].role)) continue;
    const std::string& name = entry.parameters[i].name;
    std::size_t at = 0;
    while (at < replayed.roles.size() && replayed.roles[at].name != name) ++at;
    if (name.empty() || at == replayed.roles.size() || !by_place(static_cast<int>(at))) return std::nullopt;
    other = other || static_cast<int>(at) != form.passings[i].role;
    bound.form.passings[i] = form.passings[i];
    bound.form.passings[i].role = static_cast<int>(at);
    taken += (roles == 0 ? "" : ", ") + name;
    given += (roles == 0 ? "" : ", ") + replayed.roles[static_cast<std::size_t>(form.passings[i].role)].name;
    ++roles;
  }
  if (!other) return std::nullopt;
  Finding finding;
  finding.code = Code::argument_order;
  finding.evidence =
      fmt::format("'{}': callers pass ({}), {} takes ({})", replayed.line, given, entry.name, taken);
  finding.fix = fmt::format("take ({})", given);
  bound.findings.push_back(std::move(finding));
  return bound;
}

}  // namespace isomer::lab
