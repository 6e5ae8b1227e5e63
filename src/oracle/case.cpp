#include "oracle/case.hpp"

#include "core/sentence.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace isomer::oracle {
namespace {

constexpr std::string_view kSeed = "seed";

bool is_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool is_seed(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool is_real(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

bool has(const std::vector<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

/// What is wrong with a value of that field; empty where nothing is.
std::string wrong(const Field& field, std::string_view value) {
  switch (field.kind) {
    case Field::Kind::integer:
      return is_integer(value) ? "" : "an integer";
    case Field::Kind::real:
      return is_real(value) ? "" : "a finite number";
    case Field::Kind::flag:
      return value.empty() || value == "0" || value == "1" ? "" : "0 or 1";
    default:
      return has(field.choices, value) ? "" : core::either(field.choices);
  }
}

std::string known(const CaseSchema& schema) {
  std::string text;
  for (const Field& field : schema.fields) {
    if (!text.empty()) text += ", ";
    if (field.kind == Field::Kind::flag)
      text += field.name;
    else if (field.bare)
      text += core::either(field.choices);
    else
      text += field.name + "=";
  }
  return text;
}

}  // namespace

Field integer(std::string name, std::int64_t fallback, std::string meaning) {
  return {std::move(name), Field::Kind::integer, std::to_string(fallback), {}, std::move(meaning), false};
}

Field real(std::string name, double fallback, std::string meaning) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, fallback).ptr;
  return {std::move(name), Field::Kind::real, std::string(text, end), {}, std::move(meaning), false};
}

Field flag(std::string name, std::string meaning) {
  return {std::move(name), Field::Kind::flag, "", {}, std::move(meaning), false};
}

Field dtype(std::string name, std::vector<DType> allowed, DType fallback, std::string meaning, bool bare) {
  std::vector<std::string> names;
  for (const DType type : allowed) names.emplace_back(name_of(type));
  return {std::move(name),  Field::Kind::dtype, std::string(name_of(fallback)),
          std::move(names), std::move(meaning), bare};
}

Field choice(std::string name, std::vector<std::string> values, std::string meaning, bool bare) {
  std::string first = values.front();
  return {std::move(name),   Field::Kind::choice, std::move(first),
          std::move(values), std::move(meaning),  bare};
}

Field option(const core::Contract& contract, std::string_view option_name, std::string meaning,
             std::string name) {
  const core::Option* option = contract.find_option(option_name);
  if (option == nullptr)
    core::fail(ErrorCode::internal, contract.op, ": a case field sets '", option_name,
               "', which is no option");
  if (name.empty()) name = option->name;
  Field field;
  switch (option->kind) {
    case core::Option::Kind::integer:
      field = integer(std::move(name), static_cast<std::int64_t>(option->value), std::move(meaning));
      break;
    case core::Option::Kind::f32:
      // The shortest number that is this f32: 1e-4, not 9.99999974e-05.
      field =
          real(std::move(name), std::stod(core::say(static_cast<float>(option->value))), std::move(meaning));
      break;
    case core::Option::Kind::boolean:
      field = flag(std::move(name), std::move(meaning));
      break;
    case core::Option::Kind::choice:
      field = choice(std::move(name), option->enumerators, std::move(meaning));
      break;
  }
  field.option = option->name;
  return field;
}

Field flag_of_choice(const core::Contract& contract, std::string_view option_name, std::string meaning,
                     std::string name) {
  Field field = option(contract, option_name, std::move(meaning), std::move(name));
  if (field.choices.size() != 2)
    core::fail(ErrorCode::internal, contract.op, ": ", option_name, " is no choice of two");
  field.kind = Field::Kind::flag;
  field.fallback.clear();
  field.choices.clear();
  return field;
}

CaseSchema::CaseSchema(std::string name, std::vector<Field> list)
    : op(std::move(name)), fields(std::move(list)) {
  fields.push_back(
      {std::string(kSeed), Field::Kind::integer, "0", {}, "of the random inputs; 0: not fixed", false});
}

int CaseSchema::index_of(std::string_view field) const {
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (fields[i].name == field) return static_cast<int>(i);
  return -1;
}

Case::Case(const CaseSchema& schema) : schema_(&schema) {
  for (const Field& field : schema.fields) values_.push_back(field.fallback);
}

Case& Case::set(std::string_view name, std::string_view value) {
  const int at = schema_->index_of(name);
  if (at < 0)
    core::fail(ErrorCode::bad_argument, schema_->op, ": a case has no field '", name,
               "'; known: ", known(*schema_));
  const Field& field = schema_->fields[static_cast<std::size_t>(at)];
  const std::string expected =
      field.name == kSeed ? (is_seed(value) ? "" : "an integer from 0 to 2^64 - 1") : wrong(field, value);
  if (!expected.empty())
    core::fail(ErrorCode::bad_argument, schema_->op, ": ", name, " expects ", expected, ", got '", value,
               "'");
  std::string& slot = values_[static_cast<std::size_t>(at)];
  slot = std::string(value);
  if (field.kind == Field::Kind::flag && value == "0") slot.clear();
  // Numbers keep one spelling, so that equal cases have equal lines.
  if (field.kind == Field::Kind::integer && field.name != kSeed) {
    std::int64_t number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    slot = std::to_string(number);
  }
  if (field.name == kSeed) {
    std::uint64_t number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    slot = std::to_string(number);
  }
  if (field.kind == Field::Kind::real) {
    double number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    slot = oracle::real("", number, "").fallback;
  }
  return *this;
}

Case Case::parse(const CaseSchema& schema, std::string_view line) {
  Case result(schema);
  std::vector<bool> given(schema.fields.size(), false);
  std::size_t at = 0;
  while (at < line.size()) {
    if (std::isspace(static_cast<unsigned char>(line[at]))) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < line.size() && !std::isspace(static_cast<unsigned char>(line[end]))) ++end;
    const std::string_view token = line.substr(at, end - at);
    at = end;
    std::string_view name = token, value;
    const std::size_t equals = token.find('=');
    int field = -1;
    if (equals != std::string_view::npos) {
      name = token.substr(0, equals);
      value = token.substr(equals + 1);
      field = schema.index_of(name);
    } else {
      field = schema.index_of(token);
      if (field >= 0) {
        if (schema.fields[static_cast<std::size_t>(field)].kind != Field::Kind::flag)
          core::fail(ErrorCode::bad_argument, schema.op, ": ", token, " expects a value, as in ", token, "=",
                     schema.fields[static_cast<std::size_t>(field)].fallback);
        value = "1";
      }
      for (std::size_t i = 0; field < 0 && i < schema.fields.size(); ++i)
        if (schema.fields[i].bare && has(schema.fields[i].choices, token)) {
          field = static_cast<int>(i);
          name = schema.fields[i].name;
          value = token;
        }
    }
    if (field < 0)
      core::fail(ErrorCode::bad_argument, schema.op, ": a case has no '", name, "'; known: ", known(schema));
    if (given[static_cast<std::size_t>(field)])
      core::fail(ErrorCode::bad_argument, schema.op, ": ", name, " is given twice");
    given[static_cast<std::size_t>(field)] = true;
    result.set(name, value);
  }
  return result;
}

std::string Case::line() const {
  std::string text = schema_->op;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const Field& field = schema_->fields[i];
    if (values_[i] == field.fallback) continue;
    text += ' ';
    if (field.kind == Field::Kind::flag)
      text += field.name;
    else if (field.bare)
      text += values_[i];
    else
      text += field.name + "=" + values_[i];
  }
  return text;
}

const std::string& Case::value(std::string_view name, Field::Kind kind) const {
  const int at = schema_->index_of(name);
  if (at < 0 || schema_->fields[static_cast<std::size_t>(at)].kind != kind)
    core::fail(ErrorCode::internal, schema_->op, ": a case has no such field '", name, "'");
  return values_[static_cast<std::size_t>(at)];
}

std::int64_t Case::integer(std::string_view field) const {
  return std::stoll(value(field, Field::Kind::integer));
}
double Case::real(std::string_view field) const { return std::stod(value(field, Field::Kind::real)); }
bool Case::flag(std::string_view field) const { return !value(field, Field::Kind::flag).empty(); }
DType Case::dtype(std::string_view field) const { return *dtype_of(value(field, Field::Kind::dtype)); }
const std::string& Case::choice(std::string_view field) const { return value(field, Field::Kind::choice); }
std::uint64_t Case::seed() const { return std::stoull(value(kSeed, Field::Kind::integer)); }

Case Case::with_seed(std::uint64_t seed) const {
  Case copy = *this;
  copy.values_.back() = std::to_string(seed);
  return copy;
}

void set_options(const Case& from, const core::Contract& contract, void* options) {
  for (const Field& field : from.schema().fields) {
    if (field.option.empty()) continue;
    const core::Option& option = *contract.find_option(field.option);
    switch (field.kind) {
      case Field::Kind::integer:
        option.set(options, from.integer(field.name));
        break;
      case Field::Kind::real:
        option.set(options, static_cast<float>(from.real(field.name)));
        break;
      case Field::Kind::flag:
        option.set(options, std::int64_t{from.flag(field.name)});
        break;
      default: {
        const auto at =
            std::find(option.enumerators.begin(), option.enumerators.end(), from.choice(field.name));
        option.set(options, std::int64_t{at - option.enumerators.begin()});
      }
    }
  }
}

std::string_view op_of(std::string_view line) {
  while (!line.empty() && std::isspace(static_cast<unsigned char>(line.front()))) line.remove_prefix(1);
  std::size_t end = 0;
  while (end < line.size() && !std::isspace(static_cast<unsigned char>(line[end]))) ++end;
  return line.substr(0, end);
}

}  // namespace isomer::oracle
