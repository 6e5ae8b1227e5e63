// JSON as it is read everywhere in the lab: the parser is compiled once, as it costs a second in each batch
// of files that has one of its own.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <iosfwd>
#include <string_view>

namespace isomer::lab {

/// A value that is_discarded() where the text is no JSON.
nlohmann::json read_json(std::string_view text);
nlohmann::json read_json(std::istream& in);
nlohmann::ordered_json read_ordered_json(std::string_view text);

/// Throws nlohmann::json::parse_error where the text is no JSON.
nlohmann::json read_right_json(std::string_view text);
nlohmann::ordered_json read_right_ordered_json(std::string_view text);

}  // namespace isomer::lab
