#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::lab {

/// The number behind a name of an expression, or behind a member of it ("numel()", "size(0)", "shape[0]").
using Resolve = std::function<std::optional<double>(const std::string& name, const std::string& member)>;

/// The value of an integer expression as it stands in launches: numbers, names, + - * / %, parentheses,
/// casts, ceil, min and max. Divisions round down, under ceil up. Nothing where it is none or a name is
/// unknown.
std::optional<double> evaluate(std::string_view expression, const Resolve& resolve);

/// The parts between the commas that stand in no bracket.
std::vector<std::string> split_at_commas(std::string_view list);

/// What stands between the bracket at `open` and the one that closes it; nothing where none does.
std::optional<std::string> in_brackets(std::string_view text, std::size_t open);

}  // namespace isomer::lab
