#include "lab/text/read_json.hpp"

#include <nlohmann/json.hpp>

#include <istream>

namespace isomer::lab {

nlohmann::json read_json(std::string_view text) { return nlohmann::json::parse(text, nullptr, false); }
nlohmann::json read_json(std::istream& in) { return nlohmann::json::parse(in, nullptr, false); }
nlohmann::ordered_json read_ordered_json(std::string_view text) {
  return nlohmann::ordered_json::parse(text, nullptr, false);
}

nlohmann::json read_right_json(std::string_view text) { return nlohmann::json::parse(text); }
nlohmann::ordered_json read_right_ordered_json(std::string_view text) {
  return nlohmann::ordered_json::parse(text);
}

}  // namespace isomer::lab
