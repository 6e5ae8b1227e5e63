#include "lab/names/field_names.hpp"

#include "core/sentence.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace isomer::lab {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

FieldRule::Choice read_choice(std::string_view text) {
  for (const auto& [word, when_set] : {std::pair{" if ", true}, std::pair{" unless ", false}}) {
    const std::size_t at = text.find(word);
    if (at == std::string_view::npos) continue;
    const std::string_view field = text.substr(at + std::string_view(word).size());
    return {std::string(trimmed(text.substr(0, at))), std::string(trimmed(field)), when_set};
  }
  return {std::string(text), "", true};
}

using ByName = std::map<std::string_view, const Field*>;

bool is_set(const ByName& fields, const std::string& name, const ArgumentBytes& argument) {
  const auto found = fields.find(name);
  if (found == fields.end()) return false;
  const Field& field = *found->second;
  if (std::size_t{field.offset} + field.size > argument.bytes.size()) return false;
  const auto begin = argument.bytes.begin() + field.offset;
  return std::any_of(begin, begin + field.size, [](std::uint8_t byte) { return byte != 0; });
}

const std::string* chosen(const FieldRule& rule, const ByName& fields, const ArgumentBytes& argument) {
  for (const FieldRule::Choice& choice : rule.choices)
    if (choice.field.empty() || is_set(fields, choice.field, argument) == choice.when_set)
      return &choice.name;
  return nullptr;
}

}  // namespace

FieldRule read_field_rule(const std::string& field, std::string_view text) {
  FieldRule rule{field, {}};
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find(';');
    FieldRule::Choice choice = read_choice(trimmed(rest.substr(0, end)));
    if (choice.name.empty() || choice.name.find(' ') != std::string::npos ||
        choice.field.find(' ') != std::string::npos)
      break;
    rule.choices.push_back(std::move(choice));
    if (end == std::string_view::npos) return rule;
    rest.remove_prefix(end + 1);
  }
  core::fail(ErrorCode::io, "the name of field ", field,
             " is written 'NAME', 'NAME if FIELD' or 'NAME unless FIELD', several behind ';', got '", text,
             "'");
}

std::vector<NamedField> named_fields(const std::vector<Field>& layout, const FieldRules* rules,
                                     const ArgumentBytes& argument) {
  ByName fields;
  for (const Field& field : layout) fields.emplace(field.name, &field);
  std::vector<NamedField> all;
  std::set<const Field*> taken;
  std::set<std::string> names;
  if (rules != nullptr)
    for (const FieldRule& rule : *rules) {
      const auto found = fields.find(rule.field);
      const std::string* name = found == fields.end() ? nullptr : chosen(rule, fields, argument);
      if (name == nullptr || !names.insert(*name).second) continue;
      taken.insert(found->second);
      all.push_back({*name, found->second, true});
    }
  for (const Field& field : layout) {
    if (taken.contains(&field)) continue;
    // A base and what derives from it may each have a member of one name.
    const bool first = names.insert(field.name).second;
    all.push_back({first ? field.name : core::say(field.name, " at byte ", field.offset), &field, false});
  }
  return all;
}

}  // namespace isomer::lab
